"""Piecewise flat embedding of a graph: nested Bregman iterations in two stages.

Solves  min ||M Y||_1  subject to  Y^T D Y = I  (eq. 1) approximately.

========================  ====================================================
Paper                     Code
========================  ====================================================
``Y``, ``P``, ``B``       ``Y``, ``P``, ``B``: (n, d)
``M``, ``W``, ``D``       ``graph.M``, ``graph.W``, ``graph.degrees``
``d^l``, ``b^l``          ``Z``, ``U``: (m, d), as d is the dimension here
``lambda``, ``r``         ``lam``, ``r``; ``r_relaxed`` in Stage II
``Q_2``                   ``F``: (n, d), the target of D^1/2 Y
========================  ====================================================

Differences from the paper
--------------------------
* Misprints: ``Q_2 = P - B`` (not ``B - P``), and line 5 of Algorithm 1 reads
  ``- P + B``. M has a row for each edge of the graph only.
* The start is ``P = polar(D^1/2 Y0)`` rather than ``D^1/2 Y0``, which need not
  have orthonormal columns. This is what Yu et al.'s own program does.
* polar() is the canonical factor: directions that Y0 does not span (an empty
  component of the mixture) stay zero instead of becoming arbitrary.
* The system is factorised completely where its factor has few entries (preconditioner "cholesky"):
  the conjugate gradient is then done after one iteration. "ic0" is the paper's.
* PCG measures its residual in the norm ``||D^-1/2 . ||``, so that nodes of small degree count
  too, and makes at least one iteration a solve, so that no change is lost.
"""

from __future__ import annotations

import warnings
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.blas import one_blas_thread
from pfeseg.checks import check_callback, check_kind, check_threads, number_array
from pfeseg.errors import InvalidInputError, SolverWarning, argument
from pfeseg.kernels import Elimination
from pfeseg.machine import available_threads
from pfeseg.solver.cholesky import CholeskyLoop, choose_elimination
from pfeseg.solver.embedding import (
    Embedding,
    OnIteration,
    channel_energies,
    edge_energy,
)
from pfeseg.solver.graph import Graph, GraphLike, as_graph
from pfeseg.solver.history import History
from pfeseg.solver.pcg import MAX_PCG_ITERATIONS, PcgLoop
from pfeseg.solver.polar import gram_matrix, polar, squared_norm
from pfeseg.solver.settings import SolverSettings
from pfeseg.solver.split_bregman import DTYPES, DirectLoop, SplitBregmanLoop
from pfeseg.solver.splitting import OrthogonalSplitting
from pfeseg.solver.stopping import StoppingRule

FloatArray = NDArray[np.floating[Any]]


def embed(
    graph: GraphLike,
    Y0: ArrayLike,
    settings: SolverSettings | None = None,
    on_iteration: OnIteration | None = None,
    *,
    threads: int | None = None,
) -> Embedding:
    """Compute the piecewise flat embedding of a graph.

    Parameters
    ----------
    graph : Graph, or (n, n) sparse matrix of weights
        With n nodes.
    Y0 : (n, d) array
        Start, such as the one of `gmm_initial_embedding`; d is at most n.
    settings : SolverSettings, optional
        The paper's parameters unless given.
    on_iteration : callable, optional
        Called with each `IterationRecord`, in order.
    threads : int, optional
        All processors unless given; never changes the result.

    Returns
    -------
    Embedding

    Raises
    ------
    InvalidInputError
        For a graph, a start or settings that cannot be used; the message says why.
    SolverError
        Where the numbers break down, as with weights of very different sizes.

    Warns
    -----
    SolverWarning
        Where the conjugate gradient does not reach its tolerance.

    Examples
    --------
    Two triangles that are joined by a weak edge:

    >>> import numpy as np
    >>> import pfeseg
    >>> edges = [(0, 1), (1, 2), (0, 2), (3, 4), (4, 5), (3, 5), (2, 3)]
    >>> graph = pfeseg.Graph.from_edges(6, edges, [1, 1, 1, 1, 1, 1, 0.01])
    >>> Y0 = np.eye(2)[[0, 0, 1, 1, 1, 1]]  # one node is on the wrong side
    >>> embedding = pfeseg.embed(graph, Y0)
    >>> embedding.Y.shape
    (6, 2)
    >>> pfeseg.cluster_embedding(embedding.Y, 2).tolist()
    [0, 0, 0, 1, 1, 1]
    """
    return Solver(graph, settings, keep=False, threads=threads).embed(Y0, on_iteration)


