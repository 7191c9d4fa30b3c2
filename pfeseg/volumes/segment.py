"""From a volume to its segmentation.

The walk is that of an image, with less on the way: shrink, smooth as the noise demands, join each
voxel to its six neighbours, start from a mixture of the values, solve, cluster the rows of Y by
k-means, and bring the labels to full size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.checks import any_array, check_callback, check_threads, shown
from pfeseg.clustering.embedding import cluster_embedding
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import Raster, pixels_as_raster
from pfeseg.labels.maps import consecutive
from pfeseg.pixels.small import SmallImage
from pfeseg.pixels.start import mixture_start
from pfeseg.regions.clean import min_pixels
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.solver.embed import embed
from pfeseg.solver.embedding import Embedding, OnIteration
from pfeseg.volumes.connected import connected_regions
from pfeseg.volumes.graph import voxel_graph
from pfeseg.volumes.resize import (
    Shape,
    enlarge_volume,
    shrink_volume,
    smooth_volume,
    voxel_sizes,
    working_shape,
)
from pfeseg.volumes.settings import Spacing, VolumeSettings, check_settings, check_spacing


@dataclass(frozen=True, eq=False, repr=False)
class VolumeSegmentation:
    """Result of `segment_volume`.

    Attributes
    ----------
    labels : (Z, Y, X) int32 array
        0, 1, ... none left out, in order of first appearance.
    small_labels : (z, y, x) int32 array
        Clusters at the size of the solve.
    embedding : Embedding
    image : Raster
        The volume as it was read and stretched, its slices below each other: (Z Y, X, c).
    spacing : (dz, dy, dx)
        Distances of neighbouring voxels.
    timings : dict
        Seconds by stage.
    settings : VolumeSettings

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> volume = np.zeros((6, 8, 8), np.uint8)
    >>> volume[2:5, 2:6, 2:6] = 200
    >>> result = pfeseg.segment_volume(volume, pfeseg.VolumeSettings(n_clusters=2))
    >>> result.n_regions, result.report()["volume_size"]
    (2, [8, 8, 6])
    """

    labels: NDArray[np.int32]
    small_labels: NDArray[np.int32]
    embedding: Embedding
    image: Raster
    spacing: Spacing
    timings: dict[str, float]
    settings: VolumeSettings

    def __repr__(self) -> str:
        size = " x ".join(map(str, self.labels.shape[::-1]))
        seconds = sum(self.timings.values())
        return (
            f"<VolumeSegmentation of {size} voxels: {self.n_regions} regions, "
            f"d = {self.embedding.Y.shape[1]}, {seconds:.2f} s>"
        )

    @property
    def n_regions(self) -> int:
        """Number of different labels."""
        return int(self.labels.max()) + 1

    def report(self) -> dict[str, Any]:
        """Return what a sidecar file holds: settings, timings and how the solver ended.

        Returns
        -------
        dict
            Of what JSON can hold.
        """
        black, white = self.image.ends
        return {
            "settings": self.settings.to_dict(),
            "volume_size": list(self.labels.shape[::-1]),
            "solved_size": list(self.small_labels.shape[::-1]),
            "spacing": list(self.spacing),
            "black": black,
            "white": white,
            "bands": list(self.image.bands),
            "bands_in_image": self.image.n_bands,
            "dims": self.embedding.Y.shape[1],
            "segments": self.settings.n_clusters,
            "regions": self.n_regions,
            "stop_reason": self.embedding.stop_reason,
            "preconditioner": self.embedding.preconditioner,
            "objective": self.embedding.history[-1].objective,
            "timings": {stage: round(seconds, 4) for stage, seconds in self.timings.items()},
        }


def segment_volume(
    volume: ArrayLike,
    settings: VolumeSettings | None = None,
    on_iteration: OnIteration | None = None,
    *,
    spacing: Spacing = (1.0, 1.0, 1.0),
    threads: int | None = None,
    on_stage: OnStage | None = None,
) -> VolumeSegmentation:
    """Cut a volume into clusters of voxels, or into connected regions of these.

    Parameters
    ----------
    volume : (Z, Y, X) or (Z, Y, X, c) array
        Integers or floats, stretched as those of images are.
    settings : VolumeSettings, optional
        The defaults unless given.
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    spacing : (dz, dy, dx)
        Distances of neighbouring voxels, in any unit: what is farther apart belongs together less.
    threads : int, optional
        All processors unless given; never changes the result.
    on_stage : callable, optional
        Called with the name of each stage when it begins.

    Returns
    -------
    VolumeSegmentation

    Raises
    ------
    InvalidInputError
        For values, arrays or sizes that cannot be used; the message says what to change.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> volume = np.zeros((6, 8, 8), np.uint8)
    >>> volume[2:5, 2:6, 2:6] = 200
    >>> labels = pfeseg.segment_volume(volume, pfeseg.VolumeSettings(n_clusters=2)).labels
    >>> bool((labels == (volume > 0)).all())
    True
    """
    settings, spacing = check_settings(settings), check_spacing(spacing)
    check_callback("on_iteration", on_iteration)
    check_callback("on_stage", on_stage)
    array = _check_volume(volume)
    shape: Shape = array.shape[:3]
    threads, clock = check_threads(threads), Clock(on_stage)
    with clock("downsample"):
        tall = pixels_as_raster(
            array.reshape(-1, *array.shape[2:]), settings.stretch, settings.bands
        )
        small = working_shape(shape, spacing, settings.max_voxels)
        steps = voxel_sizes(shape, small, spacing)
        features = smooth_volume(_features(tall, shape, small), steps)
    _check_counts(settings, small)
    with clock("graph"):
        graph = voxel_graph(features, steps, settings.sigma)
    with clock("init"):
        layers = features.reshape(-1, *features.shape[2:])
        image = SmallImage(Raster(layers, 0.0, 1.0, "none"))
        Y0 = mixture_start(image, settings.dims, "hard", settings.seed)
    with clock("embed"):
        embedding = embed(graph, Y0, settings.solver, on_iteration, threads=threads)
    with clock("cluster"):
        flat = cluster_embedding(_directions(embedding.Y), settings.n_clusters, settings.seed)
        small_labels = flat.reshape(small)
    with clock("full_size"):
        labels = enlarge_volume(small_labels, shape)
        if settings.min_region:
            least = min_pixels(settings.min_region, labels.size)
            labels = connected_regions(labels, tall.values.reshape(*shape, -1), least)
        else:
            labels = consecutive(labels)
    return VolumeSegmentation(
        labels, small_labels, embedding, tall, spacing, clock.seconds, settings
    )


def _check_volume(volume: ArrayLike) -> NDArray[Any]:
    if isinstance(volume, np.ma.MaskedArray) and np.ma.is_masked(volume):
        raise InvalidInputError("volumes take no masks; fill what is masked first")
    array = any_array(volume, "a volume")
    if array.ndim not in (3, 4) or array.size == 0:
        raise InvalidInputError(
            "a volume must have shape (slices, height, width) or (slices, height, width, bands), "
            f"got {array.shape if array.ndim else shown(volume)}"
        )
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"a volume must hold integers, truth values or floats, got {array.dtype}"
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        z, y, x = np.argwhere(~np.isfinite(array))[0][:3]
        raise InvalidInputError(
            f"the volume holds NaN or an infinite value at slice {z}, row {y}, column {x}, "
            "counted from 0; replace it first"
        )
    return array


def _features(tall: Raster, shape: Shape, small: Shape) -> NDArray[np.float32]:
    """Return what tells the voxels of the small volume apart, in [0, 1] where it is grey or RGB."""
    features = shrink_volume(tall, shape, small)
    if tall.kind == "components":
        return np.divide(features, 100, dtype=np.float32)
    unit = (features - np.float32(tall.black)) / np.float32(tall.white - tall.black)
    return np.asarray(np.clip(unit, 0, 1, out=unit))


def _directions(Y: NDArray[np.floating[Any]]) -> NDArray[np.floating[Any]]:
    """Return the rows of Y as unit vectors: which component they point to tells clusters apart.

    The rows of small components are long, and would outweigh the others in k-means.
    """
    lengths = np.sqrt(np.square(Y).sum(axis=1, keepdims=True))
    return np.asarray(Y / np.maximum(lengths, np.finfo(Y.dtype).tiny))


def _check_counts(settings: VolumeSettings, small: Shape) -> None:
    voxels = int(np.prod(small))
    for name, count in (("n_clusters", settings.n_clusters), ("n_dims", settings.dims)):
        if count > voxels:
            raise InvalidInputError(
                f"{argument(name)} is {count}, more than the {voxels} voxels that are solved for; "
                "lower it"
            )
