"""A start from the minimum spanning tree: single linkage that keeps the sizes of clusters even.

M. Gagolewski, M. Bartoszuk and A. Cena, Genie: a new, fast, and outlier-resistant hierarchical
clustering algorithm, 2016. Edges of the tree are joined from the shortest on, but whenever
the sizes are too uneven, the next one has to join a cluster of the smallest size.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array
from scipy.sparse.csgraph import minimum_spanning_tree

from pfeseg.data.graph import DataGraph

Labels = NDArray[np.int32]

MOST_UNEVEN = 0.3
"""Gini index of the sizes beyond which small clusters come first; the authors' default."""


def tree_labels(data: DataGraph, k: int) -> Labels:
    """Cut a graph into k clusters, or into its pieces where it has more."""
    n = data.graph.n_nodes
    one, other = _shortest_tree(data)
    cluster, size = np.arange(n), np.ones(n, dtype=np.int64)
    of_size = np.zeros(n + 1, dtype=np.int64)  # number of clusters of each size
    of_size[1] = n
    waiting = np.ones(len(one), dtype=bool)
    shortest, smallest = 0, 1
    for n_clusters in range(n, max(k, n - len(one)), -1):
        if gini(of_size, n_clusters) <= MOST_UNEVEN:
            shortest += int(waiting[shortest:].argmax())
            edge = shortest
        else:
            while of_size[smallest] == 0:
                smallest += 1
            small = (size[one] == smallest) | (size[other] == smallest)
            edge = int((waiting & small).argmax())
        kept, gone = one[edge], other[edge]
        waiting[edge] = False
        of_size[size[kept]] -= 1
        of_size[size[gone]] -= 1
        size[kept] += size[gone]
        of_size[size[kept]] += 1
        for places in (one, other, cluster):
            places[places == gone] = kept
    return np.unique(cluster, return_inverse=True)[1].astype(np.int32)


def gini(of_size: NDArray[np.int64], n_clusters: int) -> float:
    """Return how uneven sizes are, from 0 to 1, given how many clusters have each size 0, 1, ..."""
    if n_clusters < 2:
        return 0.0
    sizes = np.flatnonzero(of_size)
    counts = of_size[sizes]
    before = np.cumsum(counts) - counts
    # The sum over the clusters, in order of size, of (2 rank - n_clusters - 1) size.
    sums = (2 * before + counts - n_clusters) * counts * sizes
    return float(sums.sum() / ((n_clusters - 1) * (counts * sizes).sum()))


def _shortest_tree(data: DataGraph) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the two ends of the edges of the minimum spanning tree, the shortest first."""
    n, edges = data.graph.n_nodes, data.graph.edges
    floor = np.finfo(np.float64).tiny  # SciPy takes 0 for no edge
    lengths = coo_array((np.maximum(data.lengths, floor), tuple(edges.T)), shape=(n, n))
    tree = minimum_spanning_tree(lengths.tocsr()).tocoo()
    order = np.argsort(tree.data, kind="stable")
    return tree.row[order].astype(np.intp), tree.col[order].astype(np.intp)
