"""What a segmentation gives: labels, and the result of every stage on the way to them."""

from __future__ import annotations

import html
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.arrays import Raster
from pfeseg.labels.maps import split_regions
from pfeseg.pictures.overlay import draw_overlay
from pfeseg.pictures.uri import jpeg_uri
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.segmentation.cuts import Level
from pfeseg.segmentation.settings import USUAL_DIMS, Settings
from pfeseg.solver.embedding import Embedding
from pfeseg.solver.graph import Graph

if TYPE_CHECKING:
    from matplotlib.axes import Axes

NOTEBOOK_SIDE = 480
"""Longer side of the overlay in a notebook, in pixels."""


@dataclass(frozen=True, eq=False, repr=False)
class Segmentation:
    """Result of `segment`, with the result of every stage.

    Attributes
    ----------
    labels : (H, W) int32 array
        At the size of the image; 0, 1, ... none left out. With a mask, regions count from 1, and
        0 is what does not belong to the image.
    small_mask : (h, w) array of bool or None
        Which pixels of the downsampled image belong to it, if not all do.
    small_image : (h, w, c) float array
        The downsampled image, of h w = n pixels, or n of them inside of its mask: RGB in
        [0, 1], or components of its bands.
    graph : Graph or None
        None for the methods that look at colours only.
    coordinates : (n, c) array
        What the method knows of each pixel: the embedding, eigenvectors, colours, or the
        start Y0 itself (method "gmm").
    Y0 : (n, d) array or None
        Initial embedding, of the methods "pfe" and "gmm".
    embedding : Embedding or None
        Of the method "pfe".
    small_labels : (h', w') int32 array
        Before they were brought to full size; of the size of the small image, or
        of the hierarchy, which is finer. Clusters of regions are never of more than full size.
    hierarchy : Hierarchy or None
        At the size of the image, if the labels were cut from it or it was asked for.
    n_dims : int
        d, which may have been chosen automatically.
    n_clusters : int or None
        k, likewise; None where the labels are a level of the hierarchy.
    timings : dict
        Seconds by stage.
    settings : Settings
    image : Raster
        The image that was cut.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 20:40] = (250, 200, 0)
    >>> result = pfeseg.segment(image)
    >>> result.n_regions, result.n_pieces, result.level, result.next_steps
    (3, 3, 0.5, [2])
    >>> result.first_label, result.has_lowered_dims
    (0, False)
    >>> result.black, result.white, result.bands, result.n_bands, result.mask
    (0.0, 255.0, (1, 2, 3), 3, None)
    >>> result.report()["solved_size"]
    [60, 40]
    >>> result.plot().get_title()
    '3 regions'
    """

    labels: NDArray[np.int32]
    small_mask: NDArray[np.bool_] | None
    small_image: NDArray[np.float64]
    graph: Graph | None
    coordinates: NDArray[np.floating[Any]]
    Y0: NDArray[np.float32] | None
    embedding: Embedding | None
    small_labels: NDArray[np.int32]
    hierarchy: Hierarchy | None
    n_dims: int
    n_clusters: int | None
    timings: dict[str, float]
    settings: Settings
    image: Raster

    def __repr__(self) -> str:
        height, width = self.labels.shape
        return f"<Segmentation of {width} x {height} pixels: {', '.join(self._facts())}>"

    def _facts(self) -> list[str]:
        cut = f"k = {self.n_clusters}" if self.level is None else f"level {self.level:g}"
        if self.n_clusters is None and self.level is None:
            cut = "as many as asked for"
        regions = "1 region" if self.n_regions == 1 else f"{self.n_regions} regions"
        return [regions, cut, f"d = {self.n_dims}", f"{sum(self.timings.values()):.2f} s"]

    def _repr_html_(self) -> str:
        """Show the overlay and the numbers in a notebook."""
        picture = jpeg_uri(self._overlay(NOTEBOOK_SIDE))
        return f'<img src="{picture}" alt="overlay"><p>{html.escape(repr(self)[1:-1])}</p>'

    def _overlay(self, longest: int | None = None) -> NDArray[np.uint8]:
        return draw_overlay(self.image, self.labels, longest)

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the overlay with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InvalidInputError
            If `ax` is something else, or matplotlib is not installed.
        """
        from pfeseg.plotting import new_axes

        axes = new_axes(ax)
        axes.imshow(self._overlay())
        axes.set_axis_off()
        axes.set_title(self._facts()[0])
        return axes

    @property
    def black(self) -> float | list[float]:
        """Value of the image that was taken for no brightness; one for each band of no colours."""
        return self.image.ends[0]

    @property
    def white(self) -> float | list[float]:
        """Value of the image that was taken for full brightness, likewise."""
        return self.image.ends[1]

    @property
    def bands(self) -> tuple[int, ...]:
        """The bands of the image that were used, counted from 1."""
        return self.image.bands

    @property
    def n_bands(self) -> int:
        """How many bands the image has."""
        return self.image.n_bands

    @property
    def mask(self) -> NDArray[np.bool_] | None:
        """Which pixels of the image belong to it, (H, W), if not all do."""
        return self.image.mask

    @property
    def level(self) -> float | None:
        """Level of the hierarchy at which the labels were cut, if they were cut at a level."""
        cut = self.settings.resolved_cut
        return cut.level if isinstance(cut, Level) else None

    @property
    def has_lowered_dims(self) -> bool:
        """Whether there are fewer dimensions than usual, as there are no more pixels."""
        return self.settings.n_dims == "usual" and self.n_dims < USUAL_DIMS

    @property
    def first_label(self) -> int:
        """Label of the first region: 1 where 0 is what a mask leaves out."""
        return 0 if self.mask is None else 1

    @property
    def n_regions(self) -> int:
        """Number of different labels, without the 0 of masked pixels."""
        return int(self.labels.max()) + 1 - self.first_label

    @property
    def n_pieces(self) -> int:
        """Number of connected pieces of the labels, without masked pixels."""
        pieces = split_regions(self.labels)
        return int(pieces.max()) + 1 if self.mask is None else len(np.unique(pieces[self.mask]))

    @property
    def next_steps(self) -> list[int]:
        """Other numbers of regions to look at, see `Hierarchy.next_steps`; none for clusters."""
        if self.hierarchy is None or self.n_clusters is not None:
            return []
        return self.hierarchy.next_steps(self.n_regions)

    def report(self) -> dict[str, Any]:
        """Return what a sidecar file holds: settings, timings and how the solver ended.

        Returns
        -------
        dict
            Of what JSON can hold.
        """
        solver: dict[str, Any] = {}
        if self.embedding is not None:
            last = self.embedding.history[-1]
            solver = {
                "stop_reason": self.embedding.stop_reason,
                "preconditioner": self.embedding.preconditioner,
                "objective": last.objective,
                "orthogonality_error": last.orthogonality_error,
                "pcg_iterations": sum(r.pcg_iterations for r in self.embedding.history),
                "pcg_capped": sum(r.pcg_capped for r in self.embedding.history),
            }
        return {
            "settings": self.settings.to_dict(),
            "image_size": [int(side) for side in self.labels.shape[::-1]],
            "black": self.black,
            "white": self.white,
            "bands": list(self.bands),
            "bands_in_image": self.n_bands,
            **({} if self.mask is None else {"masked_pixels": int((~self.mask).sum())}),
            "first_label": self.first_label,
            "solved_size": [int(side) for side in self.small_image.shape[1::-1]],
            "dims": self.n_dims,
            **({"dims_lowered_from": USUAL_DIMS} if self.has_lowered_dims else {}),
            "segments": self.n_clusters,
            "level": self.level,
            "regions": self.n_regions,
            **solver,
            "timings": {stage: round(seconds, 4) for stage, seconds in self.timings.items()},
        }
