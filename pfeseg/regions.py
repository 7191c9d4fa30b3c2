"""Clean-up of a label map: connected regions, none of them too small."""

from __future__ import annotations

import heapq
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image import as_lab
from pfeseg.labels import consecutive

Labels = NDArray[np.int32]
FloatArray = NDArray[Any]


def clean_regions(labels: ArrayLike, image: ArrayLike, smallest: float) -> Labels:
    """Split labels into connected regions, and absorb the small ones.

    While there are regions of fewer than `smallest` pixels, the smallest joins
    the touching region that is most like it in mean colour (CIELAB).

    Parameters
    ----------
    labels : (h, w) integer array
    image : (h, w) or (h, w, 3) array
    smallest : float
        With 1 or less, nothing is absorbed.

    Returns
    -------
    (h, w) int32 array
        Labels 0, 1, ... in order of first appearance.
    """
    return clean_by_colours(labels, as_lab(image), smallest)


def clean_by_colours(labels: ArrayLike, colours: FloatArray, smallest: float) -> Labels:
    """Do as `clean_regions`, with the colours (h, w, c) in any space."""
    regions = split_regions(labels)
    if colours.shape[:2] != regions.shape:
        raise InvalidInputError(
            f"labels of shape {regions.shape} do not fit an image of shape {colours.shape[:2]}"
        )
    sizes = np.bincount(regions.ravel())
    if sizes.min() >= smallest:
        return regions
    channels = colours.reshape(-1, colours.shape[2]).T
    sums: FloatArray = np.stack([np.bincount(regions.ravel(), c) for c in channels], axis=1)
    owner = _absorb(sizes.tolist(), sums, _touching(regions), smallest)
    return consecutive(owner[regions])


def min_pixels(min_region: float, n_pixels: int) -> float:
    """Turn the setting `min_region` into pixels: below 1 it is a share of the image."""
    return min_region if min_region >= 1 else min_region * n_pixels


def split_regions(labels: ArrayLike) -> Labels:
    """Find the connected regions of equal labels, pixels being joined at their sides.

    They are numbered 0, 1, ... in order of first appearance.
    """
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    array = np.asarray(labels)
    if array.ndim != 2 or array.size == 0 or not np.issubdtype(array.dtype, np.integer):
        raise InvalidInputError(
            f"labels must be an (h, w) integer array, got shape {array.shape} of {array.dtype}"
        )
    # Runs of equal labels along the rows are the nodes: far fewer than pixels.
    starts = np.ones(array.shape, dtype=bool)
    starts[:, 1:] = array[:, 1:] != array[:, :-1]
    run = np.cumsum(starts.ravel(), dtype=np.int32).reshape(array.shape) - 1
    n_runs = int(run[-1, -1]) + 1
    same = array[1:] == array[:-1]
    above, below = run[:-1][same], run[1:][same]
    joined = coo_array((np.ones(len(above), dtype=bool), (above, below)), shape=(n_runs, n_runs))
    number = connected_components(joined, directed=False)[1]
    return consecutive(number)[run]


def _touching(regions: Labels) -> list[set[int]]:
    """List the regions that meet each region at a side."""
    n = int(regions.max()) + 1
    keys: list[NDArray[Any]] = []
    for a, b in ((regions[:, :-1], regions[:, 1:]), (regions[:-1], regions[1:])):
        differ = a != b
        keys.append(np.unique(a[differ].astype(np.int64) * n + b[differ]))
    touching: list[set[int]] = [set() for _ in range(n)]
    for key in np.concatenate(keys).tolist():
        a, b = divmod(key, n)
        touching[a].add(b)
        touching[b].add(a)
    return touching


def _absorb(
    sizes: list[int], sums: FloatArray, touching: list[set[int]], smallest: float
) -> NDArray[np.intp]:
    """Merge small regions, smallest first; returns the region that each belongs to in the end."""
    owner = np.arange(len(sizes))
    waiting = [(size, region) for region, size in enumerate(sizes) if size < smallest]
    heapq.heapify(waiting)
    while waiting:
        size, region = heapq.heappop(waiting)
        if owner[region] != region or sizes[region] != size or not touching[region]:
            continue  # absorbed, or grown and waiting under its new size, or all of the image
        near = np.array(sorted(touching[region]))
        means = sums[near] / np.array([sizes[n] for n in near])[:, None]
        distances = ((means - sums[region] / size) ** 2).sum(axis=1)
        target = int(near[distances.argmin()])
        owner[region] = target
        sizes[target] += size
        sums[target] += sums[region]
        for other in touching[region]:
            touching[other].discard(region)
            if other != target:
                touching[other].add(target)
                touching[target].add(other)
        if sizes[target] < smallest:
            heapq.heappush(waiting, (sizes[target], target))
    while (owner != owner[owner]).any():
        owner = owner[owner]
    return owner
