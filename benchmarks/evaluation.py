"""Score hierarchies and label maps on BSDS500, fast enough to try many variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.benchmark.dataset import Item, find_items
from pfeseg.benchmark.evaluation import count_contours
from pfeseg.files.matlab import (
    UCM_THRESHOLDS,
    contours_of,
    read_ground_truths,
    read_true_boundaries,
)
from pfeseg.files.reading import read_image
from pfeseg.labels.boundaries import BoundaryCounts
from pfeseg.labels.metrics import Comparison, compare_tables, contingency_tables
from pfeseg.parallel import run_unordered
from pfeseg.regions.hierarchy import Hierarchy

Labels = NDArray[np.integer[Any]]
Truths = list[Labels]


def load(item: Item) -> tuple[NDArray[np.uint8], Truths]:
    """Read an image and its ground truths."""
    return read_image(item.image), read_ground_truths(item.ground_truth)


def every(root: Path, split: str, step: int = 1) -> list[Item]:
    """List every so many images of a split."""
    return find_items(root, split)[::step]


def map_items(
    work: Callable[..., Any], items: Sequence[Any], arguments: Iterable[Any], jobs: int
) -> list[Any]:
    """Call work(item, *arguments) for every item; returns the results in their order."""
    rest = tuple(arguments)
    done: Iterator[tuple[int, Any]] = run_unordered(
        _numbered, [(k, work, item, rest) for k, item in enumerate(items)], jobs
    )
    return [result for _, result in sorted(done, key=lambda pair: pair[0])]


def _numbered(
    k: int, work: Callable[..., Any], item: Any, rest: tuple[Any, ...]
) -> tuple[int, Any]:
    return k, work(item, *rest)


def compare_levels(tree: Hierarchy, truths: Truths) -> list[Comparison]:
    """Compare the cuts at the benchmark's 99 thresholds, as their label maps would be."""
    return compare_merges(contingency_tables(tree.base, truths), tree.merges, tree.levels)


def compare_merges(
    tables: list[NDArray[np.float64]], merges: NDArray[np.int32], levels: NDArray[np.float64]
) -> list[Comparison]:
    """Do as `compare_levels` with the contingency tables of the finest regions.

    The regions of every cut are unions of these, so its tables are sums of their columns.
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


def compare_contours(tree: Hierarchy, item: Item) -> list[BoundaryCounts]:
    """Compare the contours at the benchmark's 99 thresholds with the human boundaries."""
    return count_contours(contours_of(tree.contour_map()), read_true_boundaries(item.ground_truth))


def figures(scores: Any) -> str:
    """Print three figures as the lab book has them."""
    return f"{scores.covering:.3f} / {scores.pri:.3f} / {scores.vi:.3f}"
