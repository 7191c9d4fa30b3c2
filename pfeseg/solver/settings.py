"""Parameters of the solver, as one value."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import Literal, get_args

from pfeseg.checks import one_of, to_positive, to_whole

LinearSolver = Literal["pcg", "direct"]
LINEAR_SOLVERS: tuple[LinearSolver, ...] = get_args(LinearSolver)

Precision = Literal["single", "double"]
PRECISIONS: tuple[Precision, ...] = get_args(Precision)

Preconditioner = Literal["auto", "ic0", "cholesky"]
PRECONDITIONERS: tuple[Preconditioner, ...] = get_args(Preconditioner)


@dataclass(frozen=True)
class SolverSettings:
    """Parameters of the solver; the defaults are the paper's.

    Attributes
    ----------
    lam : float
        Weight of the split in the split Bregman loop; shrinks by 1 / lam.
    r, r_relaxed : float
        Weight of the fidelity to P - B in Stage I and in Stage II.
    soc_iterations, split_iterations : int
        Caps of the outer and the inner loop of Stage I.
    relaxed_iterations : int
        Cap of Stage II.
    tol : float
        The inner loops stop when the objective's relative change is at most
        this, Stage I when ``||Y^T D Y - I||_F^2`` is.
    linear_solver : {"pcg", "direct"}
        The compiled solver, or SciPy's exact factorisation as reference (always in double).
    preconditioner : {"auto", "ic0", "cholesky"}
        What the compiled solver preconditions its conjugate gradient with: the incomplete
        Cholesky factorisation, as in the paper, or the complete one, with which a solve is exact
        after one iteration. "auto" takes the complete one where it has few entries, as on graphs
        of neighbouring pixels.
    pcg_rtol : float
        Relative residual at which PCG with incomplete Cholesky stops.
    precision : {"single", "double"}
        What the compiled solver computes in.

    Raises
    ------
    InvalidInputError
        For values that are not of these; the message names the setting.

    Examples
    --------
    >>> from pfeseg import SolverSettings
    >>> SolverSettings(r_relaxed=1).lam
    10000.0
    """

    lam: float = 1e4
    r: float = 100.0
    r_relaxed: float = 10.0
    soc_iterations: int = 10
    split_iterations: int = 5
    relaxed_iterations: int = 100
    tol: float = sys.float_info.epsilon
    linear_solver: LinearSolver = "pcg"
    preconditioner: Preconditioner = "auto"
    pcg_rtol: float = 1e-3
    precision: Precision = "single"

    def __post_init__(self) -> None:
        for name in ("lam", "r", "r_relaxed", "pcg_rtol"):
            to_positive(self, name)
        to_positive(self, "tol", or_zero=True)
        to_whole(self, "soc_iterations", 0, 10**6)
        to_whole(self, "split_iterations", 1, 10**6)
        to_whole(self, "relaxed_iterations", 0, 10**6)
        one_of(self, "linear_solver", LINEAR_SOLVERS)
        one_of(self, "preconditioner", PRECONDITIONERS)
        one_of(self, "precision", PRECISIONS)
