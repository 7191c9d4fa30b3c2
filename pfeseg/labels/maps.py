"""Label maps: numbering, connected regions, and where regions meet."""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.checks import label_map
from pfeseg.image.neighbours import neighbours_at

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]

_Name = TypeVar("_Name", bound=np.generic)

AT_A_TIME = 1 << 20
"""Pixels that are counted together, as NumPy makes indices of 64 bits of them first."""

SIDES = ((0, 1), (1, 0))
"""Steps (dy, dx) from a pixel to those that share a side with it, each pair once."""

CORNERS = ((1, 1), (1, -1))
"""The same for pixels that share a corner only."""


def consecutive(labels: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Renumber labels 0, 1, ... in order of first appearance."""
    return kernels.number_by_appearance(_known(labels).ravel()).reshape(labels.shape)


def labels_of(pieces: Labels, labels: NDArray[_Name]) -> NDArray[_Name]:
    """Return the label in which each piece lies, (pieces,), and 0 for numbers that are left out."""
    result = np.zeros(int(pieces.max()) + 1, dtype=labels.dtype)
    result[pieces.ravel()] = labels.ravel()
    return result


def count_pixels(regions: Labels) -> NDArray[np.intp]:
    """Return the number of pixels of each region 0, 1, ..., (regions,)."""
    flat, n = regions.ravel(), int(regions.max()) + 1
    counts = np.zeros(n, dtype=np.intp)
    for first in range(0, flat.size, AT_A_TIME):
        counts += np.bincount(flat[first : first + AT_A_TIME], minlength=n)
    return counts


def find_boxes(labels: NDArray[np.integer[Any]]) -> list[tuple[slice, slice] | None]:
    """Return the rows and columns of the box round each label 0, 1, ..., or None if it is absent.

    Labels must not be negative.
    """
    from scipy.ndimage import find_objects

    return list(find_objects(labels.astype(np.int32) + 1))


def split_regions(labels: ArrayLike) -> Labels:
    """Find the connected regions of equal labels, pixels being joined at their sides.

    They are numbered 0, 1, ... in order of first appearance.
    """
    return kernels.split_regions(_known(label_map(labels)))


def split_inside(
    base: Labels, inside: NDArray[np.bool_], outside: int
) -> tuple[Labels, NDArray[np.int32]]:
    """Split regions into connected pieces inside of a mask.

    Returns
    -------
    (h, w) int32 array
        Pieces 0, 1, ... and, as the last number of all, what lies outside.
    (pieces,) int32 array
        Region that each piece is of; `outside` is that of the last.
    """
    pieces = split_regions(np.where(inside, base, -1))
    within = np.unique(pieces[inside])
    number = np.full(int(pieces.max()) + 1, len(within), dtype=np.int32)
    number[within] = np.arange(len(within))
    pieces = np.where(inside, number[pieces], np.int32(len(within)))
    owners = np.full(len(within) + 1, outside, dtype=np.int32)
    owners[pieces[inside]] = base[inside]
    return pieces, owners


def touching(
    labels: NDArray[np.integer[Any]], steps: tuple[tuple[int, int], ...] = SIDES
) -> NDArray[np.int32]:
    """List the pairs of labels that meet, the smaller first, (pairs, 2), in order.

    Labels must not be negative. They meet along `steps`, which are `SIDES` or more.
    """
    return _meetings(labels, steps)[0]


def boundary_edges(labels: Labels) -> tuple[NDArray[np.int32], NDArray[np.int32], FloatArray]:
    """List the pairs of labels that touch, and where.

    Returns
    -------
    (pairs, 2) int32 array
        The smaller label first, in order.
    (edges, 2) int32 array
        Number of each pixel edge where labels differ, and the index of its pair.
    (pairs,) array
        Number of edges of each pair.

    Notes
    -----
    All pixel edges are numbered from 0: those to the right come first, then those downwards, row
    by row.
    """
    return _meetings(labels, SIDES)


def find_boundaries(labels: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Mark the pixels whose right or lower neighbour has another label, (h, w)."""
    marks = np.zeros(labels.shape, dtype=bool)
    for step in SIDES:
        here, there = neighbours_at(labels, *step)
        neighbours_at(marks, *step)[0][...] |= here != there
    return marks


def _meetings(
    labels: NDArray[np.integer[Any]], steps: tuple[tuple[int, int], ...]
) -> tuple[NDArray[np.int32], NDArray[np.int32], FloatArray]:
    array = np.ascontiguousarray(labels, dtype=np.int32)
    return kernels.meetings(array, np.array(steps, dtype=np.int32))


def _known(labels: NDArray[np.integer[Any]]) -> NDArray[np.int32] | NDArray[np.int64]:
    """Return labels in a type that the kernels take."""
    if labels.dtype == np.int32:
        return np.ascontiguousarray(labels, dtype=np.int32)
    return np.ascontiguousarray(labels, dtype=np.int64)
