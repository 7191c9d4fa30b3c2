"""The estimator that embeds data."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import (
    ClassNamePrefixFeaturesOutMixin,
    TransformerMixin,
)
from sklearn.utils.validation import check_is_fitted

from pfeseg.data import clusters, newcomers
from pfeseg.data.base import Affinity, OnGraph
from pfeseg.errors import InvalidInputError, argument
from pfeseg.parallel import one_blas_thread
from pfeseg.solver.embed import embed
from pfeseg.solver.embedding import edge_energy
from pfeseg.solver.settings import SolverSettings


class PiecewiseFlatEmbedding(
    ClassNamePrefixFeaturesOutMixin,  # type: ignore[misc]
    TransformerMixin,  # type: ignore[misc]
    OnGraph,
):
    """Embed data so that the embedding is nearly constant on each cluster.

    Parameters
    ----------
    n_components : int, default=2
        Dimensions; as many clusters can be told apart.
    affinity, n_neighbors, gamma, solver, random_state, n_jobs
        As of `PFEClustering`.
    init : str or array, default="auto"
        As of `PFEClustering`; "auto" keeps the start whose embedding has the lowest energy.

    Attributes
    ----------
    embedding_, affinity_matrix_, init_, n_iter_, energy_, n_features_in_, feature_names_in_
        As of `PFEClustering`.
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int = 10,
        gamma: float | None = None,
        init: str | ArrayLike = "auto",
        solver: SolverSettings | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        self.n_components = n_components
        self.affinity = affinity
        self.n_neighbors = n_neighbors
        self.gamma = gamma
        self.init = init
        self.solver = solver
        self.random_state = random_state
        self.n_jobs = n_jobs

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def fit(self, X: Any, y: Any = None) -> PiecewiseFlatEmbedding:
        """Embed the rows of X, (n, features) or, with a precomputed affinity, (n, n)."""
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.floating[Any]]:
        """Embed the rows of X and return the embedding, (n, n_components)."""
        X = self._validated(X, reset=True)
        seed = self._seed()
        n, d = X.shape[0], self.n_components
        if isinstance(d, bool) or not isinstance(d, (int, np.integer)) or not 1 <= d <= n:
            raise InvalidInputError(
                f"{argument('n_components')} must be a whole number from 1 to the number of "
                f"points; got n_components={d!r} for n_samples={n}"
            )
        with one_blas_thread():
            of = self._graph(X)
            settings = self.solver or clusters.settings_for(of, clusters.FIDELITIES[0])
            found = {
                name: embed(of, Y0, settings, threads=self._threads)
                for name, Y0 in self._starts(X, of, int(d), seed).items()
            }
        self.init_ = min(found, key=lambda name: float(edge_energy(of, found[name].Y).sum()))
        self._store(X, of, found[self.init_])
        self._newcomers = newcomers.Newcomers(self.affinity, self.n_neighbors, self.gamma).fit(X)
        return self.embedding_

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Embed new points by the weighted mean of their nearest training points.

        With a precomputed affinity, X holds the affinities (or the distances of neighbours) of
        the new points to the training points, (new, n).
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._newcomers.average(X, self.embedding_)
