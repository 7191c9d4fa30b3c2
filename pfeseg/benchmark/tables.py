"""The figures of a data set by the benchmark's rules, with bootstrap intervals, as a table."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import cast

import numpy as np
from numpy.typing import NDArray

from pfeseg.benchmark.rows import Row
from pfeseg.benchmark.runs import AUTO, HIERARCHY
from pfeseg.errors import InvalidInputError
from pfeseg.files.matlab import UCM_THRESHOLDS
from pfeseg.labels.boundaries import BoundaryCounts, BoundaryScores, summarise_boundaries
from pfeseg.labels.metrics import Measured
from pfeseg.segmentation.cuts import DEFAULT_LEVEL
from pfeseg.segmentation.methods import METHODS

FloatArray = NDArray[np.float64]

METRICS = ("covering", "PRI", "VI")

N_RESAMPLES = 2000

PUBLISHED = {
    "ncut": (0.40, 0.76, 2.39),
    "sc": (0.44, 0.77, 2.24),
    "wsc": (0.44, 0.77, 2.21),
    "pfe": (0.53, 0.79, 2.10),
}
"""Covering, PRI and VI in Table 1 of Meinhold et al.: BSDS500 train, best d per image (OIS)."""

PUBLISHED_YU = (0.52, 0.79, 1.91)
"""The same of Yu et al.'s own program, which the paper quotes."""

FEWEST_IMAGES = 5
"""An interval from fewer images than this says nothing."""


@dataclass(frozen=True, eq=False)
class Benchmark:
    """All methods of a data set on the same images, and the resamples of these."""

    images: tuple[str, ...]
    measured: dict[tuple[str, int], Measured]
    """By method, and 1 for cleaned segmentations, else 0."""
    contours: list[list[BoundaryCounts]]
    """Of each image's hierarchy at each level; empty if there is none."""

    def methods(self) -> list[str]:
        """Name the methods that cluster, in their usual order."""
        known = {method for method, _ in self.measured}
        return [method for method in (*METHODS, AUTO) if method in known]

    def counts(self) -> FloatArray:
        """Draw images with replacement, (1 + resamples, n); the first draws each once."""
        n = len(self.images)
        if n < FEWEST_IMAGES:
            return np.ones((1, n))
        rng = np.random.default_rng(0)
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES)
        return np.concatenate([np.ones((1, n)), drawn])


def gather(rows: Sequence[Row]) -> Benchmark:
    """Arrange rows as arrays; an image counts only if every method has all its rows."""
    by_key: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows:
        by_key.setdefault((row.method, row.cleaned), {}).setdefault(row.image, []).append(row)
    images = sorted(set.intersection(*(set(images) for images in by_key.values()))) if rows else []
    if not images:
        raise InvalidInputError("no image was segmented by every method: there is no table to make")
    measured, contours = {}, []
    for key, of_image in by_key.items():
        table = [sorted(of_image[name], key=_setting) for name in images]
        if len({len(line) for line in table}) != 1:
            raise InvalidInputError(f"the method {key[0]} was run with several ranges of settings")
        covered, pixels, pri, vi = (
            np.array([[getattr(row, name) for row in line] for line in table], dtype=np.float64)
            for name in ("covered", "pixels", "pri", "vi")
        )
        measured[key] = Measured(covered, pixels[:, 0], pri, vi)
        if key[0] == HIERARCHY:
            contours = [[_counts(row) for row in line] for line in table]
    return Benchmark(tuple(images), measured, contours)


def _setting(row: Row) -> tuple[float, ...]:
    """Return what tells the segmentations of one image by one method apart, to sort by."""
    return row.d, row.k or 0, row.level or 0.0


def _counts(row: Row) -> BoundaryCounts:
    counts = row.drawn, row.right, row.human, row.found  # never None of a level
    return BoundaryCounts(*cast(tuple[int, int, int, int], counts))


def markdown(benchmark: Benchmark, split: str, title: str) -> str:
    """Write the tables of a benchmark on a split of BSDS500."""
    parts = [
        f"# {title}",
        f"Images: {len(benchmark.images)}. ODS: the one d, or level of the hierarchy, that is best "
        "for all images; OIS: the best for each image, the paper's dynamic scheme; each metric has "
        "its own. Large covering and PRI are good, and small VI. In brackets, 95 % intervals from "
        f"{N_RESAMPLES} bootstrap resamples of the images, in each of which ODS and OIS choose "
        "anew.",
    ]
    if benchmark.methods():
        parts += [
            "## k-means clusters as they are",
            _scores_table(benchmark, 0, published=split == "train"),
            "## Connected regions, those below 0.5 % of the image absorbed",
            _scores_table(benchmark, 1),
        ]
    fixed = [method for method in benchmark.methods() if method != AUTO]
    if len(fixed) > 1:
        parts += [
            f"## {_title(fixed[0])} less the others",
            "Differences on the same resamples. An interval without 0 separates the two; a "
            f"positive covering and PRI and a negative VI speak for {_title(fixed[0])}.",
            "OIS:",
            _differences_table(benchmark, fixed, Measured.ois),
            "ODS:",
            _differences_table(benchmark, fixed, Measured.ods),
        ]
    if {("pfe", 0), (AUTO, 0)} <= set(benchmark.measured):
        parts += ["## d and k chosen without ground truth", _auto_table(benchmark)]
        if split == "train":
            parts.append(
                "The range of d and k to choose from was settled on images of this split; "
                "judge it on another."
            )
    if benchmark.contours:
        parts += [
            "## Hierarchy of regions",
            f"At {len(UCM_THRESHOLDS)} levels, as the benchmark cuts it.",
            _levels_table(benchmark),
            "Its contours, matched with human boundaries:",
            _contours_table(benchmark),
        ]
    return "\n\n".join(parts) + "\n"


