"""A hierarchy at the benchmark's thresholds against ground truth, without a label map for each."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.files.matlab import UCM_THRESHOLDS
from pfeseg.labels.metrics import Comparison, compare_tables, contingency_tables
from pfeseg.regions.hierarchy import Hierarchy

FloatArray = NDArray[np.float64]


def compare_levels(tree: Hierarchy, ground_truths: Sequence[ArrayLike]) -> list[Comparison]:
    """Compare the cuts of a hierarchy at `UCM_THRESHOLDS`, as `compare` would their label maps.

    Parameters
    ----------
    tree : Hierarchy
    ground_truths : sequence of (h, w) integer arrays
    """
    return compare_merges(contingency_tables(tree.base, ground_truths), tree.merges, tree.levels)


def compare_merges(
    tables: Sequence[FloatArray], merges: NDArray[np.int32], levels: FloatArray
) -> list[Comparison]:
    """Do as `compare_levels` with the contingency tables of the finest regions.

    The regions of every cut are unions of these, so its tables are sums of their columns.

    Parameters
    ----------
    tables : sequence of (regions of a ground truth, n) arrays
    merges : (n - 1, 2) array
    levels : (n - 1,) array
        Of a `Hierarchy` of n finest regions.
    """
    rows = np.cumsum([len(table) for table in tables])[:-1]
    merged = np.asfortranarray(np.concatenate(tables))  # columns are what is added
    alive = np.ones(merged.shape[1], dtype=bool)
    found: list[Comparison] = []
    done = 0
    for threshold in UCM_THRESHOLDS:
        upto = int(np.searchsorted(levels, threshold, side="right"))
        if found and upto == done:
            found.append(found[-1])
            continue
        for kept, absorbed in merges[done:upto]:
            merged[:, kept] += merged[:, absorbed]
            alive[absorbed] = False
        done = upto
        found.append(compare_tables(np.split(merged[:, alive], rows)))
    return found
