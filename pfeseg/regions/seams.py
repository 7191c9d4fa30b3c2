"""Where two tiles that overlap are cut and sewn together, and which of their regions are one.

Both tiles have cut what they share into pieces, each in its own way. How far apart a piece a of one
is from a piece b of the other is told by both hierarchies, over areas rather than along lines,
because boundaries that mean the same may lie some pixels apart:

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

from pfeseg.parallel import one_blas_thread
from pfeseg.regions.hierarchy import merge_levels

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
        """Return the level at which each two of some pieces come together, (first, second)."""
        one, other = (grid.ravel() for grid in np.meshgrid(first, second, indexing="ij"))
        found = merge_levels(self.merges, self.levels, one, other)
        found[one == other] = 0
        return found.reshape(len(first), len(second))


class Overlap:
    """What two tiles say about the pixels that they share.

    Parameters
    ----------
    first, second : Pieces
        Of the same pixels.
    """

    def __init__(self, first: Pieces, second: Pieces) -> None:
        inside = first.labels > 0
        self._first, self._at_first = _present(first.labels)
        self._second, self._at_second = _present(second.labels)
        width = len(self._second)
        pairs = self._at_first[first.labels] * width + self._at_second[second.labels]
        counts = np.bincount(pairs[inside], minlength=len(self._first) * width)
        shared = counts.reshape(len(self._first), width)
        with one_blas_thread():
            said = first.levels_between(self._first, self._first) @ _shares(shared, 0)
            said += _shares(shared, 1) @ second.levels_between(self._second, self._second)
        self._apart = said / 2
        self._pairs, self._inside = pairs, inside

    def apart(self, first: Labels, second: Labels) -> FloatArray:
        """Tell how far apart pieces of both tiles are, for many pairs."""
        return self._apart[self._at_first[first], self._at_second[second]]

    def disagreement(self) -> FloatArray:
        """Tell how far apart the two pieces at each pixel are, (h, w)."""
        if not self._apart.size:
            return np.zeros(self._inside.shape)
        return np.where(self._inside, self._apart.ravel()[self._pairs], 0.0)


def find_seam(disagreement: FloatArray, start: int | None = None) -> NDArray[np.int32]:
    """Find the cheapest path from the first row to the last, by dynamic programming.

    Parameters
    ----------
    disagreement : (h, w) array
        Of two tiles, the first to the left, in what they share.
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


def _present(labels: Labels) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
    """Return the pieces that are there, and the place of each among them."""
    found = np.flatnonzero(np.bincount(labels.ravel()))
    found = found[found > 0]
    places = np.zeros(int(labels.max()) + 1, dtype=np.intp)
    places[found] = np.arange(len(found))
    return found, places


def _shares(counts: NDArray[np.integer[Any]], axis: int) -> FloatArray:
    """Divide counts by their sums along an axis."""
    shares: FloatArray = counts / np.maximum(counts.sum(axis=axis, keepdims=True), 1)
    return shares