class Solver:
    """The solver on one graph, for any number of starts of any dimension.

    The systems of the two stages depend on neither, so they are factorised once and kept,
    unless `keep` is false, which saves memory where there is one start only.
    """

    def __init__(
        self,
        graph: GraphLike,
        settings: SolverSettings | None = None,
        *,
        keep: bool = True,
        threads: int | None = None,
    ) -> None:
        self.graph, self.settings = as_graph(graph), _check_settings(settings)
        self._keep, self.threads = keep, check_threads(threads) or available_threads()
        self._loops: dict[float, SplitBregmanLoop] = {}

    def embed(self, Y0: ArrayLike, on_iteration: OnIteration | None = None) -> Embedding:
        """Compute an embedding; see the function `embed`."""
        start = _check_start(self.graph, Y0)
        check_callback("on_iteration", on_iteration)
        with one_blas_thread():
            return _Run(self, on_iteration).embed(start)

    def factorise(self) -> None:
        """Factorise the systems of both stages before they are needed."""
        self.loop(self.settings.r)
        self.loop(self.settings.r_relaxed)

    @property
    def preconditioner(self) -> str | None:
        """The one in use, "cholesky" or "ic0"; None with the direct solver."""
        if self.settings.linear_solver == "direct":
            return None
        return "ic0" if self._elimination is None else "cholesky"

    @cached_property
    def _elimination(self) -> Elimination | None:
        """The order of elimination, if the systems are factorised completely."""
        if self.settings.linear_solver == "direct":
            return None
        return choose_elimination(self.graph, self.settings)

    def loop(self, r: float) -> SplitBregmanLoop:
        """Return the split Bregman loop with the system of fidelity weight r."""
        if r in self._loops:
            return self._loops[r]
        settings = self.settings
        loop: SplitBregmanLoop
        elimination = self._elimination
        if settings.linear_solver == "direct":
            loop = DirectLoop(self.graph, settings.lam, r)
        elif elimination is not None:
            loop = CholeskyLoop(
                self.graph,
                elimination,
                settings.lam,
                r,
                precision=settings.precision,
                threads=self.threads,
            )
        else:
            loop = PcgLoop(
                self.graph,
                settings.lam,
                r,
                rtol=settings.pcg_rtol,
                precision=settings.precision,
                threads=self.threads,
            )
        if self._keep:
            self._loops[r] = loop
        return loop


