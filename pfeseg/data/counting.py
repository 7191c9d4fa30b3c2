"""How many clusters there are, if nobody says so."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from pfeseg.data.start import leading_values
from pfeseg.solver.graph import Graph

MOST_CLUSTERS = 25
"""How many clusters are looked for."""


def count_clusters(graphs: Sequence[Graph]) -> int:
    """Return the number of clusters after which the eigenvalues of the graphs rise most."""
    n = graphs[0].n_nodes
    if n < 4:
        return 1
    most = min(MOST_CLUSTERS, n - 2)
    rises = np.zeros(most)
    for graph in graphs:
        values = leading_values(graph, most + 1)
        rises += np.diff(values) / max(values[-1], np.finfo(float).tiny)
    return int(rises.argmax()) + 1
