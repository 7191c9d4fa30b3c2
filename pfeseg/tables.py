"""The figures of a data set by the benchmark's rules, with bootstrap intervals, as a table."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg.dataset import AUTO, Row
from pfeseg.errors import InvalidInputError
from pfeseg.settings import METHODS

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

NAMES = {
    "pfe": "PFE",
    "le": "Laplacian eigenmaps",
    "sc": "SC",
    "wsc": "WSC",
    "ncut": "NCut",
    "gmm": "GMM of the colours",
    "kmeans": "k-means of the colours",
    AUTO: "PFE, d and k automatic",
}


@dataclass(frozen=True, eq=False)
class Measured:
    """One method on n images with s settings.

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

    def ods(self, counts: FloatArray) -> FloatArray:
        """Each metric with its one best setting for all images, (resamples, 3).

        Parameters
        ----------
        counts : (resamples, n) array
            How often each image is drawn.
        """
        covering = counts @ self.covered / (counts @ self.pixels)[:, None]
        n = counts.sum(axis=1, keepdims=True)
        pri, vi = counts @ self.pri / n, counts @ self.vi / n
        return np.stack([covering.max(axis=1), pri.max(axis=1), vi.min(axis=1)], axis=1)

    def ois(self, counts: FloatArray) -> FloatArray:
        """Each metric with its best setting for each image, (resamples, 3)."""
        covering = counts @ self.covered.max(axis=1) / (counts @ self.pixels)
        n = counts.sum(axis=1)
        pri, vi = counts @ self.pri.max(axis=1) / n, counts @ self.vi.min(axis=1) / n
        return np.stack([covering, pri, vi], axis=1)


@dataclass(frozen=True, eq=False)
class Benchmark:
    """All methods of a data set on the same images, and the resamples of these."""

    images: tuple[str, ...]
    measured: dict[tuple[str, int], Measured]
    """By method, and 1 for cleaned segmentations, else 0."""

    def methods(self) -> list[str]:
        """Name the methods in their usual order."""
        known = {method for method, _ in self.measured}
        return [method for method in (*METHODS, AUTO) if method in known]

    def counts(self) -> FloatArray:
        """Draw images with replacement, (1 + resamples, n); the first draws each once."""
        n = len(self.images)
        rng = np.random.default_rng(0)
        drawn = rng.multinomial(n, np.full(n, 1 / n), size=N_RESAMPLES)
        return np.concatenate([np.ones((1, n)), drawn])


def gather(rows: Sequence[Row]) -> Benchmark:
    """Arrange rows as arrays; an image counts only if every method has all its rows."""
    by_key: dict[tuple[str, int], dict[str, list[Row]]] = {}
    for row in rows:
        by_key.setdefault((row.method, row.cleaned), {}).setdefault(row.image, []).append(row)
    if not by_key:
        raise InvalidInputError("no image has been segmented, so there is no table to make")
    images = sorted(set.intersection(*(set(images) for images in by_key.values())))
    measured = {}
    for key, of_image in by_key.items():
        table = [sorted(of_image[name], key=lambda row: (row.d, row.k)) for name in images]
        if len({len(line) for line in table}) != 1:
            raise InvalidInputError(f"the method {key[0]} was run with several ranges of d")
        covered, pixels, pri, vi = (
            np.array([[getattr(row, name) for row in line] for line in table], dtype=np.float64)
            for name in ("covered", "pixels", "pri", "vi")
        )
        measured[key] = Measured(covered, pixels[:, 0], pri, vi)
    return Benchmark(tuple(images), measured)


