"""Where two tiles that overlap are cut and sewn together, and which of their regions are one.

Both tiles have cut what they share into pieces, each in its own way. Both hierarchies tell how far
a piece a of one is from a piece b of the other, over areas rather than along lines, because
boundaries that mean the same may lie some pixels apart:

    apart(a, b) = ( mean over the pixels p of b of level(a, piece of the first tile at p)
                  + mean over the pixels p of a of level(piece of the second tile at p, b) ) / 2,

p in what both share, and level(a, a) = 0. The seam is the path along which the two pieces at each
pixel are least apart: it keeps away from where the tiles disagree.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.regions.merges import merge_levels

Labels = NDArray[np.integer[Any]]
FloatArray = NDArray[np.float64]

STEP = 0.01
"""What a pixel of a seam costs by itself, in levels; at the edge of a tile, twice as much."""


@dataclass(frozen=True, eq=False)
class Pieces:
    """The pieces of one tile, or of a part of it.

    Attributes
    ----------
    labels : (h, w) array of int
        They count from 1; 0 is what does not belong to the image.
    merges, levels
        As those of a `Hierarchy` of regions that count from 0 and include what is outside.
    """

    labels: Labels
    merges: NDArray[np.int32]
    levels: FloatArray

    def levels_between(self, first: Labels, second: Labels) -> FloatArray:
        """Return the level at which two pieces come together, 0 for one and itself, for pairs."""
        found = merge_levels(self.merges, self.levels, first, second)
        return np.where(first == second, 0.0, found)


class Overlap:
    """What two tiles say about the pixels that they share.

    Parameters
    ----------
    first, second : Pieces
        How each of the tiles cuts the same pixels.
    """

    def __init__(self, first: Pieces, second: Pieces) -> None:
        self._first, self._second = first, second
        self._inside = first.labels > 0
        inside, (at_first, n) = self._inside, _numbered(first.labels)
        at_second, m = _numbered(second.labels)
        pairs = np.where(inside, at_first[first.labels] * m + at_second[second.labels], 0)
        counts = np.bincount(pairs[inside], minlength=n * m)
        there = np.flatnonzero(counts)
        self._number = np.zeros(len(counts), dtype=np.int32)
        self._number[there] = np.arange(len(there))
        self._pairs, self._counts = pairs, counts[there].astype(float)
        # The pieces of each pair that shares pixels.
        self._one = np.flatnonzero(at_first >= 0)[there // m]
        self._two = np.flatnonzero(at_second >= 0)[there % m]

    def apart(self, first: Labels, second: Labels) -> FloatArray:
        """Tell how far apart pieces of both tiles are, for many pairs."""
        by_first = self._mean_level(self._first, first, second, self._one, self._two)
        by_second = self._mean_level(self._second, second, first, self._two, self._one)
        return (by_first + by_second) / 2

    def disagreement(self) -> FloatArray:
        """Tell how far apart the two pieces at each pixel are, (h, w)."""
        if not len(self._one):
            return np.zeros(self._inside.shape)
        apart = self.apart(self._one, self._two)
        return np.where(self._inside, apart[self._number[self._pairs]], 0.0)

    def _mean_level(
        self, tile: Pieces, own: Labels, other: Labels, owns: Labels, others: Labels
    ) -> FloatArray:
        """Average the levels between a tile's own pieces and its pixels in those of the other.

        `owns` and `others` are the pieces of all pairs that share pixels.
        """
        order = np.argsort(others, kind="stable")
        sorted_others = others[order]
        begin = np.searchsorted(sorted_others, other, side="left")
        lengths = np.searchsorted(sorted_others, other, side="right") - begin
        which = np.repeat(np.arange(len(own)), lengths)
        before = np.repeat(np.cumsum(lengths) - lengths, lengths)
        met = order[np.arange(len(which)) - before + begin[which]]
        levels = tile.levels_between(own[which], owns[met]) * self._counts[met]
        total, weight = (
            np.bincount(which, values, minlength=len(own)) for values in (levels, self._counts[met])
        )
        return np.asarray(total / np.maximum(weight, 1))


def find_seam(disagreement: FloatArray, start: int | None = None) -> NDArray[np.int32]:
    """Find the cheapest path from the first row to the last, by dynamic programming.

    Parameters
    ----------
    disagreement : (h, w) array
        How much two tiles disagree at the pixels that they share; the first lies to the left.
    start : int, optional
        Where the path was one row before the first.

    Returns
    -------
    (h,) int32 array
        In each row, the first pixel of the second tile: from 1 to w - 1, and no two rows differ
        by more than 1.
    """
    height, width = disagreement.shape
    off_centre = np.abs(np.linspace(-1, 1, width - 1))
    # A cut between two pixels costs what both do.
    costs = disagreement[:, :-1] + disagreement[:, 1:] + STEP * (1 + off_centre)
    reached = np.zeros(width - 1)
    if start is not None:
        reached += np.where(np.abs(np.arange(1, width) - start) <= 1, 0.0, np.inf)
    choices = np.empty((height, width - 1), dtype=np.int8)
    around = np.full(width + 1, np.inf)
    for row in range(height):
        if row:
            around[1:-1] = reached
            near = np.stack([around[1:-1], around[:-2], around[2:]])  # straight on if equal
            choices[row] = near.argmin(axis=0)
            reached = near.min(axis=0)
        reached = reached + costs[row]
    path = np.empty(height, dtype=np.int32)
    place = int(reached.argmin())
    for row in range(height - 1, -1, -1):
        path[row] = place + 1
        place += (0, -1, 1)[choices[row, place]] if row else 0
    return path


def _numbered(labels: Labels) -> tuple[NDArray[np.intp], int]:
    """Return the number of each piece among those that are there, or -1, and how many are."""
    there = np.bincount(labels.ravel()) > 0
    there[0] = False
    numbers = np.where(there, np.cumsum(there) - 1, -1)
    return numbers, int(there.sum())
