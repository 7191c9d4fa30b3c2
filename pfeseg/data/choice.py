"""Which of several labellings of the same data to keep."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.solver.graph import Graph

NEGLIGIBLE_CUT = 1e-3
"""Share of the weights: cuts far below it are equally good, so that evenness decides."""


def uneven_cut(graphs: Sequence[Graph], labels: NDArray[Any]) -> float:
    """Return by how much clusters hang together, and how uneven they are; low is good.

    The share of the weights that is cut is divided by the square of the effective number of
    clusters, exp(entropy) of their volumes: cutting off a few points cuts little, but gains
    little too. This is the logarithm, the mean over graphs of the same points.
    """
    values = []
    for graph in graphs:
        i, j = graph.edges.T
        cut = float(graph.weights[labels[i] != labels[j]].sum() / (graph.weights.sum() or 1.0))
        shares = np.bincount(labels, graph.degrees) / graph.degrees.sum()
        shares = shares[shares > 0]
        entropy = -float(shares @ np.log(shares))
        values.append(np.log(cut + NEGLIGIBLE_CUT) - 2 * entropy)
    return float(np.mean(values))
