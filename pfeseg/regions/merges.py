"""Merges: which of two regions absorbs the other, in the order in which it happens.

They are rows (kept, absorbed), each with a level, as a `Hierarchy` has them; here without the
picture of the regions.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

FloatArray = NDArray[np.float64]
Merges = NDArray[np.int32]

APART = float(np.nextafter(np.float32(1), np.float32(0)))
"""Level at which what a mask keeps apart would merge: above all others, and below 1."""


def merge_levels(
    merges: Merges,
    levels: FloatArray,
    first: NDArray[np.integer[Any]],
    second: NDArray[np.integer[Any]],
) -> FloatArray:
    """Return the level at which two regions come together by some merges, for many pairs.

    What it returns for a region and itself means nothing.
    """
    if not len(merges):
        return np.zeros(len(first))
    a, b = (np.ascontiguousarray(ends, dtype=np.int32) for ends in (first, second))
    return levels[kernels.joining_merges(merges, a, b)]


def complete(merges: Merges, levels: FloatArray, n: int) -> tuple[Merges, FloatArray]:
    """Join what is left of n regions after some merges, one by one, at level `APART`."""
    first, *others = np.unique(owners_after(merges, n)).tolist()
    last = np.array([(first, other) for other in others], dtype=np.int32).reshape(-1, 2)
    return np.concatenate([merges, last]), np.append(levels, np.full(len(last), APART))


def owners_after(merges: Merges, n: int) -> NDArray[np.intp]:
    """Return the region that each of n regions belongs to after some merges, (n,)."""
    owner = np.arange(n)
    owner[merges[:, 1]] = merges[:, 0]
    while (owner != (further := owner[owner])).any():
        owner = further
    return owner


def smaller_sides(merges: Merges, sizes: NDArray[np.intp]) -> NDArray[np.intp]:
    """Return the number of pixels of the smaller of the two regions of each merge."""
    grown = sizes.tolist()
    smaller = np.empty(len(merges), dtype=np.intp)
    for merge, (kept, absorbed) in enumerate(merges.tolist()):
        smaller[merge] = min(grown[kept], grown[absorbed])
        grown[kept] += grown[absorbed]
    return smaller
