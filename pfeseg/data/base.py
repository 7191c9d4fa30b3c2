"""What the estimators share: data become graphs, and graphs get their starts."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array, issparse
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import validate_data

from pfeseg.blas import one_blas_thread
from pfeseg.checks import MAX_SEED, MAX_THREADS, any_array, is_whole, real_number, shown
from pfeseg.data import graph
from pfeseg.data.candidates import Candidate, best_candidate, find_candidates
from pfeseg.data.graph import DataGraph
from pfeseg.data.newcomers import Newcomers
from pfeseg.data.start import MANY_POINTS, STARTS, labels_by, one_hot
from pfeseg.errors import InvalidInputError, argument
from pfeseg.labels.maps import consecutive
from pfeseg.machine import available_threads
from pfeseg.solver.embedding import edge_energy
from pfeseg.solver.settings import SolverSettings

Affinity = Literal["nearest_neighbors", "rbf", "precomputed", "precomputed_nearest_neighbors"]
AFFINITIES: tuple[Affinity, ...] = get_args(Affinity)

NEIGHBOURS = (7, 10, 15)
"""Numbers of neighbours that n_neighbors="auto" takes, a graph each, up to `MANY_POINTS`."""

USUAL_NEIGHBOURS = 10
"""The number for a single graph."""

USUAL_STARTS = ("spectral", "tree", "kmeans")
"""Starts that init="auto" takes; with more points than `MANY_POINTS`, all but the tree."""


class OnGraph(BaseEstimator):  # type: ignore[misc]
    """Base of the estimators, whose data become a graph that is embedded."""

    def __init__(
        self,
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int | Literal["auto"] = "auto",
        gamma: float | None = None,
        init: str | ArrayLike = "auto",
        solver: SolverSettings | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.init = init
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs

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
        return min(int(self.n_jobs), MAX_THREADS)

    def _validated(self, X: Any, *, reset: bool) -> Any:
        dtypes = [np.float64, np.float32]
        try:
            return validate_data(self, X, reset=reset, accept_sparse="csr", dtype=dtypes)
        except TypeError:  # stays one, as scikit-learn's checks ask for it
            raise
        except (ValueError, OverflowError, RuntimeError) as error:
            raise InvalidInputError(_in_one_line(error)) from error

    def _learn(self, X: Any, dimensions: Callable[[list[DataGraph]], int]) -> Candidate:
        """Embed validated data in `dimensions(graphs)` dimensions, and keep what comes of it."""
        self._check_settings()
        try:
            random = check_random_state(self.random_state)
        except ValueError as error:
            raise InvalidInputError(
                f"{argument('random_state')} must be a whole number from 0 to {MAX_SEED}, a "
                f"RandomState or None; got {shown(self.random_state)}"
            ) from error
        seed = int(random.randint(2**31 - 1))
        with one_blas_thread():
            graphs = self._graphs(X, seed)
            k = dimensions(graphs)
            found = best_candidate(
                find_candidates(
                    graphs,
                    lambda data: self._starts(X, data, k, seed),
                    k,
                    self.solver,
                    seed,
                    self._threads,
                )
            )
        single = X.dtype == np.float32
        self.embedding_: NDArray[np.floating[Any]] = np.asarray(
            found.embedding.Y, dtype=np.float32 if single else np.float64
        )
        self.affinity_matrix_ = csr_array(found.data.graph.W)
        self.init_ = found.start
        self.n_iter_ = len(found.embedding.history) - 1
        self.energy_ = float(edge_energy(found.data.graph, found.embedding.Y).sum())
        self._newcomers = Newcomers(self.affinity, self._one_count).fit(X)
        return found

    @property
    def _one_count(self) -> int:
        return USUAL_NEIGHBOURS if self.n_neighbors == "auto" else int(self.n_neighbors)

    def _check_settings(self) -> None:
        if not isinstance(self.affinity, str) or self.affinity not in AFFINITIES:
            raise InvalidInputError(
                f"{argument('affinity')} must be one of {', '.join(AFFINITIES)}; "
                f"got {shown(self.affinity)}"
            )
        if not (is_auto(self.n_neighbors) or is_whole(self.n_neighbors, 1)):
            raise InvalidInputError(
                f'{argument("n_neighbors")} must be "auto" or a whole number from 1; '
                f"got {shown(self.n_neighbors)}"
            )
        if self.gamma is not None and not 0 < real_number(self.gamma) < np.inf:
            raise InvalidInputError(
                f"{argument('gamma')} must be a positive number or None; got {shown(self.gamma)}"
            )
        if isinstance(self.init, str) and self.init not in ("auto", *STARTS):
            raise InvalidInputError(
                f"{argument('init')} must be auto, {', '.join(STARTS)} or an array; "
                f"got {shown(self.init)}"
            )
        if not (self.solver is None or isinstance(self.solver, SolverSettings)):
            raise InvalidInputError(
                f"{argument('solver')} must be SolverSettings or None; got {shown(self.solver)}"
            )
        if not (self.n_jobs is None or is_whole(self.n_jobs, -MAX_THREADS)) or self.n_jobs == 0:
            raise InvalidInputError(
                f"{argument('n_jobs')} must be a whole number but 0, or None; got "
                f"{shown(self.n_jobs)}"
            )

    def _graphs(self, X: Any, seed: int) -> list[DataGraph]:
        """Make the graphs of validated data, at least one."""
        if self._precomputed:
            if X.shape[0] != X.shape[1]:
                raise InvalidInputError(
                    f"{argument('affinity', self.affinity)} takes a square matrix, one row and one "
                    f"column for each point; got shape {X.shape}"
                )
            if self.affinity == "precomputed":
                return [graph.graph_of_affinities(X)]
            return [graph.graph_of_distances(X, self.gamma)]
        if self.affinity == "rbf":
            return [graph.dense_graph(X, self._one_count, self.gamma, self._threads)]
        several = is_auto(self.n_neighbors) and X.shape[0] <= MANY_POINTS
        counts = NEIGHBOURS if several else (self._one_count,)
        return graph.neighbour_graphs(X, counts, self.gamma, seed=seed, n_jobs=self._threads)

    def _starts(self, X: Any, data: DataGraph, k: int, seed: int) -> dict[str, NDArray[Any]]:
        """Return the starts that `init` names, (n, d) each."""
        if not isinstance(self.init, str):
            return {"given": _given_start(self.init, data.graph.n_nodes)}
        needs_points, needs_dense = ("kmeans", "gmm"), ("gmm",)
        if self._precomputed and self.init in needs_points:
            raise InvalidInputError(
                f"{argument('init', self.init)} needs points, which "
                f"{argument('affinity', self.affinity)} does not have; "
                f"use {argument('init', 'spectral')}"
            )
        if issparse(X) and self.init in needs_dense:
            raise InvalidInputError(
                f"{argument('init', self.init)} needs a dense array, got a sparse one; "
                f"use {argument('init', 'kmeans')} or X.toarray()"
            )
        names: tuple[str, ...] = (self.init,)
        if self.init == "auto":
            unusable = needs_points if self._precomputed else ()
            if X.shape[0] > MANY_POINTS:
                unusable = (*unusable, "tree")
            names = tuple(name for name in USUAL_STARTS if name not in unusable)
        return {name: one_hot(labels_by(name, X, data, k, seed)) for name in names}


def _in_one_line(error: Exception) -> str:
    """Say what scikit-learn, or the class of the data, says at more length."""
    told = str(error)
    if "contains NaN" in told or "contains infinity" in told:
        return f"{told.splitlines()[0].rstrip('.')}; replace such values, or leave the points out"
    return " ".join(told.split())


def is_auto(value: Any) -> bool:
    """Tell whether a value is the word "auto"."""
    return isinstance(value, str) and value == "auto"


def _given_start(init: Any, n: int) -> NDArray[Any]:
    values = any_array(init, "init")
    if values.ndim == 1 and len(values) == n and np.issubdtype(values.dtype, np.integer):
        return one_hot(consecutive(np.unique(values, return_inverse=True)[1]))
    if values.ndim != 2 or len(values) != n:
        raise InvalidInputError(
            f"{argument('init')} must hold a whole number (a label) or a row for each of the {n} "
            f"points; got shape {values.shape} of {values.dtype}"
        )
    return values
