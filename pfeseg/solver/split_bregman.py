"""The split Bregman loop: what a loop offers, and its exact, readable form.

`pfeseg.solver.cholesky` and `pfeseg.solver.pcg` hold the fast ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import SolverError, argument
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import Precision

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.floating[Any]]

DTYPES: dict[Precision, type[np.floating[Any]]] = {"single": np.float32, "double": np.float64}


@dataclass(frozen=True)
class Steps:
    """What happened in some split Bregman iterations; all arrays are (iterations, d)."""

    energy: NDArray[np.float64]
    """||M y||_1"""
    fidelity: NDArray[np.float64]
    """||D^1/2 y - f||_2^2"""
    pcg_iterations: NDArray[np.int32]
    """0 with the direct solver"""
    pcg_capped: NDArray[np.int32]
    """1 where the conjugate gradient stopped at its cap instead of its tolerance"""

    def objectives(self, r: float) -> NDArray[np.float64]:
        """||M Y||_1 + r/2 ||D^1/2 Y - F||_F^2 after each iteration."""
        return np.asarray(self.energy.sum(axis=1) + r / 2 * self.fidelity.sum(axis=1))


class SplitBregmanLoop(Protocol):
    """Minimises ||M Y||_1 + r/2 ||D^1/2 Y - F||_F^2 (eq. 5) by iterations that can be paused."""

    def start(self, F: FloatArray) -> None:
        """Begin with target F, (n, d), and Z = U = 0."""

    def advance(self, iterations: int) -> Steps:
        """Run some more iterations."""

    def solution(self) -> FloatArray:
        """Return the present Y, (n, d)."""


def breakdown(what: str, error: RuntimeError, remedy: str) -> SolverError:
    """Make an error of what a kernel threw; where there are too few threads, that is the remedy."""
    if "threads" in str(error):
        remedy = f"lower {argument('threads')}"
    return SolverError(f"{what}: {error}; {remedy}")


def system_matrix(graph: Graph, lam: float, r: float) -> csr_array:
    """Return A = lam M^T M + r D, (n, n), with sorted indices: that of eq. (13), times 2.

    M^T M is the Laplacian of the squared weights.
    """
    from scipy.sparse import coo_array

    n = graph.n_nodes
    i, j = graph.edges.T
    squared = graph.weights**2
    diagonal = np.bincount(i, squared, n) + np.bincount(j, squared, n)
    nodes = np.arange(n, dtype=np.int32)
    values = np.concatenate([-lam * squared, -lam * squared, lam * diagonal + r * graph.degrees])
    rows, columns = np.concatenate([i, j, nodes]), np.concatenate([j, i, nodes])
    A = coo_array((values, (rows, columns)), shape=(n, n)).tocsr()
    A.sort_indices()
    return A


def shrink(X: FloatArray, threshold: float) -> FloatArray:
    """Soft thresholding, the proximal map of the l1 norm (Algorithm 2, Shrink)."""
    return np.sign(X) * np.maximum(np.abs(X) - threshold, 0)


class DirectLoop:
    """Exact form: A is factorised once by SuperLU; always in double precision."""

    def __init__(self, graph: Graph, lam: float, r: float) -> None:
        from scipy.sparse.linalg import splu

        self._graph, self._lam, self._r = graph, lam, r
        self._sqrt_degrees = np.sqrt(graph.degrees)[:, None]
        self._factor = splu(
            system_matrix(graph, lam, r).tocsc(),
            permc_spec="MMD_AT_PLUS_A",
            diag_pivot_thresh=0.0,
            options={"SymmetricMode": True},
        )

    def start(self, F: FloatArray) -> None:
        """Begin with target F, (n, d), and Z = U = 0."""
        self._F, self._Y = F, np.zeros_like(F)
        self._Z: FloatArray = np.zeros((self._graph.n_edges, F.shape[1]))
        self._U = self._Z

    def advance(self, iterations: int) -> Steps:
        """Run lines 5, 6 and 7 of Algorithm 2 `iterations` times."""
        M, lam, r, sqrt_degrees = self._graph.M, self._lam, self._r, self._sqrt_degrees
        energy, fidelity = [], []
        for _ in range(iterations):
            # Line 5: eq. (13), times 2, with Q2 = P - B = F.
            rhs = lam * (M.T @ (self._Z - self._U)) + r * sqrt_degrees * self._F
            self._Y = self._factor.solve(rhs)
            MY = M @ self._Y
            T = MY + self._U
            self._Z = shrink(T, 1 / lam)  # line 6, eq. (9)
            self._U = T - self._Z  # line 7, eq. (10)
            energy.append(np.abs(MY).sum(axis=0))
            fidelity.append(((sqrt_degrees * self._Y - self._F) ** 2).sum(axis=0))
        none = np.zeros((iterations, self._F.shape[1]), dtype=np.int32)
        return Steps(np.array(energy), np.array(fidelity), none, none)

    def solution(self) -> FloatArray:
        """Return the present Y, (n, d)."""
        return self._Y
