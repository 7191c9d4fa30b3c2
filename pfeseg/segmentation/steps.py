"""The method, step by step.

Each step is a pure function of what came before and of the settings:

    1  shrink_image     image                       ->  small image
    2  build_graph      small image                 ->  graph
    3  make_start       small image                 ->  Y0
    4  embed            graph, Y0                   ->  Y        (`pfeseg.solver.embed`)
    5  outline          detail of the image         ->  outlines
       merge_regions    outlines, Y                 ->  hierarchy, which `cut_hierarchy` cuts, or
                                                        whose regions `cluster_merged` clusters
       or the labels of a method, such as k-means on the rows of Y (`pfeseg.segmentation.methods`)
    6  to_full_size     labels, image               ->  labels   (`pfeseg.regions.refine`)
    7  clean_labels     labels, image               ->  labels, connected and not too small

`PreparedImage` keeps their results, and the stage commands put files between them.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.checks import (
    MAX_REGIONS,
    check_seed,
    check_threads,
    check_truth,
    number_array,
    two_sides,
    whole_number,
)
from pfeseg.errors import CutWarning, InvalidInputError, argument
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.colour import Lab
from pfeseg.image.detail import Detail, look_closely
from pfeseg.image.masks import Mask, fill_outside, shrink_mask, spread
from pfeseg.image.resize import shrink
from pfeseg.machine import available_threads
from pfeseg.pixels.graph import pixel_graph
from pfeseg.pixels.small import SmallImage
from pfeseg.pixels.start import mixture_start
from pfeseg.regions.appearance import describe
from pfeseg.regions.clean import clean_by_colours, min_pixels, splinter_pixels
from pfeseg.regions.clusters import group_regions
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.merging import MergedImage, Outlines, find_outlines, merge_image, unit_rows
from pfeseg.regions.refine import keep_mask, to_full_size
from pfeseg.segmentation.cuts import Level, Regions
from pfeseg.segmentation.settings import Settings
from pfeseg.solver.graph import Graph

FloatArray = NDArray[np.float64]
Texture = NDArray[np.floating[Any]]
Labels = NDArray[np.int32]


def shrink_image(image: Raster, settings: Settings) -> Raster:
    """Step 1: shrink an image to the size at which it is embedded."""
    return shrink(image, settings.shrinking(image.shape))


def weighted_texture(contrast: Callable[[], Texture], settings: Settings) -> Texture | None:
    """Return what steps 2 and 3 see beside colours, (h, w, 2), if the settings give it weight."""
    return settings.texture * contrast() if settings.texture else None


def build_graph(small: SmallImage, settings: Settings) -> Graph:
    """Step 2: join the pixels of the small image."""
    return pixel_graph(small, settings.neighbours, settings.features, settings.sigma, settings.seed)


def make_start(small: SmallImage, n_dims: int, settings: Settings) -> NDArray[np.float32]:
    """Step 3: assign the pixels to the d components of a mixture, Y0 of shape (n, d)."""
    return mixture_start(small, n_dims, settings.assignment, settings.seed)


def outline(
    detail: Detail,
    small_shape: tuple[int, int],
    full_shape: tuple[int, ...],
    seed: int,
    threads: int | None = None,
) -> Outlines:
    """Step 5, what does not depend on the embedding: appearance, contours and finest regions."""
    appearance = describe(detail, small_shape, full_shape, seed)
    return find_outlines(appearance, threads or available_threads())


def merge_regions(
    outlines: Outlines,
    Y: NDArray[np.floating[Any]],
    degrees: FloatArray,
    small_shape: tuple[int, int],
    mask: Mask | None = None,
) -> MergedImage:
    """Step 5: merge regions by appearance and embedding, at the size of the outlines.

    Y has rows for the pixels inside of the mask of the small image, (h, w), if it has one.
    """
    rows = unit_rows(Y, degrees)
    if mask is None:
        return merge_image(outlines, rows.reshape(*small_shape, -1))
    return merge_image(outlines, fill_outside(spread(rows, mask), mask))


def cluster_merged(merged: MergedImage, n_clusters: int, image: Raster, seed: int) -> Labels:
    """Step 5 for clusters: group the regions of an image by how they look.

    Labels come at the size of the hierarchy, or of the image if that is smaller: clusters that
    were lost by shrinking them afterwards would be missing.
    """
    base = merged.hierarchy.base
    if base.shape[0] > image.shape[0] or base.shape[1] > image.shape[1]:
        smaller = to_full_size(base, image, refine=False)
        if image.mask is not None and merged.hierarchy.outside is not None:
            smaller = keep_mask(smaller, base, merged.hierarchy.outside, image.mask)
        merged = merged.resized(smaller)
    return group_regions(merged, n_clusters, seed)


def cut_hierarchy(tree: Hierarchy, cut: Regions | Level) -> Labels:
    """Take the segmentation that a cut asks for."""
    return tree.with_regions(cut.n_regions) if isinstance(cut, Regions) else tree.cut(cut.level)


def cut_finally(tree: Hierarchy, cut: Regions | Level) -> Labels:
    """Do as `cut_hierarchy`, and warn if there are fewer regions than were asked for."""
    if isinstance(cut, Regions) and cut.n_regions > tree.n_regions:
        warnings.warn(
            f"{argument('n_regions', cut.n_regions)} is more than the {tree.n_regions} finest "
            "regions of the hierarchy; all of these are kept",
            CutWarning,
            stacklevel=2,
        )
    return cut_hierarchy(tree, cut)


def enlarge_hierarchy(
    tree: Hierarchy, image: Raster, refine: bool, threads: int | None = None
) -> Hierarchy:
    """Step 6 for all levels at once: bring a hierarchy to full size, without splinters."""
    base = to_full_size(tree.base, image, refine, threads)
    if image.mask is not None and tree.outside is not None:
        base = keep_mask(base, tree.base, tree.outside, image.mask)
    return tree.resized(tree.absorb_splinters(base, splinter_pixels(base.size)))


def enlarge_clusters(
    labels: Labels, image: Raster, refine: bool, threads: int | None = None
) -> Labels:
    """Step 6 for clusters; where the image has a mask, they have 0 outside."""
    full = to_full_size(labels, image, refine, threads)
    return full if image.mask is None else keep_mask(full, labels, 0, image.mask)


def clean_labels(
    labels: Labels, colours: Raster | Lab, min_region: float, masked: bool = False
) -> Labels:
    """Step 7: split labels into connected regions, and absorb those below `min_region`.

    Where the image is masked, 0 is no label and stays.
    """
    return clean_by_colours(labels, colours, min_pixels(min_region, labels.size), masked)


def build_hierarchy(
    image: ImageLike,
    Y: ArrayLike,
    degrees: ArrayLike,
    shape: tuple[int, int],
    *,
    seed: int = 0,
    refine: bool = True,
    threads: int | None = None,
) -> Hierarchy:
    """Merge the regions of an image into a hierarchy at its full size.

    Parameters
    ----------
    image : (H, W) or (H, W, c) array
        As for `as_raster`.
    Y : (n, d) array
        Embedding of the small image, of n = h * w pixels, or as many as its mask leaves.
    degrees : (n,) array
        Of the graph on which Y was solved, `Graph.degrees`.
    shape : (h, w)
        Size of the small image.
    seed : int
        For the classes of colour and texture.
    refine : bool
        Draw the boundaries along the edges of the image at full size.
    threads : int, optional
        All processors unless given; never changes the result.

    Returns
    -------
    Hierarchy

    Raises
    ------
    InvalidInputError
        For what is no image, and for arrays that do not fit it or each other.

    Examples
    --------
    Stage by stage, what `segment` does at once:

    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> graph = pfeseg.build_pixel_graph(image)
    >>> embedding = pfeseg.embed(graph, pfeseg.gmm_initial_embedding(image, 2))
    >>> tree = pfeseg.build_hierarchy(image, embedding.Y, graph.degrees, (40, 60))
    >>> int(tree.cut(0.5).max()) + 1
    2
    """
    refine, threads = check_truth("refine", refine), check_threads(threads)
    raster = as_raster(image)
    merged = _merge_checked(raster, Y, degrees, shape, seed, threads)
    return enlarge_hierarchy(merged.hierarchy, raster, refine, threads)


def cluster_regions(
    image: ImageLike,
    Y: ArrayLike,
    degrees: ArrayLike,
    shape: tuple[int, int],
    n_clusters: int,
    *,
    seed: int = 0,
    refine: bool = True,
    threads: int | None = None,
) -> Labels:
    """Cluster the regions of an image by how they look, each cluster in one place or in several.

    Parameters
    ----------
    image, Y, degrees, shape
        As for `build_hierarchy`.
    n_clusters : int
        Number k of clusters; fewer come out only where the hierarchy has fewer regions.
    seed : int
        For the classes of colour and texture, and for k-means.
    refine, threads
        As for `build_hierarchy`.

    Returns
    -------
    (H, W) int32 array
        Labels 0, 1, ..., none left out. With a mask they count from 1, and 0 is outside.

    Raises
    ------
    InvalidInputError
        For what is no image, and for arrays that do not fit it or each other.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 20:40] = (250, 200, 0)
    >>> graph = pfeseg.build_pixel_graph(image)
    >>> embedding = pfeseg.embed(graph, pfeseg.gmm_initial_embedding(image, 2))
    >>> labels = pfeseg.cluster_regions(image, embedding.Y, graph.degrees, (40, 60), 2)
    >>> labels[0, [0, 30, 59]].tolist()  # left and right look alike
    [0, 1, 0]
    """
    n_clusters, seed = whole_number("n_clusters", n_clusters, 1, MAX_REGIONS), check_seed(seed)
    refine, threads = check_truth("refine", refine), check_threads(threads)
    raster = as_raster(image)
    merged = _merge_checked(raster, Y, degrees, shape, seed, threads)
    labels = cluster_merged(merged, n_clusters, raster, seed)
    return enlarge_clusters(labels, raster, refine, threads)


def _merge_checked(
    image: Raster,
    Y: ArrayLike,
    degrees: ArrayLike,
    shape: tuple[int, int],
    seed: int,
    threads: int | None,
) -> MergedImage:
    """Make step 5 of what comes from outside."""
    seed, shape = check_seed(seed), two_sides("shape", shape)
    rows, degrees = number_array(Y, "Y"), number_array(degrees, "degrees")
    mask = None if image.mask is None else shrink_mask(image.mask, shape)
    n = shape[0] * shape[1] if mask is None else int(mask.sum())
    if rows.ndim != 2 or not rows.shape[1] or not (len(rows),) == degrees.shape == (n,):
        raise InvalidInputError(
            f"Y and the degrees must have {n} rows, one for each pixel of the small image of "
            f"{shape[1]} x {shape[0]}, got arrays of shape {rows.shape} and {degrees.shape}"
        )
    if not (np.isfinite(rows).all() and np.isfinite(degrees).all() and (degrees > 0).all()):
        raise InvalidInputError(
            "Y must hold finite numbers, and the degrees finite and positive ones"
        )
    rows = rows if rows.dtype.kind == "f" else rows.astype(np.float64)
    outlines = outline(look_closely(image, shape), shape, image.shape, seed, threads)
    return merge_regions(outlines, rows, degrees.astype(np.float64, copy=False), shape, mask)
