"""Score hierarchies and label maps on BSDS500, fast enough to try many variants."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from joblib import Parallel, delayed, parallel_config
from numpy.typing import NDArray

from pfeseg.benchmark.dataset import Item, find_items
from pfeseg.benchmark.evaluation import count_contours
from pfeseg.files.matlab import contours_of, read_ground_truths, read_true_boundaries
from pfeseg.files.reading import read_image
from pfeseg.labels.boundaries import BoundaryCounts
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
    with parallel_config(backend="loky", inner_max_num_threads=1):
        return list(Parallel(n_jobs=jobs)(delayed(work)(item, *rest) for item in items))


def compare_contours(tree: Hierarchy, item: Item) -> list[BoundaryCounts]:
    """Compare the contours at the benchmark's 99 thresholds with the human boundaries."""
    return count_contours(contours_of(tree.contour_map()), read_true_boundaries(item.ground_truth))


def figures(scores: Any) -> str:
    """Return covering, PRI and VI as the tables have them."""
    return f"{scores.covering:.3f} / {scores.pri:.3f} / {scores.vi:.3f}"
