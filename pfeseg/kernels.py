"""Typed door to the compiled kernels.

The split Bregman loop with an incomplete Cholesky preconditioned conjugate
gradient, on blocks of columns in parallel; see ``cpp/split_bregman.cpp``.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import _kernels
from pfeseg.errors import InvalidInputError, SolverError
from pfeseg.graph import Graph
from pfeseg.solver_settings import Precision
from pfeseg.split_bregman import Steps, system_matrix

FloatArray = NDArray[np.floating[Any]]

FILL_RELAXATION = 0.95
"""Share of the dropped fill-in that the factorisation moves to the diagonal.

Chosen by the PCG iterations of three photographs at 9,600 and 38,400 pixels, one of them the
benchmark's: fewer than plain IC(0) at the smaller size, about as many at the larger.
"""

MAX_PCG_ITERATIONS = 500
"""Cap for one solve; usual ones take 5 to 20."""

DTYPES: dict[Precision, type[np.floating[Any]]] = {"single": np.float32, "double": np.float64}


def variant() -> str:
    """Name the compiled variant in use: "avx2" or "baseline".

    The environment variable ``PFESEG_KERNELS`` overrides the choice.
    """
    best = _kernels.best_variant()
    chosen = os.environ.get("PFESEG_KERNELS") or best
    if chosen not in ("baseline", best):
        raise InvalidInputError(
            f"PFESEG_KERNELS={chosen}: this machine has the kernels 'baseline' and '{best}'"
        )
    return chosen


def available_threads() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


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
        self._rtol, self._threads = rtol, threads or available_threads()
        loop = {
            "single": _kernels.SplitBregmanSingle,
            "double": _kernels.SplitBregmanDouble,
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
                variant(),
            )
        except RuntimeError as error:
            raise SolverError(
                f"the incomplete Cholesky factorisation broke down: {error}; "
                'use linear_solver="direct", or scale the weights into (0, 1]'
            ) from error

    def start(self, F: FloatArray) -> None:
        """Begin with target F, (n, d)."""
        self._loop.start(np.ascontiguousarray(F, dtype=self._dtype), self._threads)

    def advance(self, iterations: int) -> Steps:
        """Run some more iterations; Ctrl-C is answered between PCG iterations."""
        try:
            columns = self._loop.advance(iterations, self._rtol, MAX_PCG_ITERATIONS, self._threads)
        except RuntimeError as error:
            raise SolverError(
                f"the conjugate gradient broke down: {error}; "
                'try precision="double" or linear_solver="direct"'
            ) from error
        return Steps(*columns)

    def solution(self) -> FloatArray:
        """Return the present Y, (n, d)."""
        Y: FloatArray = self._loop.solution()
        return Y


def incomplete_cholesky(A: Any, relaxation: float = 0.0) -> tuple[Any, NDArray[np.float64]]:
    """Factorise a symmetric sparse matrix without fill-in: A ~ L diag(pivots) L^T.

    Parameters
    ----------
    A : (n, n) sparse array
        Symmetric; both triangles stored.
    relaxation : float in [0, 1]
        Share of the dropped fill-in that is moved to the diagonal. 0 is IC(0);
        1 is the modified form, which keeps the row sums.

    Returns
    -------
    L : (n, n) csr_array
        Unit lower triangular, on the pattern of A.
    pivots : (n,) array
    """
    from scipy.sparse import csr_array, eye_array

    A = csr_array(A, dtype=np.float64)
    A.sum_duplicates()
    if A.shape[0] != A.shape[1] or abs(A - A.T).max() > 1e-12 * abs(A).max():
        raise SolverError("incomplete Cholesky needs a symmetric matrix; symmetrise it first")
    try:
        indptr, indices, values, pivots = _kernels.incomplete_cholesky(
            A.indptr.astype(np.int32), A.indices.astype(np.int32), A.data, relaxation
        )
    except RuntimeError as error:
        raise SolverError(
            f"the matrix is not positive definite enough for incomplete Cholesky: {error}; "
            "lower the relaxation or add to the diagonal"
        ) from error
    upper = csr_array((values, indices, indptr), shape=A.shape)
    return csr_array(upper.T + eye_array(A.shape[0])), pivots
