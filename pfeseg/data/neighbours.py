"""The nearest neighbours of each row: exact, or approximate where there are many rows."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.neighbors import NearestNeighbors

EXACT_ROWS = 20_000
"""Up to here, neighbours are exact; beyond, approximate if pynndescent is installed."""

TREE_FEATURES = 15
"""With so few features, a tree finds exact neighbours faster than an approximate search."""


def nearest_rows(
    X: Any, k: int, seed: int, n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Return the distances, (n, k), and the indices of the k nearest other rows, nearest first."""
    n, features = X.shape
    if n > EXACT_ROWS and features > TREE_FEATURES and find_spec("pynndescent"):
        return _approximate(X, k, seed, n_jobs)
    found: tuple[NDArray[Any], NDArray[np.intp]]
    found = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(X).kneighbors()
    return found


def _approximate(
    X: Any, k: int, seed: int, n_jobs: int | None
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Find them by nearest neighbour descent; a row may find fewer than k, which then repeat."""
    from pynndescent import NNDescent

    index = NNDescent(
        X.tocsr() if issparse(X) else X,
        n_neighbors=k + 1,
        random_state=seed % 2**31,
        n_jobs=n_jobs,
    )
    columns, distances = index.neighbor_graph
    return without_self(np.asarray(distances), np.asarray(columns, dtype=np.intp))


def without_self(
    distances: NDArray[Any], columns: NDArray[np.intp]
) -> tuple[NDArray[Any], NDArray[np.intp]]:
    """Drop each row itself from its neighbours, (n, k + 1), or the last where it is not there."""
    n = len(columns)
    own = columns == np.arange(n)[:, None]
    own[~own.any(axis=1), -1] = True
    shape = (n, columns.shape[1] - 1)
    return distances[~own].reshape(shape), columns[~own].reshape(shape)
