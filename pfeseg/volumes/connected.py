"""Connected regions of a label volume, none of them too small."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.labels.maps import consecutive
from pfeseg.regions.clean import absorb_small

Labels = NDArray[np.int32]


def connected_regions(labels: Labels, values: NDArray[Any], smallest: float) -> Labels:
    """Split labels into regions of voxels that meet at their faces, and absorb the small ones.

    Parameters
    ----------
    labels : (z, y, x) array
    values : (z, y, x, c) array
        The smallest region joins the touching one that is most like it in these.
    smallest : float
        Voxels of the smallest region that stays.
    """
    from scipy.ndimage import label

    regions, count = np.zeros(labels.shape, dtype=np.int32), 0
    for cluster in range(int(labels.max()) + 1):
        inside = labels == cluster
        parts, found = label(inside)
        regions[inside] = parts[inside] + (count - 1)
        count += found
    flat = regions.ravel()
    sizes = np.bincount(flat, minlength=count)
    channels = values.reshape(flat.size, -1).T
    sums = np.zeros((count, len(channels)))
    for k, channel in enumerate(channels):
        sums[:, k] = np.bincount(flat, channel, count)
    owner = absorb_small(sizes.tolist(), sums, _neighbour_sets(regions, count), smallest)
    return consecutive(owner[regions])


def _neighbour_sets(regions: Labels, count: int) -> list[set[int]]:
    neighbours: list[set[int]] = [set() for _ in range(count)]
    for axis in range(3):
        before = np.take(regions, range(regions.shape[axis] - 1), axis)
        after = np.take(regions, range(1, regions.shape[axis]), axis)
        apart = before != after
        keys = before[apart].astype(np.int64) * count + after[apart]
        for key in np.unique(keys).tolist():
            a, b = divmod(key, count)
            neighbours[a].add(b)
            neighbours[b].add(a)
    return neighbours
