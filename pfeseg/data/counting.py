"""How many clusters there are, where nobody says how many."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pfeseg.data.start import leading_values
from pfeseg.solver.graph import Graph

MOST_CLUSTERS = 25
"""How many clusters are looked for, at most."""

NO_EIGENVALUE = 3e-4
"""Eigenvalues far below it count as 0: those of a graph in nearly as many pieces."""


def count_clusters(graphs: Sequence[Graph]) -> int:
    """Return the number of clusters, at least 2, after which the eigenvalues rise most steeply.

    A graph in k pieces has k eigenvalues 0. So the ratio of each to the one before is compared, in
    the (geometric) mean over graphs of the same points.
    """
    n = graphs[0].n_nodes
    if n < 4:
        return 1
    most = min(MOST_CLUSTERS + 1, n - 1)
    values = np.array([leading_values(graph, most)[1:] for graph in graphs])
    rises = np.diff(np.log(values + NO_EIGENVALUE), axis=1).sum(axis=0)
    return int(rises.argmax()) + 2
