"""Connected regions of a label volume, none of them too small."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.labels.maps import consecutive
from pfeseg.regions.clean import absorb_small, neighbour_sets

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
    neighbours = neighbour_sets(_touching(regions, count), count)
    return consecutive(absorb_small(sizes.tolist(), sums, neighbours, smallest)[regions])


def _touching(regions: Labels, count: int) -> NDArray[np.int64]:
    """List the pairs of regions that meet at the faces of voxels, (pairs, 2)."""
    found = []
    for axis in range(3):
        before = np.take(regions, range(regions.shape[axis] - 1), axis)
        after = np.take(regions, range(1, regions.shape[axis]), axis)
        apart = before != after
        found.append(np.unique(before[apart].astype(np.int64) * count + after[apart]))
    return np.stack(np.divmod(np.unique(np.concatenate(found)), count), axis=1)