class _Run:
    """One run of the algorithm, from a start to its embedding."""

    def __init__(self, solver: Solver, on_iteration: OnIteration | None) -> None:
        self.solver, self.history = solver, History(on_iteration)
        self.graph, self.settings = graph, settings = solver.graph, solver.settings
        direct = settings.linear_solver == "direct"
        self.dtype = np.float64 if direct else DTYPES[settings.precision]
        self.sqrt_degrees = np.sqrt(graph.degrees).astype(self.dtype)

    def embed(self, Y0: FloatArray) -> Embedding:
        """Run both stages."""
        self._begin(Y0)
        stop_1 = self._stage_1()
        stop_2 = self._stage_2()
        self._warn_of_capped_solves()
        return Embedding(
            self.Y,
            tuple(self.history.records),
            f"stage 1: {stop_1}; stage 2: {stop_2}",
            channel_energies(self.graph, self.Y),
            self.solver.preconditioner,
            self.settings,
        )

    def _begin(self, Y0: FloatArray) -> None:
        """Make the first P of the start, and Y such that D^1/2 Y = P (eq. 2)."""
        sqrt_degrees = self.sqrt_degrees[:, None]
        self.F = polar(sqrt_degrees * Y0.astype(self.dtype, copy=False))  # P - B with B = 0
        self.Y: FloatArray = self.F / sqrt_degrees
        self.constraint = _constraint(self.F)
        self.history.add(
            stage=1,
            outer=0,
            inner=0,
            objective=float(edge_energy(self.graph, self.Y).sum()),
            orthogonality_error=self._orthogonality_error(),
            change=None,
            pcg_iterations=0,
            pcg_capped=0,
        )

    def _stage_1(self) -> str:
        """Split off the orthogonality constraint (Algorithm 1); returns why it stopped."""
        settings, solver = self.settings, self.solver
        # What Y0 does not span stays empty, however far rounding errors grow on the way.
        d, rank = len(self.constraint), round(float(np.trace(self.constraint)))
        loop = solver.loop(settings.r)
        splitting = OrthogonalSplitting(self.sqrt_degrees, d, rank, solver.threads)
        for outer in range(1, settings.soc_iterations + 1):
            self._split_bregman(loop, settings.r, settings.split_iterations, outer)  # line 5
            self.F = splitting.next_target(self.Y)  # lines 6 and 7
            error = self.history.last.orthogonality_error
            if error is not None and error <= settings.tol:
                return f"orthogonal after {_iterations(outer)}"
        return f"cap of {_iterations(settings.soc_iterations)}"

    def _stage_2(self) -> str:
        """Relax the constraint, whose target F stays; returns why it stopped."""
        r, cap = self.settings.r_relaxed, self.settings.relaxed_iterations
        if cap:
            self._split_bregman(self.solver.loop(r), r, cap, outer=0)
            if self.history.last.inner < cap:
                return f"objective steady after {_iterations(self.history.last.inner)}"
        return f"cap of {_iterations(cap)}"

    def _split_bregman(self, loop: SplitBregmanLoop, r: float, cap: int, outer: int) -> None:
        """Run one inner loop (Algorithm 2) until its rule ends it; `outer` is 0 in Stage II.

        Replaces Y, and lets go of the old one and of F: on a large graph their memory counts.
        """
        rule = StoppingRule(r / 2 * squared_norm(self.F), self.settings.tol, cap)
        loop.start(self.F)
        del self.Y
        while not rule.ended:
            before, todo = rule.done, rule.next_run()
            steps = loop.advance(todo)
            values, changes = rule.look_at(steps.objectives(r))
            if len(values) < todo:  # it ought to have stopped on the way: run again to just there
                loop.start(self.F)
                loop.advance(rule.done)
            if rule.ended:
                del self.F
                self.Y = loop.solution()
            solves = steps.pcg_iterations.max(axis=1).tolist()
            capped = steps.pcg_capped.sum(axis=1).tolist()
            for k, value in enumerate(values):
                last = rule.ended and k == len(values) - 1
                self.history.add(
                    stage=1 if outer else 2,
                    outer=outer,
                    inner=before + k + 1,
                    objective=float(value),
                    orthogonality_error=self._orthogonality_error() if last else None,
                    change=float(changes[k]),
                    pcg_iterations=solves[k],
                    pcg_capped=capped[k],
                )

    def _orthogonality_error(self) -> float:
        gram = gram_matrix(self.Y, self.sqrt_degrees, self.solver.threads)
        return float(((gram - self.constraint) ** 2).sum())

    def _warn_of_capped_solves(self) -> None:
        capped = sum(record.pcg_capped for record in self.history.records)
        if capped:
            warnings.warn(
                f"the conjugate gradient hit its cap of {MAX_PCG_ITERATIONS} iterations in "
                f"{capped} solves before reaching {argument('pcg_rtol', self.settings.pcg_rtol)}; "
                f"raise {argument('pcg_rtol')}, or use {argument('precision', 'double')} or "
                f"{argument('linear_solver', 'direct')}",
                SolverWarning,
                stacklevel=5,
            )


def _iterations(count: int) -> str:
    return "1 iteration" if count == 1 else f"{count} iterations"


def _constraint(P: FloatArray) -> NDArray[np.float64]:
    """Return what Y^T D Y should be: I, or P^T P when Y0 does not span d directions."""
    gram, identity = gram_matrix(P), np.eye(P.shape[1])
    return identity if np.abs(gram - identity).max() < 1e-3 else gram


def _check_settings(settings: SolverSettings | None) -> SolverSettings:
    if settings is None:
        return SolverSettings()
    check_kind("settings", settings, SolverSettings)
    return settings


def _check_start(graph: Graph, Y0: ArrayLike) -> FloatArray:
    start = number_array(Y0, "Y0")
    if start.ndim != 2 or start.shape[0] != graph.n_nodes or start.shape[1] < 1:
        raise InvalidInputError(
            f"Y0 must have shape ({graph.n_nodes}, d), one row per node, got {start.shape}"
        )
    if start.shape[1] > graph.n_nodes:
        raise InvalidInputError(
            f"the dimension d must not exceed the number of nodes, got d={start.shape[1]} "
            f"for {graph.n_nodes} nodes"
        )
    if not np.isfinite(start).all():
        raise InvalidInputError("Y0 must hold finite numbers only")
    if not start.any():
        raise InvalidInputError("Y0 must not be zero everywhere")
    return start
