"""Graphs on disk: lists of edges, and matrices of weights."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.arrays import is_sparse, load_archive, load_array, sparse_of
from pfeseg.files.text_tables import find_delimiter, is_number, read_lines, split_line

if TYPE_CHECKING:
    from scipy.sparse import csr_array

COMMENTS = ("#", "%")
"""What lines of edge lists begin with that hold no edge."""

MOST_DIGITS = 30
"""Of names of nodes that are sorted as numbers; Python does not read thousands of digits."""


@dataclass(frozen=True, eq=False)
class WeightedGraph:
    """A graph as a file tells it.

    Attributes
    ----------
    weights : (n, n) sparse matrix
        Symmetric, with nothing on its diagonal.
    nodes : tuple of str or None
        Names of the nodes; None where they are rows of a matrix.
    """

    weights: csr_array
    nodes: tuple[str, ...] | None


def read_graph(path: Path) -> WeightedGraph:
    """Read a graph: a square matrix (sparse .npz, or .npy), or a text of one edge a line.

    A line has the names of two nodes and, if it has a third field, their weight; else that is 1.
    Where an edge is told twice, in either direction, its larger weight counts.
    """
    if path.suffix.lower() in (".npz", ".npy"):
        return _read_matrix(path)
    lines = [line for line in read_lines(path) if not line.lstrip().startswith(COMMENTS)]
    if not lines:
        raise InvalidInputError(f"{path}: holds no edge")
    delimiter = find_delimiter(lines)
    edges = [split_line(line, delimiter) for line in lines]
    if len(edges[0]) == 3 and not is_number(edges[0][2]):
        del edges[0]  # a header
    elif len(edges) > 1 and not any(map(is_number, edges[0])) and all(map(is_number, edges[1])):
        del edges[0]
    weights = np.array([_weight(path, row, edge) for row, edge in enumerate(edges, 1)])
    if not len(weights):
        raise InvalidInputError(f"{path}: holds no edge")
    names = _in_order({name for edge in edges for name in edge[:2]})
    numbers = {name: number for number, name in enumerate(names)}
    i, j = np.array([[numbers[name] for name in edge[:2]] for edge in edges]).T
    return WeightedGraph(_symmetric(i, j, weights, len(names)), tuple(names))


def _weight(path: Path, row: int, edge: Sequence[str]) -> float:
    """Return the weight of an edge, which is the `row`-th of its list."""
    if len(edge) not in (2, 3):
        raise InvalidInputError(
            f"{path}: edge {row} has {len(edge)} fields; expected two nodes, and a weight if "
            "there is one"
        )
    if len(edge) == 2:
        return 1.0
    weight = float(edge[2]) if is_number(edge[2]) else np.nan
    if not 0 <= weight < np.inf:
        raise InvalidInputError(
            f"{path}: edge {row} has the weight {edge[2]!r}; expected a number of at least 0"
        )
    return weight


def _in_order(names: set[str]) -> list[str]:
    """Sort names of nodes, as numbers if they are whole numbers."""
    if all(name.isdecimal() and len(name) <= MOST_DIGITS for name in names):
        return sorted(names, key=int)
    return sorted(names)


def _symmetric(i: NDArray[Any], j: NDArray[Any], weights: NDArray[np.float64], n: int) -> csr_array:
    """Make a matrix of edges; of those that come twice, the largest weight."""
    from scipy.sparse import coo_array

    low, high = np.minimum(i, j).astype(np.int64), np.maximum(i, j)
    between = (low != high) & (weights > 0)
    keys, which = np.unique(low[between] * n + high[between], return_inverse=True)
    largest = np.zeros(len(keys))
    np.maximum.at(largest, which, weights[between])
    rows, columns = keys // n, keys % n
    upper = coo_array((largest, (rows, columns)), shape=(n, n))
    return (upper + upper.T).tocsr()


def _read_matrix(path: Path) -> WeightedGraph:
    from scipy.sparse import csr_array

    if path.suffix.lower() == ".npz":
        arrays = load_archive(path)
        if not is_sparse(arrays):
            raise InvalidInputError(
                f"{path}: expected a sparse matrix as scipy.sparse.save_npz has it"
            )
        matrix = sparse_of(path, arrays)
    else:
        array = load_array(path)
        if array.ndim != 2 or array.dtype.kind not in "biuf":
            raise InvalidInputError(
                f"{path}: expected a square matrix of weights, got an array of shape "
                f"{array.shape} and type {array.dtype}"
            )
        matrix = csr_array(array.astype(float))  # SciPy has none of some kinds of numbers
    if matrix.shape[0] != matrix.shape[1]:
        raise InvalidInputError(
            f"{path}: expected a square matrix of weights, got {matrix.shape[0]} x "
            f"{matrix.shape[1]}; without --graph, rows are points"
        )
    if not (np.isfinite(matrix.data).all() and (matrix.data >= 0).all()):
        raise InvalidInputError(f"{path}: the weights must be finite numbers of at least 0")
    entries = matrix.tocoo()
    return WeightedGraph(
        _symmetric(entries.row, entries.col, entries.data.astype(float), matrix.shape[0]), None
    )
