"""Weighted graphs."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.checks import any_array, number_array, shown, whole_number
from pfeseg.errors import InvalidInputError

if TYPE_CHECKING:
    from scipy.sparse import coo_array, csr_array, sparray, spmatrix

FloatArray = NDArray[np.float64]

WEIGHT_FLOOR = 1e-30
"""Smallest weight. Its square vanishes in single precision: such an edge ties nothing together."""

MAX_WEIGHT = 1e12
"""Largest weight; the method is made for weights in (0, 1]."""

MAX_NODES = 2**31 - 1
"""Nodes are numbered in 32 bits."""

ASYMMETRY = 1e-6
"""Weights of a pair may differ by this share of the largest weight, as rounding makes them."""

DEGREE_FLOOR = 1e-6
"""Smallest degree, in units of the mean degree, so that D is invertible for isolated nodes too."""


@dataclass(frozen=True, eq=False, repr=False)
class Graph:
    """Undirected weighted graph, each edge stored once.

    Make one with `from_edges`, which validates.

    Attributes
    ----------
    n_nodes : int
    edges : (m, 2) int32 array
        Node indices with ``edges[:, 0] < edges[:, 1]``.
    weights : (m,) float array
        At least `WEIGHT_FLOOR`.
    degrees : (n,) float array
        Sum of the weights at each node, at least `DEGREE_FLOOR` times their
        mean; 1 everywhere in a graph without edges.
    positions : (n, c) int32 array or None
        Where the nodes lie, if they lie anywhere. They never change what is solved, only how
        fast: nodes that are joined should be near each other.

    Examples
    --------
    >>> from pfeseg import Graph
    >>> graph = Graph.from_edges(3, [(0, 1), (2, 1)], [1.0, 0.5])
    >>> graph
    <Graph of 3 nodes and 2 edges>
    >>> graph.n_nodes, graph.n_edges, graph.degrees.tolist()
    (3, 2, [1.0, 1.5, 0.5])
    >>> graph.M.toarray()
    array([[ 1. , -1. ,  0. ],
           [ 0. ,  0.5, -0.5]])
    >>> graph.W.toarray()
    array([[0. , 1. , 0. ],
           [1. , 0. , 0.5],
           [0. , 0.5, 0. ]])
    """

    n_nodes: int
    edges: NDArray[np.int32]
    weights: FloatArray
    degrees: FloatArray
    positions: NDArray[np.int32] | None = None

    def __repr__(self) -> str:
        return f"<Graph of {self.n_nodes} nodes and {self.n_edges} edges>"

    @classmethod
    def from_edges(
        cls,
        n_nodes: int,
        edges: ArrayLike,
        weights: ArrayLike,
        positions: ArrayLike | None = None,
    ) -> Graph:
        """Validate an edge list and make a graph of it.

        Parameters
        ----------
        n_nodes : int
            Number of nodes n; nodes without an edge are allowed.
        edges : (m, 2) integer array
            Pairs of different nodes, in either order, each pair once.
        weights : (m,) array
            From 0 to `MAX_WEIGHT`; zeros become `WEIGHT_FLOOR`.
        positions : (n, c) integer array, optional
            Where the nodes lie, such as row and column of pixels; see `Graph`.

        Returns
        -------
        Graph

        Raises
        ------
        InvalidInputError
            For edges that name no nodes, join a node to itself or come twice, and for weights
            or positions that do not fit or are no finite numbers.

        Examples
        --------
        >>> from pfeseg import Graph
        >>> Graph.from_edges(2, [(0, 5)], [1.0])
        Traceback (most recent call last):
            ...
        pfeseg.errors.InvalidInputError: edges must name nodes 0 to 1, found 0 to 5
        """
        n_nodes = whole_number("n_nodes", n_nodes, 1, MAX_NODES)
        pairs, values = any_array(edges, "edges"), number_array(weights, "weights")
        values = values.astype(np.float64, copy=False)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int32)
        _check_edges(n_nodes, pairs, values)
        ordered = np.sort(pairs, axis=1).astype(np.int32)
        _check_unique(n_nodes, ordered)
        places = None
        if positions is not None:
            places = _check_positions(n_nodes, any_array(positions, "positions"))
        return cls.unchecked(n_nodes, ordered, values, places)

    @classmethod
    def from_matrix(cls, W: Any, positions: ArrayLike | None = None) -> Graph:
        """Make a graph of a SciPy sparse matrix of weights.

        Parameters
        ----------
        W : (n, n) sparse matrix or array
            Of any format; symmetric, with weights from 0 to `MAX_WEIGHT`. Zeros that are stored
            are no edges, and neither is the diagonal.
        positions : (n, c) integer array, optional
            Where the nodes lie; see `Graph`.

        Returns
        -------
        Graph
            With an edge for each pair of nodes of which the weight is not 0.

        Raises
        ------
        InvalidInputError
            If W is not sparse, square and symmetric, or has weights that are negative, infinite
            or NaN.

        Examples
        --------
        >>> from scipy.sparse import csr_array
        >>> from pfeseg import Graph
        >>> Graph.from_matrix(csr_array([[0, 1, 0], [1, 0, 0.5], [0, 0.5, 0]])).weights
        array([1. , 0.5])
        """
        upper = _upper_triangle(W)
        pairs = np.stack([upper.row, upper.col], axis=1)
        return cls.from_edges(W.shape[0], pairs, upper.data, positions)

    @classmethod
    def unchecked(
        cls,
        n_nodes: int,
        edges: NDArray[np.int32],
        weights: FloatArray,
        positions: NDArray[np.int32] | None = None,
    ) -> Graph:
        """Do as `from_edges` with edges that are known to be valid.

        Parameters
        ----------
        n_nodes : int
        edges : (m, 2) int32 array
            The smaller node first, each pair once.
        weights : (m,) float64 array
        positions : (n, c) int32 array, optional
            Where the nodes lie; see `Graph`.

        Returns
        -------
        Graph

        Examples
        --------
        >>> import numpy as np
        >>> from pfeseg import Graph
        >>> Graph.unchecked(2, np.array([[0, 1]], np.int32), np.array([0.5])).degrees
        array([0.5, 0.5])
        """
        weights = np.maximum(weights, WEIGHT_FLOOR)
        degrees = np.bincount(edges[:, 0], weights, n_nodes)
        degrees += np.bincount(edges[:, 1], weights, n_nodes)
        floor = DEGREE_FLOOR * degrees.mean() if len(edges) else 1.0
        return cls(n_nodes, edges, weights, np.maximum(degrees, floor), positions)

    @property
    def n_edges(self) -> int:
        """Number of edges m."""
        return len(self.edges)

    @cached_property
    def M(self) -> csr_array:
        """(m, n) difference matrix: row e holds +w_e at i and -w_e at j."""
        from scipy.sparse import csr_array

        m = self.n_edges
        signed = np.stack([self.weights, -self.weights], axis=1)
        return csr_array(
            (signed.ravel(), self.edges.ravel(), np.arange(0, 2 * m + 1, 2)),
            shape=(m, self.n_nodes),
        )

    @cached_property
    def W(self) -> csr_array:
        """(n, n) symmetric weight matrix."""
        from scipy.sparse import coo_array

        i, j = self.edges.T
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        values = np.concatenate([self.weights, self.weights])
        return coo_array((values, (rows, columns)), shape=(self.n_nodes, self.n_nodes)).tocsr()


GraphLike: TypeAlias = "Graph | spmatrix | sparray"
"""A graph, or the sparse matrix of its weights."""


def as_graph(graph: Any) -> Graph:
    """Return a graph as it is, and make one of a sparse matrix of weights."""
    if isinstance(graph, Graph):
        return graph
    from scipy.sparse import issparse

    if not issparse(graph):
        raise InvalidInputError(
            "graph must be a Graph or a SciPy sparse matrix of weights, such as "
            f"scipy.sparse.csr_array(W), got {shown(graph)}"
        )
    return Graph.from_matrix(graph)


def _upper_triangle(W: Any) -> coo_array:
    """Check a sparse matrix of weights; returns what is above its diagonal, row by row."""
    from scipy.sparse import csr_array, issparse, triu

    if not issparse(W) or W.ndim != 2 or W.shape[0] != W.shape[1] or W.shape[0] == 0:
        shape = f" of shape {W.shape}" if hasattr(W, "shape") else ""
        raise InvalidInputError(
            "the weights of a graph must be a square SciPy sparse matrix, one row and one column "
            f"for each node, got {type(W).__name__}{shape}"
        )
    if W.dtype.kind not in "biuf":
        raise InvalidInputError(f"the weights of a graph must be numbers, got {W.dtype}")
    matrix = csr_array(W, dtype=np.float64)  # which sums up what is stored twice
    matrix.sum_duplicates()
    if not ((matrix.data >= 0) & (matrix.data <= MAX_WEIGHT)).all():
        raise InvalidInputError(
            f"the weights of a graph must be numbers from 0 to {MAX_WEIGHT:g}, found "
            f"{matrix.data.min():g} to {matrix.data.max():g}; make weights of distances, such as "
            "exp(-distance**2), and scale them into (0, 1]"
        )
    _refuse_asymmetry(matrix)
    upper = triu(matrix, k=1, format="coo")
    upper.eliminate_zeros()
    return upper


def _refuse_asymmetry(matrix: csr_array) -> None:
    apart = abs(matrix - matrix.T).tocoo()
    if apart.nnz and apart.data.max() > ASYMMETRY * matrix.data.max():
        worst = apart.data.argmax()
        i, j = sorted((int(apart.row[worst]), int(apart.col[worst])))
        raise InvalidInputError(
            f"the matrix of weights must be symmetric, but [{i}, {j}] is {matrix[i, j]:g} and "
            f"[{j}, {i}] is {matrix[j, i]:g}; take (W + W.T) / 2, or W.maximum(W.T)"
        )


def _check_edges(n_nodes: int, edges: NDArray[np.generic], weights: FloatArray) -> None:
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise InvalidInputError(
            f"edges must be an (m, 2) integer array, got shape {edges.shape} of {edges.dtype}"
        )
    if weights.shape != (len(edges),):
        raise InvalidInputError(
            f"weights must have shape ({len(edges)},), one per edge, got {weights.shape}"
        )
    if not ((weights >= 0) & (weights <= MAX_WEIGHT)).all():
        raise InvalidInputError(
            f"weights must be numbers from 0 to {MAX_WEIGHT:g}, got {weights.min():g} to "
            f"{weights.max():g}; scale them into (0, 1]"
        )
    if edges.size and (edges.min() < 0 or edges.max() >= n_nodes):
        raise InvalidInputError(
            f"edges must name nodes 0 to {n_nodes - 1}, found {edges.min()} to {edges.max()}"
        )
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if loops.size:
        raise InvalidInputError(
            f"self-loops are not allowed: edge {loops[0]} joins node {edges[loops[0], 0]} to itself"
        )


def _check_positions(n_nodes: int, positions: NDArray[Any]) -> NDArray[np.int32]:
    if positions.ndim != 2 or len(positions) != n_nodes or positions.shape[1] < 1:
        raise InvalidInputError(
            f"positions must have shape ({n_nodes}, c), one row per node, got {positions.shape}"
        )
    largest = 2**29 - 1  # so that differences of sums of two are numbers of 32 bits too
    whole = np.issubdtype(positions.dtype, np.integer)
    if not whole or positions.min() < -largest or positions.max() > largest:
        raise InvalidInputError(f"positions must be integers from {-largest} to {largest}")
    return np.ascontiguousarray(positions, dtype=np.int32)


def _check_unique(n_nodes: int, edges: NDArray[np.int32]) -> None:
    keys = edges[:, 0].astype(np.int64) * n_nodes + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    repeated = np.flatnonzero(np.diff(keys[order]) == 0)
    if repeated.size:
        i, j = edges[order[repeated[0]]]
        raise InvalidInputError(
            f"duplicate edge: nodes {i} and {j} are joined more than once; "
            "add their weights and pass each pair once"
        )
