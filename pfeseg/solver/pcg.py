"""The split Bregman loop with the paper's own solver, on the compiled kernels.

Its linear systems are solved by the conjugate gradient, preconditioned by an incomplete Cholesky
factorisation, on blocks of columns in parallel; see ``cpp/split_bregman.cpp``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.errors import argument
from pfeseg.machine import available_threads
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import Precision
from pfeseg.solver.split_bregman import DTYPES, Steps, breakdown, system_matrix

FloatArray = NDArray[np.floating[Any]]

FILL_RELAXATION = 0.95
"""Share of the dropped fill-in that the factorisation moves to the diagonal.

Chosen by the PCG iterations of three photographs at 9,600 and 38,400 pixels, one of them the
benchmark's: fewer than plain IC(0) at the smaller size, about as many at the larger.
"""

MAX_PCG_ITERATIONS = 500
"""Cap for one solve; usual ones take 5 to 20."""


class PcgLoop:
    """Split Bregman loop on the compiled kernels.

    The bytes of the result do not depend on `threads`. The variants agree up to rounding,
    as only "avx2" has fused multiply-add.
    """

    def __init__(
        self,
        graph: Graph,
        lam: float,
        r: float,
        *,
        rtol: float,
        precision: Precision,
        threads: int | None,
    ) -> None:
        A = system_matrix(graph, lam, r)
        i, j = graph.edges.T
        order = np.argsort(i.astype(np.int64) * graph.n_nodes + j, kind="stable")
        self._dtype = DTYPES[precision]
        self._threads = threads or available_threads()
        loop = {
            "single": kernels.PcgLoopSingle,
            "double": kernels.PcgLoopDouble,
        }[precision]
        try:
            self._loop = loop(
                A.indptr.astype(np.int32, copy=False),
                A.indices.astype(np.int32, copy=False),
                A.data,
                graph.weights[order],
                graph.degrees,
                lam,
                r,
                FILL_RELAXATION,
                rtol,
                MAX_PCG_ITERATIONS,
                kernels.variant(),
            )
        except RuntimeError as error:
            remedy = f"use {argument('linear_solver', 'direct')}, or scale the weights into (0, 1]"
            raise breakdown(
                "the incomplete Cholesky factorisation broke down", error, remedy
            ) from error

    def start(self, F: FloatArray) -> None:
        """Begin with target F, (n, d)."""
        self._loop.start(np.ascontiguousarray(F, dtype=self._dtype), self._threads)

    def advance(self, iterations: int) -> Steps:
        """Run some more iterations; Ctrl-C is answered between PCG iterations."""
        try:
            columns = self._loop.advance(iterations, self._threads)
        except RuntimeError as error:
            remedy = (
                f"try {argument('precision', 'double')} or {argument('linear_solver', 'direct')}"
            )
            raise breakdown("the conjugate gradient broke down", error, remedy) from error
        return Steps(*columns)

    def solution(self) -> FloatArray:
        """Return the present Y, (n, d)."""
        Y: FloatArray = self._loop.solution()
        return Y