def markdown(benchmark: Benchmark, title: str) -> str:
    """Write the tables of a benchmark."""
    parts = [
        f"# {title}",
        f"Images: {len(benchmark.images)}. ODS: the one d that is best for all images; OIS: the "
        "best d for each image, the paper's dynamic scheme; each metric has its own. Large "
        "covering and PRI are good, and small VI. In brackets, 95 % intervals from "
        f"{N_RESAMPLES} bootstrap resamples of the images, in each of which ODS and OIS choose "
        "anew.",
        "## k-means clusters as they are",
        _scores_table(benchmark, 0),
        "## Connected regions, those below 0.5 % of the image absorbed",
        _scores_table(benchmark, 1),
    ]
    if ("pfe", 0) in benchmark.measured and len(benchmark.methods()) > 1:
        parts += [
            "## PFE less the others (OIS)",
            "Differences on the same resamples. An interval without 0 separates the two; a "
            "positive covering and PRI and a negative VI speak for PFE.",
            _differences_table(benchmark),
        ]
    if {("pfe", 0), (AUTO, 0)} <= set(benchmark.measured):
        parts += ["## d and k chosen without ground truth", _auto_text(benchmark)]
    return "\n\n".join(parts) + "\n"


def _scores_table(benchmark: Benchmark, cleaned: int) -> str:
    counts = benchmark.counts()
    head = "| method |" + "".join(f" {m} ODS | {m} OIS |" for m in METRICS)
    lines = [head + " published (OIS) |", "|---" * (2 + 2 * len(METRICS)) + "|"]
    for method in benchmark.methods():
        measured = benchmark.measured[method, cleaned]
        ods, ois = measured.ods(counts), measured.ois(counts)
        cells = []
        for m in range(len(METRICS)):
            cells += [_estimate(ods[:, m]), "" if method == AUTO else _estimate(ois[:, m])]
        published = PUBLISHED.get(method) if not cleaned else None
        cells.append(_triple(published) if published else "")
        lines.append(f"| {NAMES[method]} | " + " | ".join(cells) + " |")
    if not cleaned:
        blank = "| " * (2 * len(METRICS))
        lines.append(f"| PFE of Yu et al. {blank}| {_triple(PUBLISHED_YU)} |")
    return "\n".join(lines)


def _differences_table(benchmark: Benchmark) -> str:
    counts = benchmark.counts()
    lines = [
        "| PFE less | " + " | ".join(METRICS) + " |" + "".join(f" {m}, cleaned |" for m in METRICS),
        "|---" * (1 + 2 * len(METRICS)) + "|",
    ]
    for method in benchmark.methods():
        if method in ("pfe", AUTO):
            continue
        cells = []
        for cleaned in (0, 1):
            ours = benchmark.measured["pfe", cleaned].ois(counts)
            theirs = benchmark.measured[method, cleaned].ois(counts)
            cells += [_estimate(d, sign="+") for d in (ours - theirs).T]
        lines.append(f"| {NAMES[method]} | " + " | ".join(cells) + " |")
    return "\n".join(lines)


def _auto_text(benchmark: Benchmark) -> str:
    counts = benchmark.counts()
    pfe, auto = benchmark.measured["pfe", 0], benchmark.measured[AUTO, 0]
    ods, ois, chosen = pfe.ods(counts), pfe.ois(counts), auto.ods(counts)
    lines = [
        "| metric | best fixed d = k (ODS) | automatic | best d = k per image (OIS) | "
        "automatic less ODS | share of the way from ODS to OIS |",
        "|---" * 6 + "|",
    ]
    for m, metric in enumerate(METRICS):
        gain, way = chosen[:, m] - ods[:, m], ois[:, m] - ods[:, m]
        share = f"{gain[0] / way[0]:.0%}" if way[0] else ""
        cells = [_estimate(x[:, m]) for x in (ods, chosen, ois)]
        lines.append(
            f"| {metric} | " + " | ".join([*cells, _estimate(gain, sign="+"), share]) + " |"
        )
    return "\n".join(lines)


def _estimate(values: FloatArray, sign: str = "") -> str:
    """Write the first value with the 95 % interval of the others."""
    low, high = np.percentile(values[1:], [2.5, 97.5])
    return f"{values[0]:{sign}.3f} [{low:{sign}.3f}, {high:{sign}.3f}]"


def _triple(figures: tuple[float, float, float]) -> str:
    return " / ".join(f"{figure:.2f}" for figure in figures)
