"""Compare PFEClustering with what people use now: how good clusters are, and how long they take.

Run it with ``make bench-clustering``. Toy sets and digits come with scikit-learn; the sets of the
clustering benchmark suite of M. Gagolewski, which are for research only, from CLUSTERING_ROOT if
that is set. All methods are told the number of clusters, but HDBSCAN, which cannot be.
"""

from __future__ import annotations

import argparse
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from measuring import ROOT, describe_machine
from sklearn import cluster, datasets, mixture
from sklearn.metrics import adjusted_rand_score, normalized_mutual_info_score
from sklearn.preprocessing import StandardScaler

from pfeseg import PFEClustering

Labels = np.ndarray
Method = Callable[[np.ndarray, int, int], Labels]

GROWTH = (1_000, 4_000, 16_000, 70_000)
"""Points of the sets on which time is measured."""

GROWING = ("PFEClustering", "SpectralClustering", "HDBSCAN", "KMeans")
"""Methods of which time is measured; the others need memory that grows with the square."""

LONGEST = 180.0
"""Seconds that a method may be expected to take, by its growth so far; else it is left out."""


def _pfe(X: np.ndarray, k: int, seed: int) -> Labels:
    return PFEClustering(k, random_state=seed).fit_predict(X)


def _spectral(X: np.ndarray, k: int, seed: int) -> Labels:
    method = cluster.SpectralClustering(
        k, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=seed
    )
    return method.fit_predict(X)


METHODS: dict[str, Method] = {
    "PFEClustering": _pfe,
    "SpectralClustering": _spectral,
    "HDBSCAN": lambda X, k, seed: cluster.HDBSCAN(copy=True).fit_predict(X),
    "KMeans": lambda X, k, seed: cluster.KMeans(k, n_init=10, random_state=seed).fit_predict(X),
    "GaussianMixture": lambda X, k, seed: mixture.GaussianMixture(
        k, n_init=3, random_state=seed
    ).fit_predict(X),
    "Ward": lambda X, k, seed: cluster.AgglomerativeClustering(k).fit_predict(X),
}


@dataclass(frozen=True)
class DataSet:
    """Points, and one or more ways to cluster them that are right; -1 marks noise."""

    name: str
    X: np.ndarray
    truths: tuple[Labels, ...]


