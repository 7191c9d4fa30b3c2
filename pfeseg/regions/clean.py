"""Clean-up of a label map: connected regions, none of them too small."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.checks import positive_number
from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.colour import Lab
from pfeseg.labels.maps import consecutive, count_pixels, labels_of, split_regions, touching

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]

SPLINTER_SHARE = 5e-5
"""A region of less than this share of an image is a splinter."""

SPLINTER_PIXELS = 7
"""A region of fewer pixels than this is a splinter too, even in a small image."""

SPLINTER_SHARE_OF_ICONS = 0.01
"""A region of this share of an image is none: in an icon, a few pixels are an eye."""


def clean_regions(labels: ArrayLike, image: ImageLike, smallest: float) -> Labels:
    """Split labels into connected regions, and absorb the small ones.

    While there are regions of fewer than `smallest` pixels, the smallest joins
    the touching region that is most like it in mean colour (CIELAB).

    Parameters
    ----------
    labels : (h, w) integer array
    image : (h, w) or (h, w, c) array
        As for `as_raster`.
    smallest : float
        Pixels of the smallest region that stays. With 1 or less, nothing is absorbed.

    Returns
    -------
    (h, w) int32 array
        Labels 0, 1, ... in order of first appearance. Where the image has a mask, label 0 is
        outside, and the regions count from 1.

    Raises
    ------
    InvalidInputError
        For what is no label map or no image, and where their sizes differ.

    Examples
    --------
    >>> import pfeseg
    >>> labels = [[0, 0, 1, 2, 2], [0, 0, 2, 2, 2]]
    >>> image = [[0.0, 0.0, 0.1, 0.9, 0.9], [0.0, 0.0, 0.9, 0.9, 0.9]]
    >>> pfeseg.clean_regions(labels, image, 2)
    array([[0, 0, 0, 1, 1],
           [0, 0, 1, 1, 1]], dtype=int32)
    """
    smallest = positive_number("smallest", smallest, or_zero=True)
    raster = as_raster(image)
    return clean_by_colours(labels, raster, smallest, raster.mask is not None)


def clean_by_colours(
    labels: ArrayLike, colours: Raster | Lab, smallest: float, masked: bool = False
) -> Labels:
    """Do as `clean_regions`, with an image that was checked or its CIELAB, (h, w, 3).

    Where the image is masked, label 0 is no region and stays; the others count from 1.
    """
    regions = split_regions(labels)
    if colours.shape[:2] != regions.shape:
        raise InvalidInputError(
            f"labels of shape {regions.shape} do not fit an image of shape {colours.shape[:2]}"
        )
    sizes = count_pixels(regions)
    outside = np.zeros(len(sizes), dtype=bool)
    if masked:
        outside = labels_of(regions, np.asarray(labels)) == 0

    def numbered(owner: Labels) -> Labels:
        numbers = consecutive(owner)
        if masked:
            numbers[outside] = 0
            numbers[~outside] = consecutive(owner[~outside]) + 1
        return numbers[regions]  # in order, as the regions are

    if sizes[~outside].min() >= smallest:
        return numbered(np.arange(len(sizes), dtype=np.int32)) if masked else regions
    if isinstance(colours, Raster) and colours.kind == "components":
        colours = colours.lab()
    if isinstance(colours, Raster):
        sums = kernels.lab_sums(regions, len(sizes), colours.values, colours.black, colours.white)
    else:
        sums = kernels.region_sums(regions, len(sizes), colours)
    neighbours = neighbour_sets(touching(regions), len(sizes))
    for region in np.flatnonzero(outside).tolist():
        for other in neighbours[region]:
            neighbours[other].discard(region)
        neighbours[region].clear()
    return numbered(absorb_small(sizes.tolist(), sums, neighbours, smallest))


def min_pixels(min_region: float, n_pixels: int) -> float:
    """Turn the setting `min_region` into pixels: below 1 it is a share of the image."""
    return min_region if min_region >= 1 else min_region * n_pixels


def splinter_pixels(n_pixels: int) -> float:
    """Return the size from which on a region of an image of so many pixels is no splinter.

    Splinters are left where boundaries are drawn anew at another size.
    """
    return max(SPLINTER_SHARE * n_pixels, min(SPLINTER_PIXELS, SPLINTER_SHARE_OF_ICONS * n_pixels))


def neighbour_sets(pairs: NDArray[np.integer[Any]], n: int) -> list[set[int]]:
    """List the regions that meet each of n regions, of the pairs that meet."""
    neighbours: list[set[int]] = [set() for _ in range(n)]
    for a, b in pairs.tolist():
        neighbours[a].add(b)
        neighbours[b].add(a)
    return neighbours


def absorb_small(
    sizes: list[int], sums: FloatArray, neighbours: list[set[int]], smallest: float
) -> Labels:
    """Merge small regions, smallest first; returns the region that each belongs to in the end.

    Parameters
    ----------
    sizes : list of int
        Pixels of each region.
    sums : (regions, c) array
        The sum of their colours.
    neighbours : list of sets
        The regions that each region touches.
    smallest : float
        Pixels of the smallest region that stays.
    """
    owner = np.arange(len(sizes), dtype=np.int32)
    waiting = [(size, region) for region, size in enumerate(sizes) if size < smallest]
    heapq.heapify(waiting)
    while waiting:
        size, region = heapq.heappop(waiting)
        if owner[region] != region or sizes[region] != size or not neighbours[region]:
            continue  # absorbed; or grown, and waiting with its new size; or all of the image
        near = np.array(sorted(neighbours[region]))
        means = sums[near] / np.array([sizes[n] for n in near])[:, None]
        distances = ((means - sums[region] / size) ** 2).sum(axis=1)
        target = int(near[distances.argmin()])
        owner[region] = target
        sizes[target] += size
        sums[target] += sums[region]
        for other in neighbours[region]:
            neighbours[other].discard(region)
            if other != target:
                neighbours[other].add(target)
                neighbours[target].add(other)
        if sizes[target] < smallest:
            heapq.heappush(waiting, (sizes[target], target))
    while (owner != owner[owner]).any():
        owner = owner[owner]
    return owner
