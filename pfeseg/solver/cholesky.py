"""The split Bregman loop with exact solves, on the compiled kernels.

The system is factorised completely, its nodes eliminated in the order of a nested dissection: on a
graph of neighbouring pixels the factor then has so few entries that an exact solve takes less
time than two iterations of a conjugate gradient. See ``cpp/front_walk.cpp``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.errors import SolverError, argument
from pfeseg.machine import available_threads
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import Precision, SolverSettings
from pfeseg.solver.split_bregman import DTYPES, Steps, breakdown

FloatArray = NDArray[np.floating[Any]]

MAX_ENTRIES = 2**31 - 1
"""Entries of the largest factor that the kernels can number."""

WORTHWHILE_FILL = 25
"""Entries of the factor, for each node and edge of the graph, beyond which a conjugate gradient
with incomplete Cholesky is faster."""

MOST_UNEVEN = 1e6
"""Largest lam / r at which exact solves in single precision lose no more than a tenth of a change
to rounding, so that the next iteration makes up for it."""


def eliminate(graph: Graph, max_fill: float) -> kernels.Elimination:
    """Find an order in which the nodes of a graph can be eliminated.

    `fits` is false if the factor would have more than `max_fill` entries for each node and edge.
    """
    positions = graph.positions
    if positions is None:
        positions = np.empty((graph.n_nodes, 0), dtype=np.int32)
    most = int(min(max_fill * (graph.n_nodes + graph.n_edges), MAX_ENTRIES))
    return kernels.eliminate_graph(graph.edges, positions, most)


def choose_elimination(graph: Graph, settings: SolverSettings) -> kernels.Elimination | None:
    """Return the order of elimination if the preconditioner is complete, None if it is not.

    "auto" is incomplete where the factor would have too many entries, or its rounding errors
    would outgrow what is solved for.
    """
    if settings.preconditioner == "ic0":
        return None
    if settings.preconditioner == "cholesky":
        found = eliminate(graph, np.inf)
        if not found.fits:
            raise SolverError(
                f"the complete Cholesky factor of this graph of {graph.n_nodes} nodes "
                f"has too many entries; use {argument('preconditioner', 'ic0')}"
            )
        return found
    unevenness = settings.lam / min(settings.r, settings.r_relaxed)
    if settings.precision == "single" and unevenness > MOST_UNEVEN:
        return None
    found = eliminate(graph, WORTHWHILE_FILL)
    return found if found.fits else None


class CholeskyLoop:
    """Split Bregman loop whose linear systems are solved by an exact factorisation.

    The bytes of the result do not depend on `threads`.
    """

    def __init__(
        self,
        graph: Graph,
        elimination: kernels.Elimination,
        lam: float,
        r: float,
        *,
        precision: Precision,
        threads: int | None,
    ) -> None:
        self._dtype = DTYPES[precision]
        self._threads = threads or available_threads()
        loop = {
            "single": kernels.CholeskyLoopSingle,
            "double": kernels.CholeskyLoopDouble,
        }[precision]
        try:
            self._loop = loop(
                elimination,
                graph.weights,
                graph.degrees,
                lam,
                r,
                self._threads,
                kernels.variant(),
            )
        except RuntimeError as error:
            remedy = f"use {argument('precision', 'double')} or scale the weights into (0, 1]"
            raise breakdown("the Cholesky factorisation broke down", error, remedy) from error

    def start(self, F: FloatArray) -> None:
        """Begin with target F, (n, d)."""
        self._loop.start(np.ascontiguousarray(F, dtype=self._dtype), self._threads)

    def advance(self, iterations: int) -> Steps:
        """Run some more iterations; Ctrl-C is answered between them."""
        try:
            return Steps(*self._loop.advance(iterations, self._threads))
        except RuntimeError as error:
            remedy = f"try {argument('precision', 'double')}"
            raise breakdown("the exact solve broke down", error, remedy) from error

    def solution(self) -> FloatArray:
        """Return the present Y, (n, d)."""
        Y: FloatArray = self._loop.solution()
        return Y
