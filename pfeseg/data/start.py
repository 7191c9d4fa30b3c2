"""Starts of the embedding of a graph of data: labels that the solver then improves."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import polar, qr
from sklearn.cluster import KMeans
from sklearn.mixture import GaussianMixture

from pfeseg.solver.graph import Graph
from pfeseg.solver.spectral import laplacian_eigenmaps

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int32]

KMEANS_RUNS = 10
MIXTURE_RUNS = 3


def labels_by(name: str, X: Any, graph: Graph, k: int, seed: int) -> Labels:
    """Cluster points X or their graph by the start of that name."""
    if name == "spectral":
        return spectral_labels(leading_vectors(graph, k))
    return {"kmeans": kmeans_labels, "gmm": mixture_labels}[name](X, k, seed)


def spectral_labels(vectors: FloatArray) -> Labels:
    """Assign rows of eigenvectors, (n, k), to k clusters by a pivoted QR factorisation.

    A. Damle, V. Minden and L. Ying, Simple, direct and efficient multi-way spectral clustering,
    2019. Nothing in it is random.
    """
    k = vectors.shape[1]
    pivots = qr(vectors.T, pivoting=True)[2]
    rotation, _ = polar(vectors[pivots[:k]].T)
    return np.asarray(np.abs(vectors @ rotation).argmax(axis=1), dtype=np.int32)


def leading_vectors(graph: Graph, k: int) -> FloatArray:
    """Compute the first k eigenvectors, the rows scaled as in symmetric normalisation, (n, k)."""
    vectors = laplacian_eigenmaps(graph, k).vectors[:, :k]
    return np.asarray(vectors * np.sqrt(graph.degrees)[:, None])


def kmeans_labels(X: Any, k: int, seed: int) -> Labels:
    """Cluster the points themselves by k-means."""
    found = KMeans(k, n_init=KMEANS_RUNS, random_state=seed).fit(X)
    return np.asarray(found.labels_, dtype=np.int32)


def mixture_labels(X: Any, k: int, seed: int) -> Labels:
    """Cluster the points themselves by a mixture of k Gaussians."""
    mixture = GaussianMixture(k, n_init=MIXTURE_RUNS, random_state=seed, reg_covar=_ridge(X))
    return np.asarray(mixture.fit_predict(X), dtype=np.int32)


def one_hot(labels: Labels, k: int) -> NDArray[np.float32]:
    """Return the indicators of k clusters, (n, k)."""
    return np.eye(k, dtype=np.float32)[labels]


def _ridge(X: Any) -> float:
    """Return what is added to variances so that no component collapses, in the data's own units."""
    variance = float(np.var(X, axis=0, dtype=np.float64).mean())
    return 1e-6 * variance or 1e-6
