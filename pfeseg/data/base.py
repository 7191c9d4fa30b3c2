"""What the estimators share: data become a graph, and a graph gets its starts."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import (
    BaseEstimator,
)
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from pfeseg.data import clusters, graph, start
from pfeseg.errors import InvalidInputError, argument
from pfeseg.kernels import available_threads
from pfeseg.labels.maps import consecutive
from pfeseg.solver.embedding import Embedding, edge_energy
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import SolverSettings

AFFINITIES = ("nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors")
STARTS = ("spectral", "kmeans", "gmm")

Affinity = Literal["nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"]


class OnGraph(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators, whose data become a graph that is embedded."""

    affinity: Affinity
    n_neighbors: int
    gamma: float | None
    init: Any
    solver: SolverSettings | None
    random_state: Any
    n_jobs: int | None

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.sparse = True
        tags.input_tags.pairwise = self._precomputed
        return tags

    @property
    def _precomputed(self) -> bool:
        return str(self.affinity).startswith("precomputed")

    @property
    def _threads(self) -> int:
        if self.n_jobs is None or self.n_jobs < 0:
            return int(available_threads())
        return int(self.n_jobs)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        return validate_data(
            self,
            X,
            reset=reset,
            accept_sparse="csr",
            dtype=[np.float64, np.float32],
        )

    def _graph(self, X: Any) -> Graph:
        """Make a graph of validated data."""
        if self.affinity not in AFFINITIES:
            raise InvalidInputError(
                f"{argument('affinity')} must be one of {', '.join(AFFINITIES)}; "
                f"got {self.affinity!r}"
            )
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                raise InvalidInputError(
                    f"{argument('affinity', self.affinity)} takes a square matrix, one row and one "
                    f"column for each point; got shape {X.shape}"
                )
            if self.affinity == "precomputed":
                return graph.graph_of_affinities(X)
            return graph.graph_of_distances(X, self.gamma)
        if self.affinity == "rbf":
            return graph.dense_graph(X, self.n_neighbors, self.gamma, self._threads)
        return graph.neighbour_graph(X, self.n_neighbors, self.gamma, self._threads)

    def _starts(self, X: Any, of: Graph, k: int, seed: int) -> dict[str, NDArray[Any]]:
        """Return the starts that `init` names, (n, d) each."""
        if not isinstance(self.init, str):
            return {"given": _given_start(self.init, of.n_nodes)}
        if self.init not in ("auto", *STARTS):
            raise InvalidInputError(
                f"{argument('init')} must be auto, {', '.join(STARTS)} or an array; "
                f"got {self.init!r}"
            )
        has_points = not self._precomputed
        if not has_points and self.init in ("kmeans", "gmm"):
            raise InvalidInputError(
                f"{argument('init', self.init)} needs points, which "
                f"{argument('affinity', self.affinity)} does not have; "
                f"use {argument('init', 'spectral')}"
            )
        if issparse(X) and self.init == "gmm":
            raise InvalidInputError(
                f"{argument('init', 'gmm')} needs a dense array, got a sparse one; "
                f"use {argument('init', 'kmeans')} or X.toarray()"
            )
        usable = ("spectral", *(("kmeans",) if issparse(X) else STARTS[1:]) * has_points)
        names = usable if self.init == "auto" else (self.init,)
        return {name: clusters.start_of(start.labels_by(name, X, of, k, seed)) for name in names}

    def _store(self, X: Any, of: Graph, embedding: Embedding) -> None:
        dtype = X.dtype if X.dtype in (np.float32, np.float64) else np.float64
        self.embedding_ = embedding.Y.astype(dtype)
        self.affinity_matrix_ = csr_array(of.W)
        self.n_iter_ = len(embedding.history) - 1
        self.energy_ = float(edge_energy(of, embedding.Y).sum())

    def _seed(self) -> int:
        return int(check_random_state(self.random_state).randint(2**31 - 1))


def _given_start(init: Any, n: int) -> NDArray[Any]:
    values = np.asarray(init)
    if values.ndim == 1 and len(values) == n and np.issubdtype(values.dtype, np.integer):
        return clusters.start_of(consecutive(np.unique(values, return_inverse=True)[1]))
    if values.ndim != 2 or len(values) != n:
        raise InvalidInputError(
            f"{argument('init')} must hold a whole number (a label) or a row for each of the {n} "
            f"points; got shape {values.shape} of {values.dtype}"
        )
    return values
