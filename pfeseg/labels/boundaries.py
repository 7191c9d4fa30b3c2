"""How well drawn boundaries agree with human ones: precision, recall and F.

The rules are those of the BSDS benchmark. A boundary pixel counts if it is matched with one of the
other map within `TOLERANCE` of the image's diagonal, each with one only. A drawn pixel is right if
it is matched in any of the ground truths; recall is over the pixels of all of them.

As many pixels are matched as possible. The benchmark's own program looks for the matching of least
cost instead, where a pixel without a partner costs a hundred times the largest distance. Both find
the same number of pairs, unless a hundred pixels would have to change partners for one more pair.
We had no output of that program to compare with.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.errors import InvalidInputError
from pfeseg.labels.maps import find_boundaries

Marks = NDArray[np.bool_]
FloatArray = NDArray[np.float64]

TOLERANCE = 0.0075
"""Distance within which pixels are matched, in units of the image's diagonal."""

_BETWEEN = 100
"""Points at which the curve between two thresholds is looked at for the best F."""


@dataclass(frozen=True)
class BoundaryCounts:
    """Drawn pixels, those of them that are right; human pixels, those of them that are found."""

    drawn: int
    right: int
    human: int
    found: int


@dataclass(frozen=True)
class BoundaryScores:
    """Precision, recall, and F, their harmonic mean."""

    precision: float
    recall: float
    f: float


@dataclass(frozen=True)
class BoundarySummary:
    """Figures of a data set, the boundaries of each image being drawn at several thresholds.

    `ods` takes the one threshold that is best for the data set, `ois` the best for each image.
    `average_precision` is the area below the curve of precision over recall.
    """

    ods: BoundaryScores
    ois: BoundaryScores
    average_precision: float


def boundaries_of(labels: NDArray[np.integer[Any]]) -> Marks:
    """Return the boundaries of a label map as thin lines, (h, w)."""
    return _thin(find_boundaries(labels))


def contours_at(ucm2: NDArray[np.floating[Any]], threshold: float) -> Marks:
    """Return the contours of at least a threshold in a map (2 h + 1, 2 w + 1) as thin lines."""
    return _thin(ucm2[2::2, 2::2] >= threshold)


def count_boundaries(marks: Marks, truths: Sequence[Marks]) -> BoundaryCounts:
    """Match the boundaries of an image with those of its ground truths, all (h, w)."""
    right = np.zeros(marks.shape, dtype=bool)
    found = 0
    for truth in truths:
        matched = match_boundaries(marks, truth)
        right |= matched
        found += int(matched.sum())
    human = sum(int(truth.sum()) for truth in truths)
    return BoundaryCounts(int(marks.sum()), int(right.sum()), human, found)


def match_boundaries(marks: Marks, truth: Marks) -> Marks:
    """Tell which pixels of one map are matched with pixels of another, each with one only."""
    if marks.shape != truth.shape:
        raise InvalidInputError(
            f"boundaries of shape {marks.shape} cannot be compared with a ground truth of "
            f"shape {truth.shape}"
        )
    radius = TOLERANCE * float(np.hypot(*marks.shape))
    y, x = np.indices((2 * int(radius) + 1,) * 2) - int(radius)
    near = y**2 + x**2 <= radius**2
    offsets = np.stack([y[near], x[near]], axis=1)
    nearest_first = offsets[np.argsort((offsets**2).sum(axis=1), kind="stable")]
    return kernels.match_boundaries(
        marks.astype(np.uint8), truth.astype(np.uint8), nearest_first.astype(np.int32)
    ).astype(bool)


def summarise_boundaries(images: Sequence[Sequence[BoundaryCounts]]) -> BoundarySummary:
    """Aggregate over a data set by the rules of the BSDS benchmark.

    Parameters
    ----------
    images : sequence of sequences of BoundaryCounts
        One inner sequence per image, with one entry per threshold, in the same order.
    """
    if not images or len({len(thresholds) for thresholds in images}) != 1:
        raise InvalidInputError("every image must have been drawn at the same thresholds")
    counts = np.array([[_row(c) for c in thresholds] for thresholds in images], dtype=np.float64)
    precision, recall, _ = _scores(counts.sum(axis=0))
    best = _scores(counts)[2].argmax(axis=1)
    chosen = counts[np.arange(len(counts)), best].sum(axis=0, keepdims=True)
    return BoundarySummary(
        ods=_best_between(precision, recall),
        ois=BoundaryScores(*(float(figure[0]) for figure in _scores(chosen))),
        average_precision=_area(precision, recall),
    )


def _row(counts: BoundaryCounts) -> tuple[int, int, int, int]:
    return counts.drawn, counts.right, counts.human, counts.found


def _scores(counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Precision, recall and F of rows (drawn, right, human, found), (..., 4)."""
    drawn, right, human, found = np.moveaxis(counts, -1, 0)
    precision = np.divide(right, drawn, out=np.ones_like(drawn), where=drawn > 0)
    recall = np.divide(found, human, out=np.ones_like(human), where=human > 0)
    return precision, recall, _harmonic_mean(precision, recall)


def _harmonic_mean(precision: FloatArray, recall: FloatArray) -> FloatArray:
    total = precision + recall
    return np.divide(2 * precision * recall, total, out=np.zeros_like(total), where=total > 0)


def _best_between(precision: FloatArray, recall: FloatArray) -> BoundaryScores:
    """Return the best point of the curve, thresholds being joined by straight lines."""
    share = np.linspace(0, 1, _BETWEEN)[:, None]
    p = np.concatenate([precision, (share * precision[1:] + (1 - share) * precision[:-1]).ravel()])
    r = np.concatenate([recall, (share * recall[1:] + (1 - share) * recall[:-1]).ravel()])
    f = _harmonic_mean(p, r)
    k = int(f.argmax())
    return BoundaryScores(float(p[k]), float(r[k]), float(f[k]))


def _area(precision: FloatArray, recall: FloatArray) -> float:
    """Area below precision over recall, which is 0 beyond the recalls that were reached."""
    reached, index = np.unique(recall, return_index=True)
    grid = np.arange(101) / 100
    inside = (grid >= reached[0]) & (grid <= reached[-1])
    return float(np.interp(grid[inside], reached, precision[index]).sum() / 100)


def _thin(marks: Marks) -> Marks:
    from skimage.morphology import thin

    thinned: Marks = thin(marks)
    return thinned
