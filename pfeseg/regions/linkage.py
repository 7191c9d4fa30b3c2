"""Regions whose common boundaries are known, merged by the mean levels of these.

Where all levels come from one hierarchy, this gives that hierarchy again: two regions that merge
first are equally far from all others. Where they come from several tiles, what one of them says is
weighed against what the others say, by the lengths of the boundaries that they have seen.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.merges import complete

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Boundaries:
    """Pairs of regions that touch.

    Attributes
    ----------
    pairs : (pairs, 2) int array
        Each pair once.
    lengths, sums : (pairs,) array
        Number of pixel edges between the two, and the sum of the levels at them.
    """

    pairs: NDArray[np.int64]
    lengths: FloatArray
    sums: FloatArray

    @classmethod
    def joined(cls, parts: Iterable[Boundaries]) -> Boundaries:
        """Put the boundaries of several parts of an image together."""
        pairs, lengths, sums = (
            np.concatenate(arrays)
            for arrays in zip(*((p.pairs, p.lengths, p.sums) for p in parts), strict=True)
        )
        found, places = np.unique(pairs, axis=0, return_inverse=True)
        total = np.zeros((len(found), 2))
        np.add.at(total, places.ravel(), np.stack([lengths, sums], axis=1))
        return cls(found, total[:, 0], total[:, 1])


def link(boundaries: Boundaries, n: int) -> Hierarchy:
    """Merge n regions, always the two whose boundary has the lowest mean level.

    What touches nothing joins last, as in `complete`. The base of the hierarchy, (1, n), stands
    for the regions themselves.
    """
    lengths, sums = boundaries.lengths.tolist(), boundaries.sums.tolist()
    ends = boundaries.pairs.tolist()
    around: list[dict[int, int]] = [{} for _ in range(n)]
    for edge, (a, b) in enumerate(ends):
        around[a][b] = around[b][a] = edge
    waiting = [(sums[e] / lengths[e], e, lengths[e]) for e in range(len(ends))]
    heapq.heapify(waiting)
    merges: list[tuple[int, int]] = []
    levels: list[float] = []
    while waiting:
        level, edge, length = heapq.heappop(waiting)
        if not ends[edge] or lengths[edge] != length:
            continue  # gone, or longer than it was and waiting with that length
        kept, absorbed = sorted(ends[edge], key=lambda region: (-len(around[region]), region))
        merges.append((kept, absorbed))
        levels.append(level)
        ends[edge] = []
        del around[kept][absorbed], around[absorbed][kept]
        for other, its_edge in around[absorbed].items():
            del around[other][absorbed]
            longer = around[kept].get(other)
            if longer is None:
                around[kept][other] = around[other][kept] = its_edge
                ends[its_edge] = [kept, other]
                continue
            lengths[longer] += lengths[its_edge]
            sums[longer] += sums[its_edge]
            ends[its_edge] = []
            heapq.heappush(waiting, (sums[longer] / lengths[longer], longer, lengths[longer]))
        around[absorbed].clear()
    made = np.array(merges, dtype=np.int32).reshape(-1, 2)
    base = np.arange(n, dtype=np.int32)[None]
    # A mean may fall short of the least by rounding.
    return Hierarchy(base, *complete(made, np.maximum.accumulate(levels or [0.0])[: len(made)], n))
