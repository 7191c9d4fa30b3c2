"""Label maps: numbering, connected regions, and where regions meet."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import neighbours_at

Labels = NDArray[np.int32]

SIDES = ((0, 1), (1, 0))
"""Steps (dy, dx) from a pixel to those that share a side with it, each pair once."""

CORNERS = ((1, 1), (1, -1))
"""The same for pixels that share a corner only."""


def consecutive(labels: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Renumber labels 0, 1, ... in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse].reshape(labels.shape)


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


def touching(
    labels: NDArray[np.integer[Any]], steps: tuple[tuple[int, int], ...] = SIDES
) -> NDArray[np.int64]:
    """List the pairs of labels that meet, the smaller first, (pairs, 2), in order.

    Labels must not be negative. They meet along `steps`, which are `SIDES` or more.
    """
    n = int(labels.max()) + 1
    keys = [np.unique(_meetings(labels, step, n)[1]) for step in steps]
    return np.stack(np.divmod(np.unique(np.concatenate(keys)), n), axis=1)


def boundary_edges(labels: Labels) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """List the pairs of labels that touch, and of each pixel edge the index of its pair or -1.

    Edges to the right come first, then those downwards, row by row.
    """
    n = int(labels.max()) + 1
    found = [_meetings(labels, step, n) for step in SIDES]
    keys, inverse = np.unique(np.concatenate([keys for _, keys in found]), return_inverse=True)
    crosses = np.concatenate([differ.ravel() for differ, _ in found])
    edge = np.full(len(crosses), -1, dtype=np.intp)
    edge[crosses] = inverse
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32), edge


def find_boundaries(labels: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Mark the pixels whose right or lower neighbour has another label, (h, w)."""
    marks = np.zeros(labels.shape, dtype=bool)
    for step in SIDES:
        here, there = neighbours_at(labels, *step)
        neighbours_at(marks, *step)[0][...] |= here != there
    return marks


def _meetings(
    labels: NDArray[np.integer[Any]], step: tuple[int, int], n: int
) -> tuple[NDArray[np.bool_], NDArray[np.int64]]:
    """Mark where labels differ along a step, and name the two as smaller * n + larger."""
    here, there = neighbours_at(labels, *step)
    differ = here != there
    a, b = here[differ].astype(np.int64), there[differ].astype(np.int64)
    return differ, np.minimum(a, b) * n + np.maximum(a, b)