def _title(method: str) -> str:
    return "PFE, d and k automatic" if method == AUTO else METHODS[method].title  # type: ignore[index]


def _scores_table(benchmark: Benchmark, cleaned: int, published: bool = False) -> str:
    counts = benchmark.counts()
    columns = [f"{metric} {rule}" for metric in METRICS for rule in ("ODS", "OIS")]
    if published:
        columns.append("published (OIS)")
    lines = _head("method", *columns)
    for method in benchmark.methods():
        measured = benchmark.measured[method, cleaned]
        ods, ois = measured.ods(counts), measured.ois(counts)
        cells = []
        for m in range(len(METRICS)):
            cells += [_estimate(ods[:, m]), "" if method == AUTO else _estimate(ois[:, m])]
        if published:
            cells.append(_triple(PUBLISHED[method]) if method in PUBLISHED else "")
        lines.append(f"| {_title(method)} | " + " | ".join(cells) + " |")
    if published:
        blank = "| " * (2 * len(METRICS))
        lines.append(f"| PFE of Yu et al. {blank}| {_triple(PUBLISHED_YU)} |")
    return "\n".join(lines)


def _differences_table(
    benchmark: Benchmark,
    methods: Sequence[str],
    rule: Callable[[Measured, FloatArray], FloatArray],
) -> str:
    """Write the first method less each of the others."""
    counts = benchmark.counts()
    columns = [*METRICS, *(f"{metric}, cleaned" for metric in METRICS)]
    lines = _head("less", *columns)
    for method in methods[1:]:
        cells = []
        for cleaned in (0, 1):
            ours = rule(benchmark.measured[methods[0], cleaned], counts)
            theirs = rule(benchmark.measured[method, cleaned], counts)
            cells += [_estimate(difference, sign="+") for difference in (ours - theirs).T]
        lines.append(f"| {_title(method)} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _auto_table(benchmark: Benchmark) -> str:
    counts = benchmark.counts()
    pfe, auto = benchmark.measured["pfe", 0], benchmark.measured[AUTO, 0]
    ods, ois, chosen = pfe.ods(counts), pfe.ois(counts), auto.ods(counts)
    columns = [
        *("metric", "best fixed d = k (ODS)", "automatic", "best d = k per image (OIS)"),
        *("automatic less ODS", "share of the way from ODS to OIS"),
    ]
    lines = _head(*columns)
    for m, metric in enumerate(METRICS):
        gain, way = chosen[:, m] - ods[:, m], ois[0, m] - ods[0, m]
        share = f"{gain[0] / way:.0%}" if way else ""
        cells = [_estimate(figures[:, m]) for figures in (ods, chosen, ois)]
        cells += [_estimate(gain, sign="+"), share]
        lines.append(f"| {metric} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _levels_table(benchmark: Benchmark) -> str:
    counts = benchmark.counts()
    measured = benchmark.measured[HIERARCHY, 0]
    written = int(np.searchsorted(UCM_THRESHOLDS, DEFAULT_LEVEL))
    lines = _head("level", *METRICS)
    for name, figures in (
        (f"{DEFAULT_LEVEL:g}, the labels as written", measured.at(written, counts)),
        ("best for all images (ODS)", measured.ods(counts)),
        ("best for each image (OIS)", measured.ois(counts)),
    ):
        lines.append(f"| {name} | " + " | ".join(_estimate(column) for column in figures.T) + " |")
    return "\n".join(lines)


def _contours_table(benchmark: Benchmark) -> str:
    total = summarise_boundaries(benchmark.contours)

    def line(name: str, scores: BoundaryScores) -> str:
        return f"| {name} | {scores.precision:.3f} | {scores.recall:.3f} | {scores.f:.3f} |"

    return "\n".join(
        [
            *_head("level", "precision", "recall", "F"),
            line("best for all images (ODS)", total.ods),
            line("best for each image (OIS)", total.ois),
            f"| all, average precision | {total.average_precision:.3f} | | |",
        ]
    )


def _head(*columns: str) -> list[str]:
    """Write the first two lines of a table."""
    return ["| " + " | ".join(columns) + " |", "|---" * len(columns) + "|"]


def _estimate(values: FloatArray, sign: str = "") -> str:
    """Write the first value with the 95 % interval of the others, if there are any."""
    if len(values) == 1:
        return f"{values[0]:{sign}.3f}"
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return f"{values[0]:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def _triple(figures: tuple[float, float, float]) -> str:
    return " / ".join(f"{figure:.2f}" for figure in figures)
