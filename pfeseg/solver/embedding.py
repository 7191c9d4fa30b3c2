"""What the solver gives: the embedding, how it came about, and how flat it is."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import SolverSettings

if TYPE_CHECKING:
    from matplotlib.axes import Axes

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True)
class IterationRecord:
    """State after one split Bregman iteration; the first record is the start.

    Attributes
    ----------
    stage, outer, inner : int
        Stage 1 or 2, SOC iteration (0 in Stage II and at the start) and split
        Bregman iteration, counted from 1 (0 at the start).
    objective : float
        ``||M Y||_1 + r/2 ||D^1/2 Y - F||_F^2``.
    orthogonality_error : float or None
        ``||Y^T D Y - I||_F^2``; known where a loop ends, None in between.
    change : float or None
        ``|v_old - v_new| / (v_old + v_new)`` of the objective v.
    pcg_iterations : int
        Largest over the columns; 0 with the direct solver.
    pcg_capped : int
        Columns whose PCG stopped at its cap.
    seconds : float
        Computing time up to here, callbacks not counted. Iterations that ran
        without a check in between share the time at which they were all done.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> graph = pfeseg.Graph.from_edges(3, [(0, 1), (1, 2)], [1.0, 0.5])
    >>> seen = []
    >>> embedding = pfeseg.embed(graph, np.eye(3)[:, :2], on_iteration=seen.append)
    >>> seen[0].stage, seen[0].outer, seen[0].inner
    (1, 0, 0)
    >>> seen[-1].stage, tuple(seen) == embedding.history
    (2, True)
    """

    stage: int
    outer: int
    inner: int
    objective: float
    orthogonality_error: float | None
    change: float | None
    pcg_iterations: int
    pcg_capped: int
    seconds: float


@dataclass(frozen=True, eq=False, repr=False)
class Embedding:
    """Result of `embed`.

    Attributes
    ----------
    Y : (n, d) array
        float32 in single precision, else float64. As Stage II leaves
        it: nearly orthonormal under D, not exactly.
    history : tuple of IterationRecord
        First and last state included.
    stop_reason : str
        Why each stage ended.
    channel_energies : (d,) array
        ``||M y_k||_1 / ||D^1/2 y_k||_2``; 0 for an empty channel.
    preconditioner : {"cholesky", "ic0"} or None
        The one that was used; None with the direct solver.
    settings : SolverSettings
        Those that it was computed with.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> graph = pfeseg.Graph.from_edges(3, [(0, 1), (1, 2)], [1.0, 0.5])
    >>> embedding = pfeseg.embed(graph, np.eye(3)[:, :2])
    >>> embedding.stop_reason
    'stage 1: cap of 10 iterations; stage 2: cap of 100 iterations'
    >>> embedding.preconditioner, len(embedding.history)
    ('cholesky', 151)
    >>> axes = embedding.plot()
    >>> axes.get_ylabel()
    'objective'
    """

    Y: FloatArray
    history: tuple[IterationRecord, ...]
    stop_reason: str
    channel_energies: NDArray[np.float64]
    preconditioner: str | None
    settings: SolverSettings

    def __repr__(self) -> str:
        n, d = self.Y.shape
        return f"<Embedding of {n} nodes in {d} dimensions: {self.stop_reason}>"

    def plot(self, ax: Axes | None = None) -> Axes:
        """Draw the objective against the iterations with matplotlib.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; a new figure unless given.

        Returns
        -------
        matplotlib Axes

        Raises
        ------
        InvalidInputError
            If `ax` is something else, or matplotlib is not installed.
        """
        from pfeseg.plotting import new_axes

        axes = new_axes(ax)
        axes.plot([record.objective for record in self.history], marker=".")
        axes.set_xlabel("iteration")
        axes.set_ylabel("objective")
        return axes


OnIteration = Callable[[IterationRecord], None]


def channel_energies(graph: Graph, Y: FloatArray) -> NDArray[np.float64]:
    """E_k = ||M y_k||_1 / ||D^1/2 y_k||_2 of each column, (d,); 0 for an empty one."""
    energy = edge_energy(graph, Y)
    norm = np.sqrt(graph.degrees @ np.square(Y, dtype=np.float64))
    return np.divide(energy, norm, out=np.zeros_like(energy), where=norm > 0)


def edge_energy(graph: Graph, Y: FloatArray) -> NDArray[np.float64]:
    """||M y_k||_1 of each column, (d,)."""
    return kernels.edge_energy(graph.edges, graph.weights, np.ascontiguousarray(Y))
