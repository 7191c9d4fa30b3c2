"""The estimator that clusters data."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    ClusterMixin,
)
from sklearn.utils.validation import check_is_fitted

from pfeseg.data import clusters, graph, newcomers, start
from pfeseg.data.base import Affinity, OnGraph
from pfeseg.data.choice import count_clusters
from pfeseg.errors import InvalidInputError, SolverWarning, argument
from pfeseg.labels.maps import consecutive
from pfeseg.parallel import one_blas_thread
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import SolverSettings


class PFEClustering(ClusterMixin, OnGraph):  # type: ignore[misc]
    """Cluster data by the piecewise flat embedding of a graph of neighbours.

    Where spectral clustering embeds a graph smoothly and then cuts it, a piecewise flat embedding
    is nearly constant on each cluster. Several starts are embedded, and the clusters with the
    lowest balanced cut are kept.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto" takes the number after which the eigenvalues of the graph rise most.
    affinity : str, default="nearest_neighbors"
        "nearest_neighbors" joins each point to its neighbours, "rbf" joins all points (for small
        data). "precomputed" takes X as a matrix of affinities, dense or sparse,
        "precomputed_nearest_neighbors" as a sparse matrix of the distances of neighbours.
    n_neighbors : int, default=10
    gamma : float, optional
        Affinities are ``exp(-gamma distance^2)``. By default, distances are measured in units of
        how far the neighbours of the two points are: dense and sparse clusters count alike.
    init : str or array, default="auto"
        Start: "spectral", "kmeans", "gmm" (a Gaussian mixture), "auto" for all of them, labels
        (n,), or an array (n, d).
    solver : SolverSettings, optional
        By default they fit the number of points, and several `r_relaxed` are tried.
    random_state : int, RandomState or None, default=None
    n_jobs : int, optional
        Threads; all processors unless given. Never changes the result.

    Attributes
    ----------
    labels_ : (n,) int32 array
    embedding_ : (n, d) array
        The embedding that was clustered; float32 if X is.
    affinity_matrix_ : (n, n) sparse array
    n_clusters_ : int
        Number of clusters found.
    init_ : str
        Name of the start that was kept.
    n_iter_ : int
        Iterations of the solver that gave the embedding.
    energy_ : float
        ``||M Y||_1`` of the embedding.
    n_features_in_, feature_names_in_
        As everywhere in scikit-learn.

    Examples
    --------
    >>> from pfeseg import PFEClustering
    >>> from sklearn.datasets import make_moons
    >>> X, y = make_moons(300, noise=0.05, random_state=0)
    >>> PFEClustering(n_clusters=2, random_state=0).fit_predict(X).shape
    (300,)
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 10,
        gamma: float | None = None,
        init: str | ArrayLike = "auto",
        solver: SolverSettings | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_clusters = n_clusters
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.init = init
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> PFEClustering:
        """Cluster the rows of X, (n, features) or, with a precomputed affinity, (n, n)."""
        X = self._validated(X, reset=True)
        seed = self._seed()
        with one_blas_thread():
            of = self._graph(X)
            k = self._count(of)
            found = self._cluster(X, of, k, seed)
        self._store(X, of, found.embedding)
        self.labels_, self.init_ = found.labels, found.start
        self.n_clusters_ = int(found.labels.max()) + 1
        self._newcomers = newcomers.Newcomers(self.affinity, self.n_neighbors, self.gamma).fit(X)
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Give new points the label that weighs most among their nearest training points.

        With a precomputed affinity, X holds the affinities (or the distances of neighbours) of
        the new points to the training points, (new, n).
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        shares = self._newcomers.average(X, start.one_hot(self.labels_, self.n_clusters_))
        return np.asarray(shares.argmax(axis=1), dtype=np.int32)

    def _count(self, of: Graph) -> int:
        if self.n_clusters == "auto":
            return count_clusters(of)
        k = self.n_clusters
        if isinstance(k, bool) or not isinstance(k, (int, np.integer)) or k < 1:
            raise InvalidInputError(
                f'{argument("n_clusters")} must be "auto" or a whole number from 1; got {k!r}'
            )
        if k > of.n_nodes:
            raise InvalidInputError(
                f"{argument('n_clusters')} must be at most the number of points, "
                f"got n_clusters={k} for n_samples={of.n_nodes}"
            )
        return int(k)

    def _cluster(self, X: Any, of: Graph, k: int, seed: int) -> clusters.Candidate:
        pieces = graph.pieces(of)
        count = int(pieces.max()) + 1
        if count > k:
            warnings.warn(
                f"the graph falls into {count} pieces, more than the clusters asked for, so that "
                f"each is a cluster; raise {argument('n_clusters')} to {count} or more, or join "
                f"the pieces by edges of small weight",
                SolverWarning,
                stacklevel=3,
            )
            k = count
        if count == k and count > 1:
            starts: dict[str, NDArray[Any]] = {"pieces": clusters.start_of(consecutive(pieces))}
        else:
            starts = self._starts(X, of, k, seed)
        settings = (
            [self.solver]
            if self.solver is not None
            else [clusters.settings_for(of, r) for r in clusters.FIDELITIES]
        )
        found = list(clusters.candidates(of, starts, k, settings, seed, self._threads))
        return clusters.best_candidate(of, found)
