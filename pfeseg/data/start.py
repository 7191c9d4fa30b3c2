"""Starts of the embedding of a graph of data: labels that the solver then improves."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import polar, qr
from scipy.sparse import diags_array
from scipy.sparse.linalg import eigsh
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from pfeseg.data.graph import DataGraph
from pfeseg.data.tree import tree_labels
from pfeseg.labels.maps import consecutive
from pfeseg.solver.graph import Graph
from pfeseg.solver.spectral import laplacian_eigenmaps

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int32]

STARTS = ("spectral", "tree", "kmeans", "gmm")

KMEANS_RUNS = 10
"""One run only where there are more points than `MANY_POINTS`."""

MIXTURE_RUNS = 3

MANY_POINTS = 10_000
"""Where there are more, starts take less care."""

EXACT_NODES = 5_000
"""Eigenvectors of larger graphs are computed without factorising, and less exactly."""

ROUGH_TOLERANCE = 1e-3


def labels_by(name: str, X: Any, data: DataGraph, k: int, seed: int) -> Labels:
    """Cluster points X or their graph by the start of that name; fewer than k may come out."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)  # a start need not be the best
        if name == "spectral":
            found = spectral_labels(leading_vectors(data.graph, k))
        elif name == "tree":
            found = tree_labels(data, k)
        elif name == "kmeans":
            runs = KMEANS_RUNS if X.shape[0] <= MANY_POINTS else 1
            found = KMeans(k, n_init=runs, random_state=seed).fit(X).labels_
        else:
            mixture = GaussianMixture(
                k, n_init=MIXTURE_RUNS, random_state=seed, reg_covar=_ridge(X)
            )
            found = mixture.fit_predict(X)
    return consecutive(found)


def spectral_labels(vectors: FloatArray) -> Labels:
    """Assign rows of eigenvectors, (n, k), to k clusters by a pivoted QR factorisation.

    A. Damle, V. Minden and L. Ying, Simple, direct and efficient multi-way spectral clustering,
    2019. Nothing in it is random.
    """
    k = vectors.shape[1]
    pivots = qr(vectors.T, pivoting=True, mode="r")[1]
    rotation, _ = polar(vectors[pivots[:k]].T)
    return np.asarray(np.abs(vectors @ rotation).argmax(axis=1), dtype=np.int32)


def leading_vectors(graph: Graph, k: int) -> FloatArray:
    """Compute the first k eigenvectors, the rows scaled as in symmetric normalisation, (n, k)."""
    return _eigenpairs(graph, k)[1]


def leading_values(graph: Graph, k: int) -> FloatArray:
    """Compute the first k eigenvalues, ascending."""
    return _eigenpairs(graph, k)[0]


def _eigenpairs(graph: Graph, k: int) -> tuple[FloatArray, FloatArray]:
    if graph.n_nodes > EXACT_NODES:
        scale = diags_array(1 / np.sqrt(graph.degrees))
        first = np.random.default_rng(0).standard_normal(graph.n_nodes)
        values, vectors = eigsh(
            scale @ graph.W @ scale, k, which="LA", tol=ROUGH_TOLERANCE, v0=first
        )
        return np.asarray(1 - values[::-1]), np.asarray(vectors[:, ::-1])
    found = laplacian_eigenmaps(graph, k)
    vectors = found.vectors[:, :k] * np.sqrt(graph.degrees)[:, None]
    return found.values[:k], np.asarray(vectors)


def one_hot(labels: NDArray[np.integer[Any]]) -> NDArray[np.float32]:
    """Return the indicators of labels 0 to k - 1, (n, k)."""
    indicators: NDArray[np.float32] = np.eye(int(labels.max()) + 1, dtype=np.float32)
    return np.asarray(indicators[labels])


def _ridge(X: Any) -> float:
    """Return what is added to variances so that no component collapses, in the data's units."""
    variance = float(np.var(X, axis=0, dtype=np.float64).mean())
    return 1e-6 * variance or 1e-6
