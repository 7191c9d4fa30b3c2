"""The graph of a volume: each voxel is joined to its six neighbours."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.pixels.graph import heat_kernel
from pfeseg.solver.graph import Graph
from pfeseg.volumes.settings import Spacing


def voxel_graph(features: NDArray[np.floating[Any]], spacing: Spacing, sigma: str | float) -> Graph:
    """Join neighbouring voxels by how alike they are, the less the farther they are apart.

    ``w_ij = exp(-||x_i - x_j||^2 / (2 sigma^2)) min(spacing) / |p_i - p_j|``, so that
    ``||M Y||_1`` is a total variation per unit of length, whatever the shape of the voxels.

    Parameters
    ----------
    features : (z, y, x, c) array
        Voxels are numbered slice by slice and row by row.
    spacing : (dz, dy, dx)
    sigma : str or float
        As in `build_pixel_graph`.
    """
    shape = features.shape[:3]
    number = np.arange(np.prod(shape), dtype=np.int32).reshape(shape)
    rows = features.reshape(number.size, -1)
    edges, nearness = [], []
    for axis, step in enumerate(spacing):
        before, after = (
            np.take(number, range(first, shape[axis] - 1 + first), axis) for first in (0, 1)
        )
        edges.append(np.stack([before.ravel(), after.ravel()], axis=1))
        nearness.append(np.full(before.size, min(spacing) / step))
    pairs, near = np.concatenate(edges), np.concatenate(nearness)
    order = np.lexsort((pairs[:, 1], pairs[:, 0]))
    pairs, near = np.ascontiguousarray(pairs[order]), near[order]
    distance2 = np.zeros(len(pairs))
    for channel in rows.T:
        values = channel.astype(np.float64)
        distance2 += (values[pairs[:, 0]] - values[pairs[:, 1]]) ** 2
    positions = np.indices(shape, dtype=np.int32).reshape(3, -1).T.copy()
    return Graph.unchecked(number.size, pairs, near * heat_kernel(distance2, sigma), positions)
