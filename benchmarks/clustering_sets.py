"""Score clusterings of the sets in CLUSTERING_ROOT, and of scikit-learn's own sets.

``python benchmarks/clustering_sets.py [FOLDER] [--seeds 5] [--rivals] [--auto]``

The score is the adjusted Rand index with the number of clusters of the reference; points that a
reference calls noise (label 0) do not count. The best over the references of a set counts.
"""

from __future__ import annotations

import argparse
import os
import time
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
from sklearn import datasets
from sklearn.cluster import AgglomerativeClustering, KMeans, SpectralClustering
from sklearn.metrics import adjusted_rand_score
from sklearn.mixture import GaussianMixture
from sklearn.preprocessing import StandardScaler

from pfeseg import PFEClustering

Set = tuple[str, np.ndarray, list[np.ndarray]]
Method = Callable[[np.ndarray, int, int], np.ndarray]


def sets_in(folder: Path) -> Iterator[Set]:
    """Read the sets of a folder, as its README describes them."""
    for path in sorted(folder.rglob("*.data.gz")):
        stem = path.name.removesuffix(".data.gz")
        references = [
            np.loadtxt(each, dtype=int) for each in sorted(path.parent.glob(f"{stem}.labels*.gz"))
        ]
        yield f"{path.parent.name}/{stem}", np.loadtxt(path, ndmin=2), references


def toy_sets() -> Iterator[Set]:
    """Make scikit-learn's sets, those of its comparison of clusterings among them."""
    for name in ("iris", "wine", "breast_cancer", "digits"):
        X, y = getattr(datasets, f"load_{name}")(return_X_y=True)
        yield name, X if name in ("iris", "digits") else StandardScaler().fit_transform(X), [y + 1]
    for noise in (0.05, 0.1, 0.15):
        X, y = datasets.make_moons(500, noise=noise, random_state=1)
        yield f"moons {noise}", X, [y + 1]
    for noise in (0.05, 0.1):
        X, y = datasets.make_circles(500, factor=0.5, noise=noise, random_state=1)
        yield f"circles {noise}", X, [y + 1]
    X, y = datasets.make_blobs(500, random_state=8)
    yield "blobs", X, [y + 1]
    X, y = datasets.make_blobs(500, random_state=170)
    yield "anisotropic", X @ np.array([[0.6, -0.6], [-0.4, 0.8]]), [y + 1]
    X, y = datasets.make_blobs(500, cluster_std=[1, 2.5, 0.5], random_state=170)
    yield "varied", X, [y + 1]
    for k, spread in ((12, 0.8), (25, 0.6)):
        X, y = datasets.make_blobs(1500, centers=k, cluster_std=spread, random_state=k)
        yield f"{k} blobs", X, [y + 1]
    X, y = datasets.make_blobs(600, n_features=10, centers=6, cluster_std=3, random_state=5)
    yield "blobs 10-D", X, [y + 1]


METHODS: dict[str, Method] = {
    "pfe": lambda X, k, seed: PFEClustering(k, random_state=seed).fit_predict(X),
}
RIVALS: dict[str, Method] = {
    "k-means": lambda X, k, seed: KMeans(k, n_init=10, random_state=seed).fit_predict(X),
    "mixture": lambda X, k, seed: GaussianMixture(
        k, n_init=3, reg_covar=1e-6 * X.var(), random_state=seed
    ).fit_predict(X),
    "ward": lambda X, k, seed: AgglomerativeClustering(k).fit_predict(X),
    "spectral": lambda X, k, seed: SpectralClustering(
        k, affinity="nearest_neighbors", assign_labels="cluster_qr", random_state=seed
    ).fit_predict(X),
}


def score(labels: np.ndarray, reference: np.ndarray) -> float:
    """Compare labels with a reference, noise left out."""
    known = reference > 0
    return float(adjusted_rand_score(reference[known], labels[known]))


def score_of(method: Method, X: np.ndarray, references: list[np.ndarray], seed: int) -> float:
    """Cluster with the number of clusters of each reference; return the best score."""
    found = {k: method(X, k, seed) for k in {int(each.max()) for each in references}}
    return max(score(found[int(each.max())], each) for each in references)


def print_scores(sets: list[Set], methods: dict[str, Method], seeds: int) -> None:
    """Print a row for each set, a column for each method and seed."""
    columns = [f"{name} {seed}" if seeds > 1 else name for name in methods for seed in range(seeds)]
    print(f"{'':24}", *(f"{name:>9}" for name in columns))
    rows = []
    spent = np.zeros(len(columns))
    for name, X, references in sets:
        row = []
        for at, (method, seed) in enumerate((m, s) for m in methods.values() for s in range(seeds)):
            started = time.perf_counter()
            row.append(score_of(method, X, references, seed))
            spent[at] += time.perf_counter() - started
        rows.append(row)
        print(f"{name:24}", *(f"{value:9.3f}" for value in row), flush=True)
    print(f"{'mean':24}", *(f"{value:9.3f}" for value in np.mean(rows, axis=0)))
    print(f"{'seconds':24}", *(f"{value:9.1f}" for value in spent))


def print_counts(sets: list[Set]) -> None:
    """Print how often n_clusters="auto" finds a number of clusters that a reference has."""
    right, near = 0, 0
    for name, X, references in sets:
        known = {int(each.max()) for each in references}
        count = PFEClustering(random_state=0).fit(X).n_clusters_
        right += count in known
        near += min(abs(count - k) for k in known) <= 1
        print(f"{name:24} {count:3} of {sorted(known)}", flush=True)
    print(f"right {right}, at most one off {near}, of {len(sets)}")


def main() -> None:
    """Score what the arguments name."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", nargs="?", default=os.environ.get("CLUSTERING_ROOT"))
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--rivals", action="store_true")
    parser.add_argument("--auto", action="store_true")
    arguments = parser.parse_args()
    warnings.simplefilter("ignore")
    methods = {**METHODS, **(RIVALS if arguments.rivals else {})}
    groups = [list(toy_sets())]
    if arguments.folder:
        groups.insert(0, list(sets_in(Path(arguments.folder))))
    for sets in groups:
        if arguments.auto:
            print_counts(sets)
        else:
            print_scores(sets, methods, arguments.seeds)


if __name__ == "__main__":
    main()
