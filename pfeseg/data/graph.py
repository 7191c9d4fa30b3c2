"""Graphs of data points: who is whose neighbour, and how near."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array
from scipy.sparse.csgraph import connected_components
from sklearn.metrics import pairwise_distances, pairwise_distances_argmin_min

from pfeseg.data.neighbours import nearest_rows
from pfeseg.errors import InvalidInputError, argument
from pfeseg.solver.graph import Graph

FloatArray = NDArray[np.floating[Any]]

SCALE_FLOOR = 1e-6
"""Smallest local scale, in units of their mean: points that coincide have none of their own."""

BRIDGE_ROWS = 1_000
"""Rows of a piece that look for the shortest link to the others."""

WEAKEST_EDGE = 1e-12
"""Edges of a dense graph that weigh less are left out."""


@dataclass(frozen=True, eq=False)
class DataGraph:
    """A graph of data points, and how long its edges are, (m,)."""

    graph: Graph
    lengths: NDArray[np.float64]


def neighbour_graphs(
    X: Any,
    counts: tuple[int, ...],
    gamma: float | None = None,
    *,
    seed: int = 0,
    n_jobs: int | None = None,
) -> list[DataGraph]:
    """Join each row to its nearest neighbours, and the pieces that this leaves by shortest links.

    Parameters
    ----------
    X : (n, features) array or sparse matrix
    counts : tuple of int
        Numbers of neighbours, for one graph each. Two rows are joined where one is among the
        nearest of the other; n - 1 are taken where there are fewer.
    gamma : float, optional
        Weights are ``exp(-gamma distance^2)``; by default ``exp(-distance^2 / (s_i s_j))``, s_i
        being the distance of row i to its furthest neighbour, so that dense and sparse places
        count alike.
    seed : int
        For the search for neighbours where it is approximate.
    n_jobs : int, optional
    """
    n = X.shape[0]
    counts = tuple(sorted({min(k, n - 1) for k in counts}))
    if counts[-1] == 0:
        return [DataGraph(Graph.from_edges(n, [], []), np.empty(0))]
    _check_range(X)
    distances, columns = nearest_rows(X, counts[-1], seed, n_jobs)
    return [_joined(X, distances[:, :k], columns[:, :k], gamma) for k in counts]


def dense_graph(X: Any, n_neighbors: int, gamma: float | None, n_jobs: int | None) -> DataGraph:
    """Join each row to all others; the weights are those of `neighbour_graphs`."""
    n = X.shape[0]
    _check_range(X)
    distances = pairwise_distances(X, n_jobs=n_jobs)
    k = min(n_neighbors, n - 1)
    scales = None if gamma is not None else local_scales(np.partition(distances, k, axis=1)[:, k])
    i, j = np.triu_indices(n, 1)
    pairs = np.stack([i, j], axis=1)
    return _weighted(n, pairs, distances[i, j], scales, gamma, WEAKEST_EDGE)


def graph_of_distances(distances: Any, gamma: float | None) -> DataGraph:
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


def graph_of_affinities(affinities: Any) -> DataGraph:
    """Make a graph of the mean of a matrix of weights, (n, n), and its transpose.

    What is alike is near: the length of an edge is minus the logarithm of its weight.
    """
    matrix = csr_array(affinities, dtype=np.float64)
    if matrix.data.min(initial=0.0) < 0:
        raise InvalidInputError(
            f"affinities must not be negative, found {matrix.data.min():g}; distances need "
            f"{argument('affinity', 'precomputed_nearest_neighbors')}"
        )
    symmetric = ((matrix + matrix.T) / 2).tocoo()
    upper = (symmetric.row < symmetric.col) & (symmetric.data > 0)
    pairs = np.stack([symmetric.row[upper], symmetric.col[upper]], axis=1)
    weights = symmetric.data[upper] / (symmetric.data[upper].max(initial=0.0) or 1.0)
    graph = Graph.from_edges(matrix.shape[0], pairs, weights)
    return DataGraph(graph, -np.log(graph.weights))


def pieces(graph: Graph) -> NDArray[np.int32]:
    """Return the number of the connected piece in which each node lies, (n,)."""
    labels: NDArray[np.int32] = connected_components(graph.W, directed=False)[1]
    return labels


def local_scales(furthest: FloatArray) -> NDArray[np.float64]:
    """Return the scale of each point, above 0 even where points coincide."""
    scales = np.asarray(furthest, dtype=np.float64)
    mean = float(scales.mean())
    return np.maximum(scales, SCALE_FLOOR * mean if mean > 0 else 1.0)


def _check_range(X: Any) -> None:
    """Refuse numbers whose squared distances are infinite."""
    largest = float(abs(X).max())
    if not largest < np.sqrt(np.finfo(X.dtype).max / (4 * X.shape[1])):
        raise InvalidInputError(
            f"the distances of rows must be finite numbers, found values up to {largest:g}; "
            "scale the features, by StandardScaler for example"
        )


def _joined(X: Any, distances: FloatArray, columns: NDArray[Any], gamma: float | None) -> DataGraph:
    """Make a graph in one piece of nearest neighbours, (n, k)."""
    n, k = columns.shape
    pairs = np.stack([np.repeat(np.arange(n), k), columns.ravel()], axis=1)
    lengths = distances.ravel().astype(np.float64)
    bridges, bridge_lengths = _shortest_bridges(X, pairs)
    pairs, lengths = np.concatenate([pairs, bridges]), np.concatenate([lengths, bridge_lengths])
    scales = None if gamma is not None else local_scales(distances[:, -1])
    return _weighted(n, pairs, lengths, scales, gamma)


def _weighted(
    n: int,
    pairs: NDArray[Any],
    lengths: NDArray[np.float64],
    scales: NDArray[np.float64] | None,
    gamma: float | None,
    weakest: float = 0.0,
) -> DataGraph:
    """Make a graph of pairs, which may come twice, and their lengths."""
    pairs = np.sort(pairs, axis=1)
    _, first = np.unique(pairs[:, 0].astype(np.int64) * n + pairs[:, 1], return_index=True)
    pairs, lengths = pairs[first].astype(np.int32), lengths[first]
    if scales is not None:
        weights = np.exp(-(lengths**2) / (scales[pairs[:, 0]] * scales[pairs[:, 1]]))
    else:
        weights = np.exp(-float(gamma or 0) * lengths**2)
        if len(weights) and weights.max() < WEAKEST_EDGE:
            raise InvalidInputError(
                f"with {argument('gamma')} {gamma:g} all affinities vanish, as the shortest "
                f"distance is {lengths.min():g}; lower {argument('gamma')}"
            )
    kept = weights >= weakest
    return DataGraph(Graph.unchecked(n, pairs[kept], weights[kept]), lengths[kept])


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
                one, other, length = _nearest_pair(X, inside, outside)
                ends.append((one, other))
                lengths.append(length)


def _nearest_pair(
    X: Any, inside: NDArray[np.intp], outside: NDArray[np.intp]
) -> tuple[int, int, float]:
    """Find the shortest link between two sets of rows.

    Only some rows of a large set inside look outside; then the row that they find looks back.
    """
    some = inside[:: -(-len(inside) // BRIDGE_ROWS)]
    nearest, distance = pairwise_distances_argmin_min(X[some], X[outside])
    first = int(distance.argmin())
    one, other, length = int(some[first]), int(outside[nearest[first]]), float(distance[first])
    if len(some) < len(inside):
        back, distance = pairwise_distances_argmin_min(X[[other]], X[inside])
        one, length = int(inside[back[0]]), float(distance[0])
    return one, other, length