def toy_sets() -> Iterator[DataSet]:
    """Make the sets of scikit-learn's comparison of clusterings, and load its digits."""
    n, seed = 500, 30
    yield _toy("circles", *datasets.make_circles(n, factor=0.5, noise=0.05, random_state=seed))
    yield _toy("moons", *datasets.make_moons(n, noise=0.05, random_state=seed))
    X, y = datasets.make_blobs(n, cluster_std=[1.0, 2.5, 0.5], random_state=170)
    yield _toy("blobs of different spread", X, y)
    X, y = datasets.make_blobs(n, random_state=170)
    yield _toy("stretched blobs", X @ [[0.6, -0.6], [-0.4, 0.8]], y)
    yield _toy("blobs", *datasets.make_blobs(n, random_state=8))
    yield DataSet("digits", *_with_truth(*datasets.load_digits(return_X_y=True)))
    for name in ("iris", "wine", "breast_cancer"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield _toy(name, X, y)


def _toy(name: str, X: np.ndarray, y: Labels) -> DataSet:
    return DataSet(name, *_with_truth(StandardScaler().fit_transform(X), y))


def _with_truth(X: np.ndarray, y: Labels) -> tuple[np.ndarray, tuple[Labels, ...]]:
    return X, (y,)


def suite(root: Path) -> Iterator[DataSet]:
    """Load the benchmark suite; label 0 is noise there."""
    for path in sorted(root.glob("*/*.data.gz")):
        base = path.name.removesuffix(".data.gz")
        truths = [np.loadtxt(p, dtype=int) - 1 for p in sorted(path.parent.glob(f"{base}.labels*"))]
        yield DataSet(f"{path.parent.name}/{base}", np.loadtxt(path, ndmin=2), tuple(truths))


def judge(data: DataSet, method: Method, seed: int = 0) -> dict[str, float]:
    """Cluster a set as often as its truths differ in their number, and keep the best agreement."""
    scores, seconds = [], 0.0
    found: dict[int, Labels] = {}
    for truth in data.truths:
        k = int(truth.max()) + 1
        if k not in found:
            started = time.perf_counter()
            found[k] = method(data.X, k, seed)
            seconds = max(seconds, time.perf_counter() - started)
        known = truth >= 0
        pair = truth[known], found[k][known]
        scores.append((adjusted_rand_score(*pair), normalized_mutual_info_score(*pair)))
    ari, nmi = max(scores)
    return {"ARI": ari, "NMI": nmi, "seconds": seconds}


def compare(sets: list[DataSet], title: str) -> dict[str, dict[str, dict[str, float]]]:
    """Judge every method on every set, and print a table with the means."""
    results: dict[str, dict[str, dict[str, float]]] = {}
    print(f"\n{title}: ARI / NMI / seconds")
    for name, method in METHODS.items():
        of_sets = {data.name: judge(data, method) for data in sets}
        results[name] = of_sets
        mean = {
            key: float(np.mean([r[key] for r in of_sets.values()]))
            for key in ("ARI", "NMI", "seconds")
        }
        print(f"{name:20} {_cell(mean)}", flush=True)
        for data in sets if len(sets) < 12 else ():
            print(f"    {data.name:30} {_cell(of_sets[data.name])}", flush=True)
    return results


def _cell(result: dict[str, float]) -> str:
    return f"{result['ARI']:.3f} / {result['NMI']:.3f} / {result['seconds']:.2f} s"


def growing(n: int) -> DataSet:
    """Make n points on ten curved sheets in 784 dimensions, with some noise."""
    rng = np.random.default_rng(0)
    k, inner, outer = 10, 8, 784
    y = rng.integers(0, k, n)
    X = np.empty((n, outer), dtype=np.float32)
    for label in range(k):
        inside = np.flatnonzero(y == label)
        flat = rng.normal(size=(len(inside), inner))
        bent = np.concatenate([flat, np.sin(2 * flat), flat**2 / 3], axis=1)
        frame = rng.normal(size=(3 * inner, outer)) / np.sqrt(outer)
        X[inside] = bent @ frame + rng.normal(size=outer) * 0.12
    X += rng.normal(scale=0.05, size=X.shape).astype(np.float32)
    return DataSet(f"{n} points", X, (y,))


def time_growth(sizes: tuple[int, ...]) -> dict[str, list[tuple[int, float, float]]]:
    """Time each method on more and more points until it takes too long."""
    taken: dict[str, list[tuple[int, float, float]]] = {name: [] for name in GROWING}
    for n in sizes:
        data = growing(n)
        for name in GROWING:
            method = METHODS[name]
            seconds = [time_ for _, time_, _ in taken[name]]
            if len(seconds) < len(taken["PFEClustering"]) - 1 or _expected(seconds) > LONGEST:
                continue
            result = judge(data, method)
            taken[name].append((n, result["seconds"], result["ARI"]))
            print(f"{name:20} {n:6} x 784 {_cell(result)}", flush=True)
    return taken


def _expected(seconds: list[float]) -> float:
    """Return how long the next size will take if it is to the last as that to the one before."""
    return seconds[-1] ** 2 / seconds[-2] if len(seconds) > 1 else 0.0


def draw(path: Path) -> None:
    """Draw the toy sets in the plane, clustered by some of the methods."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    from pfeseg.pictures.colours import palette

    flat = [data for data in toy_sets() if data.X.shape[1] == 2]
    shown = {
        name: METHODS[name] for name in ("KMeans", "SpectralClustering", "HDBSCAN", "PFEClustering")
    }
    figure, axes = plt.subplots(
        len(flat), len(shown), figsize=(9, 2.1 * len(flat)), constrained_layout=True
    )
    colours = np.concatenate([[[0.6, 0.6, 0.6]], palette(24)])  # grey is noise
    for row, data in zip(axes, flat, strict=True):
        for axis, (name, method) in zip(row, shown.items(), strict=True):
            labels = method(data.X, int(data.truths[0].max()) + 1, 0)
            score = adjusted_rand_score(data.truths[0], labels)
            shown_as = np.where(labels < 0, 0, labels % 24 + 1)
            axis.scatter(*data.X.T, s=4, color=colours[shown_as])
            axis.set(xticks=[], yticks=[])
            if data is flat[0]:
                axis.set_title(name, fontsize=10)
            axis.text(0.98, 0.03, f"{score:.2f}", transform=axis.transAxes, ha="right", fontsize=9)
    figure.savefig(path, dpi=60, pil_kwargs={"optimize": True})


def main() -> None:
    """Compare, time and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--json", type=Path, help="file to write all figures to")
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "clustering.png")
    parser.add_argument("--only", choices=("quality", "growth", "plot"), help="a part of it")
    chosen = parser.parse_args()
    record: dict[str, Any] = {"machine": describe_machine()}
    if chosen.only in (None, "quality"):
        record["sets of scikit-learn"] = compare(list(toy_sets()), "Sets of scikit-learn")
        root = os.environ.get("CLUSTERING_ROOT")
        if root:
            record["suite"] = compare(list(suite(Path(root))), "Sets of the benchmark suite, mean")
        else:
            print("\nThe benchmark suite is left out, as CLUSTERING_ROOT is not set")
    if chosen.only in (None, "growth"):
        record["growth"] = time_growth(GROWTH)
    if chosen.only in (None, "plot"):
        draw(chosen.plot)
    if chosen.json:
        chosen.json.write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
