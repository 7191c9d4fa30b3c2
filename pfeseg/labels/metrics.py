"""How well a segmentation agrees with human ones: covering, PRI and VI.

Definitions and aggregation follow the BSDS benchmark. One contingency table of
a segmentation and a ground truth feeds all three:

* covering: over the regions R of all ground truths, the mean of the best
  overlap (intersection over union) of R with a region, weighted by |R|;
* PRI, the probabilistic Rand index: share of the pixel pairs on which both agree,
  as the benchmark's program counts them;
* VI, the variation of information H(S) + H(G) - 2 I(S; G), in bits.

Beside these, not in the benchmark: ARI, the Rand index adjusted for chance; and IoU and Dice, the
best overlap of a region R as intersection over union and as twice the intersection over the sum of
both, the mean over all R whatever their size.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.checks import any_array, label_map
from pfeseg.errors import InvalidInputError

FloatArray = NDArray[np.float64]

_FEW_LABELS = 4096
"""Labels from so small a range are counted as they are; others are renumbered first."""


@dataclass(frozen=True)
class Scores:
    """How well one segmentation agrees with its ground truths.

    Attributes
    ----------
    covering : float
        How well the regions of the ground truths are covered, from 0 to 1.
    pri : float
        Probabilistic Rand index: the share of the pairs of pixels on which both agree.
    vi : float
        Variation of information in bits; 0 where they are the same.

    Examples
    --------
    >>> from pfeseg import Scores, score
    >>> score([[0, 0, 1, 1]], [[5, 5, 7, 7]]) == Scores(covering=1.0, pri=1.0, vi=0.0)
    True
    """

    covering: float
    pri: float
    vi: float


@dataclass(frozen=True, eq=False)
class Comparison:
    """One segmentation against the ground truths of its image.

    Attributes
    ----------
    region_sizes : (R,) array
        Pixels of every region of every ground truth.
    region_overlaps : (R,) array
        Its best intersection over union with a region of the segmentation.
    pri, vi, ari : float
        Means over the ground truths.
    """

    region_sizes: FloatArray
    region_overlaps: FloatArray
    pri: float
    vi: float
    ari: float

    @property
    def covered(self) -> float:
        """Numerator of the covering, whose denominator is the sum of `region_sizes`."""
        return float(self.region_sizes @ self.region_overlaps)

    @property
    def iou(self) -> float:
        """Mean intersection over union of the regions of the ground truths."""
        return float(self.region_overlaps.mean())

    @property
    def dice(self) -> float:
        """Mean Dice coefficient of them; the best region is the same."""
        return float((2 * self.region_overlaps / (1 + self.region_overlaps)).mean())

    @property
    def scores(self) -> Scores:
        """The three figures of this image alone."""
        return Scores(self.covered / float(self.region_sizes.sum()), self.pri, self.vi)


@dataclass(frozen=True, eq=False)
class Measured:
    """n images, each segmented with the same s settings, and the benchmark's rules for them.

    The covering of several images is a ratio of sums, so images with more annotators weigh
    more; PRI and VI are plain means over the images.

    Attributes
    ----------
    covered, pri, vi : (n, s) array
    pixels : (n,) array
        `covered` is a share of these.
    """

    covered: FloatArray
    pixels: FloatArray
    pri: FloatArray
    vi: FloatArray

    def by_setting(self, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Covering, PRI and VI of each setting, (resamples, s) each.

        Parameters
        ----------
        counts : (resamples, n) array
            How often each image is drawn; a row of ones is the data set itself.
        """
        n = counts.sum(axis=1, keepdims=True)
        covering = counts @ self.covered / (counts @ self.pixels)[:, None]
        return covering, counts @ self.pri / n, counts @ self.vi / n

    def at(self, setting: int, counts: FloatArray) -> FloatArray:
        """Each metric with one setting, (resamples, 3)."""
        return np.stack([figure[:, setting] for figure in self.by_setting(counts)], axis=1)

    def ods(self, counts: FloatArray) -> FloatArray:
        """Each metric with its one best setting for all images, (resamples, 3)."""
        covering, pri, vi = self.by_setting(counts)
        return np.stack([covering.max(axis=1), pri.max(axis=1), vi.min(axis=1)], axis=1)

    def ois(self, counts: FloatArray) -> FloatArray:
        """Each metric with its best setting for each image, (resamples, 3)."""
        best = Measured(
            self.covered.max(axis=1, keepdims=True),
            self.pixels,
            self.pri.max(axis=1, keepdims=True),
            self.vi.min(axis=1, keepdims=True),
        )
        return np.concatenate(best.by_setting(counts), axis=1)


