"""Graphs of data points: who is whose neighbour, and how near."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min
from sklearn.neighbors import NearestNeighbors

from pfeseg.solver.graph import Graph

FloatArray = NDArray[np.floating[Any]]

SCALE_FLOOR = 1e-6
"""Smallest local scale, in units of their mean: points that coincide have none of their own."""

WEAKEST_EDGE = 1e-12
"""Edges of a dense graph that weigh less are left out."""


def neighbour_graph(
    X: Any, n_neighbors: int, gamma: float | None = None, n_jobs: int | None = None
) -> Graph:
    """Join each row to its nearest neighbours, and the pieces that this leaves by shortest links.

    Parameters
    ----------
    X : (n, features) array or sparse matrix
    n_neighbors : int
        Two rows are joined where one is among the nearest of the other; n - 1 are taken where
        there are fewer.
    gamma : float, optional
        Weights are ``exp(-gamma distance^2)``; by default ``exp(-distance^2 / (s_i s_j))``, s_i
        being the distance of row i to its furthest neighbour, so that dense and sparse places
        count alike.
    """
    n = X.shape[0]
    k = min(n_neighbors, n - 1)
    if k == 0:
        return Graph.from_edges(n, [], [])
    distances, columns = NearestNeighbors(n_neighbors=k, n_jobs=n_jobs).fit(X).kneighbors()
    pairs = np.stack([np.repeat(np.arange(n), k), columns.ravel()], axis=1)
    lengths = distances.ravel().astype(np.float64)
    bridges, bridge_lengths = _shortest_bridges(X, pairs)
    pairs, lengths = np.concatenate([pairs, bridges]), np.concatenate([lengths, bridge_lengths])
    scales = None if gamma is not None else local_scales(distances[:, -1])
    return _weighted(n, pairs, lengths, scales, gamma)


def dense_graph(X: Any, n_neighbors: int, gamma: float | None, n_jobs: int | None) -> Graph:
    """Join each row to all others; the weights are those of `neighbour_graph`."""
    n = X.shape[0]
    distances = pairwise_distances(X, n_jobs=n_jobs)
    k = min(n_neighbors, n - 1)
    scales = None if gamma is not None else local_scales(np.partition(distances, k, axis=1)[:, k])
    i, j = np.triu_indices(n, 1)
    pairs = np.stack([i, j], axis=1)
    return _weighted(n, pairs, distances[i, j], scales, gamma, WEAKEST_EDGE)


def graph_of_distances(distances: Any, gamma: float | None) -> Graph:
    """Make a graph of the sparse distances of neighbours, (n, n), as scikit-learn gives them."""
    matrix = csr_array(distances).tocoo()
    n = matrix.shape[0]
    off = matrix.row != matrix.col
    pairs = np.stack([matrix.row[off], matrix.col[off]], axis=1)
    lengths = matrix.data[off].astype(np.float64)
    furthest = np.zeros(n)
    np.maximum.at(furthest, pairs[:, 0], lengths)
    scales = None if gamma is not None else local_scales(furthest)
    return _weighted(n, pairs, lengths, scales, gamma)


def graph_of_affinities(affinities: Any) -> Graph:
    """Make a graph of the mean of a matrix of weights, (n, n), and its transpose."""
    matrix = csr_array(affinities, dtype=np.float64)
    symmetric = (matrix + matrix.T).tocoo() / 2
    upper = (symmetric.row < symmetric.col) & (symmetric.data > 0)
    pairs = np.stack([symmetric.row[upper], symmetric.col[upper]], axis=1)
    largest = symmetric.data[upper].max(initial=0.0) or 1.0
    return Graph.from_edges(matrix.shape[0], pairs, symmetric.data[upper] / largest)


def pieces(graph: Graph) -> NDArray[np.int32]:
    """Return the number of the connected piece in which each node lies, (n,)."""
    labels: NDArray[np.int32] = connected_components(graph.W, directed=False)[1]
    return labels


def local_scales(furthest: FloatArray) -> NDArray[np.float64]:
    """Return the scale of each point, above 0 even where points coincide."""
    scales = np.asarray(furthest, dtype=np.float64)
    mean = float(scales.mean())
    return np.maximum(scales, SCALE_FLOOR * mean if mean > 0 else 1.0)


def _weighted(
    n: int,
    pairs: NDArray[Any],
    lengths: NDArray[np.float64],
    scales: NDArray[np.float64] | None,
    gamma: float | None,
    weakest: float = 0.0,
) -> Graph:
    """Make a graph of pairs, which may come twice, and their lengths."""
    pairs = np.sort(pairs, axis=1)
    _, first = np.unique(pairs[:, 0].astype(np.int64) * n + pairs[:, 1], return_index=True)
    pairs, squared = pairs[first].astype(np.int32), lengths[first] ** 2
    if scales is not None:
        weights = np.exp(-squared / (scales[pairs[:, 0]] * scales[pairs[:, 1]]))
    else:
        weights = np.exp(-float(gamma or 0) * squared)
    kept = weights >= weakest
    return Graph.unchecked(n, pairs[kept], weights[kept])


def _shortest_bridges(X: Any, pairs: NDArray[Any]) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Find the shortest links that make one piece of all, by Boruvka's rounds.

    In each round, every piece but the largest is joined to the nearest point outside.
    """
    n = X.shape[0]
    ends: list[tuple[int, int]] = []
    lengths: list[float] = []
    while True:
        joined = np.concatenate([pairs, np.array(ends, dtype=pairs.dtype).reshape(-1, 2)])
        ones = np.ones(len(joined), dtype=bool)
        adjacency = coo_array((ones, (joined[:, 0], joined[:, 1])), shape=(n, n))
        count, labels = connected_components(adjacency, directed=False)
        if count == 1:
            return np.array(ends, dtype=np.intp).reshape(-1, 2), np.array(lengths)
        largest = np.bincount(labels).argmax()
        for piece in range(count):
            if piece != largest:
                inside = np.flatnonzero(labels == piece)
                outside = np.flatnonzero(labels != piece)
                nearest, distance = pairwise_distances_argmin_min(X[inside], X[outside])
                one = int(distance.argmin())
                ends.append((int(inside[one]), int(outside[nearest[one]])))
                lengths.append(float(distance[one]))
