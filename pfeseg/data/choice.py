"""Which of several labellings of one graph to keep."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.solver.graph import Graph
from pfeseg.solver.spectral import laplacian_eigenmaps

MOST_CLUSTERS = 30
"""How many clusters "auto" looks at."""


def balanced_cut(graph: Graph, labels: NDArray[Any]) -> float:
    """Sum over the clusters of the weight they cut, over the smaller of their volume and the rest.

    Low where clusters hang together little with the others, and none is tiny.
    """
    i, j = graph.edges.T
    k = int(labels.max()) + 1
    apart = labels[i] != labels[j]
    cut = np.bincount(labels[i[apart]], graph.weights[apart], k)
    cut += np.bincount(labels[j[apart]], graph.weights[apart], k)
    volume = np.bincount(labels, graph.degrees, k)
    smaller = np.minimum(volume, graph.degrees.sum() - volume)
    return float(np.divide(cut, smaller, out=np.zeros(k), where=smaller > 0).sum())


def count_clusters(graph: Graph) -> int:
    """Return the number of clusters after which the eigenvalues of the graph rise most."""
    if graph.n_nodes < 3:
        return 1
    values = laplacian_eigenmaps(graph, MOST_CLUSTERS + 1).values[: MOST_CLUSTERS + 1]
    return int(np.diff(values).argmax()) + 1