@dataclass(frozen=True)
class Summary:
    """Figures of a data set for which each image was segmented with several settings.

    `ods` takes the one setting that is best for the data set, `ois` the best for
    each image, each metric its own. `best_covering` lets each region of the ground truth
    choose among all settings. `ods_settings` are the indices that `ods` chose.
    """

    ods: Scores
    ois: Scores
    best_covering: float
    ods_settings: tuple[int, int, int]


def score(labels: ArrayLike, ground_truths: ArrayLike | Sequence[ArrayLike]) -> Scores:
    """Score a segmentation against the ground truths of its image.

    Parameters
    ----------
    labels : (h, w) integer array
    ground_truths : (h, w) integer array, or sequence of these

    Returns
    -------
    Scores

    Raises
    ------
    InvalidInputError
        Where there is no ground truth, or one of another size.

    Examples
    --------
    >>> from pfeseg import score
    >>> score([[0, 0, 1, 1]], [[4, 4, 7, 7]]).covering
    1.0
    """
    return compare(labels, _as_list(ground_truths)).scores


def _as_list(ground_truths: ArrayLike | Sequence[ArrayLike]) -> Sequence[ArrayLike]:
    """Return ground truths as a list, if there is a single one too."""
    if isinstance(ground_truths, list | tuple):
        truths = [any_array(truth, "a ground truth") for truth in ground_truths]
        is_one = bool(truths) and truths[0].ndim == 1
        return [any_array(ground_truths, "a ground truth")] if is_one else truths
    array = any_array(ground_truths, "a ground truth")
    return list(array) if array.ndim == 3 else [array]


def compare(labels: ArrayLike, ground_truths: Sequence[ArrayLike]) -> Comparison:
    """Compare a segmentation with the ground truths of its image, for `score` and `summarise`."""
    return compare_tables(contingency_tables(labels, ground_truths))


def compare_tables(tables: Sequence[FloatArray]) -> Comparison:
    """Do as `compare` with the contingency table of each ground truth.

    Columns of zeros do no harm, so tables of merged regions are sums of columns.
    """
    sizes, overlaps, pri, vi, ari = [], [], [], [], []
    for table in tables:
        truth_sizes, label_sizes = table.sum(axis=1), table.sum(axis=0)
        union = truth_sizes[:, None] + label_sizes - table
        sizes.append(truth_sizes)
        overlaps.append((table / union).max(axis=1))
        pri.append(_rand_index(table, truth_sizes, label_sizes))
        vi.append(_variation_of_information(table, truth_sizes, label_sizes))
        ari.append(_adjusted_rand_index(table, truth_sizes, label_sizes))
    return Comparison(
        np.concatenate(sizes),
        np.concatenate(overlaps),
        float(np.mean(pri)),
        float(np.mean(vi)),
        float(np.mean(ari)),
    )


def summarise(images: Sequence[Sequence[Comparison]]) -> Summary:
    """Aggregate over a data set by the rules of the BSDS benchmark.

    Parameters
    ----------
    images : sequence of sequences of Comparison
        One inner sequence per image, with one entry per setting, in the same order.
    """
    if not images or len({len(settings) for settings in images}) != 1:
        raise InvalidInputError("every image must have been segmented with the same settings")
    measured = Measured(
        covered=np.array([[c.covered for c in settings] for settings in images]),
        pixels=np.array([settings[0].region_sizes.sum() for settings in images]),
        pri=np.array([[c.pri for c in settings] for settings in images]),
        vi=np.array([[c.vi for c in settings] for settings in images]),
    )
    best = sum(
        float(s[0].region_sizes @ np.max([c.region_overlaps for c in s], axis=0)) for s in images
    )
    once = np.ones((1, len(images)))
    covering, pri, vi = measured.by_setting(once)
    return Summary(
        ods=Scores(*measured.ods(once)[0].tolist()),
        ois=Scores(*measured.ois(once)[0].tolist()),
        best_covering=best / float(measured.pixels.sum()),
        ods_settings=(int(covering.argmax()), int(pri.argmax()), int(vi.argmin())),
    )


def rand_index(labels: NDArray[np.int32], other: NDArray[np.int32]) -> float:
    """Share of the pairs of pixels on which two label maps agree; labels from 0 on."""
    table = contingency_table(labels, other)
    return _rand_index(table, table.sum(axis=1), table.sum(axis=0))


def contingency_tables(labels: ArrayLike, ground_truths: Sequence[ArrayLike]) -> list[FloatArray]:
    """Count the pixels of each region of each truth (rows) in each of the labels (columns)."""
    regions = _small_labels(labels, "the segmentation")
    if not len(ground_truths):
        raise InvalidInputError("at least one ground truth is needed, got none")
    return [
        contingency_table(regions, _small_labels(truth, "a ground truth"))
        for truth in ground_truths
    ]


def contingency_table(labels: NDArray[np.int32], truth: NDArray[np.int32]) -> FloatArray:
    """Count the pixels of each region of the truth (rows) in each of the labels (columns)."""
    if labels.shape != truth.shape:
        raise InvalidInputError(
            f"a segmentation of shape {labels.shape} cannot be compared with a ground truth of "
            f"shape {truth.shape}"
        )
    n_labels, n_truth = int(labels.max()) + 1, int(truth.max()) + 1
    rows = truth.ravel()
    if n_labels * n_truth < 2**31:  # half the memory traffic
        joint: NDArray[np.integer[Any]] = rows * np.int32(n_labels)
    else:
        joint = rows.astype(np.int64) * n_labels
    joint += labels.ravel()
    counts = np.bincount(joint, minlength=n_truth * n_labels).reshape(n_truth, n_labels)
    used = counts[counts.any(axis=1)][:, counts.any(axis=0)]
    return used.astype(np.float64)


def _small_labels(labels: ArrayLike, what: str) -> NDArray[np.int32]:
    """Return labels as small numbers from 0 on, some of which may be unused."""
    array = label_map(labels, what)
    low, high = int(array.min()), int(array.max())
    if high - low < _FEW_LABELS:
        # Modulo 2^64, in which the numbers of all types have their differences.
        return (array.astype(np.uint64) - np.uint64(low % 2**64)).astype(np.int32)
    inverse = np.unique(array, return_inverse=True)[1]
    return inverse.reshape(array.shape).astype(np.int32)


def _rand_index(table: FloatArray, rows: FloatArray, columns: FloatArray) -> float:
    n = rows.sum()
    disagreeing = (rows**2).sum() / 2 + (columns**2).sum() / 2 - (table**2).sum()
    return 1.0 if n < 2 else float(1 - disagreeing / (n * (n - 1) / 2))


def _adjusted_rand_index(table: FloatArray, rows: FloatArray, columns: FloatArray) -> float:
    together, in_truth, in_labels, all_pairs = (
        float((counts * (counts - 1)).sum() / 2) for counts in (table, rows, columns, rows.sum())
    )
    by_chance = in_truth * in_labels / all_pairs if all_pairs else 0.0
    most = (in_truth + in_labels) / 2
    return 1.0 if most == by_chance else (together - by_chance) / (most - by_chance)


def _variation_of_information(table: FloatArray, rows: FloatArray, columns: FloatArray) -> float:
    # H(S) + H(G) - 2 I = 2 H(S, G) - H(S) - H(G)
    return max(0.0, 2 * _entropy(table) - _entropy(rows) - _entropy(columns))


def _entropy(counts: FloatArray) -> float:
    p = counts[counts > 0] / counts.sum()
    return float(-(p * np.log2(p)).sum())
