"""The estimator that embeds data."""

from __future__ import annotations

from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from pfeseg.checks import is_whole, shown
from pfeseg.data.base import Affinity, OnGraph
from pfeseg.errors import InvalidInputError, argument
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
        As for `PFEClustering`.
    init : str or array, default="auto"
        As for `PFEClustering`; "auto" keeps the embedding whose clusters are best.

    Attributes
    ----------
    embedding_, affinity_matrix_, init_, n_iter_, energy_, n_features_in_, feature_names_in_
        As those of `PFEClustering`.

    Examples
    --------
    >>> import numpy as np
    >>> from pfeseg import PiecewiseFlatEmbedding
    >>> X = np.random.default_rng(0).normal(size=(40, 2)) + np.repeat([[0], [9]], 20, axis=0)
    >>> model = PiecewiseFlatEmbedding(n_components=2, n_neighbors=7, random_state=0)
    >>> Y = model.fit_transform(X)
    >>> Y.shape, bool(np.ptp(Y[:20], axis=0).max() < 0.01 * np.ptp(Y))
    ((40, 2), True)
    >>> np.allclose(model.fit(X).transform(X[:3]), Y[:3])
    True
    """

    def __init__(
        self,
        n_components: int = 2,
        *,
        affinity: Affinity = "nearest_neighbors",
        n_neighbors: int | Literal["auto"] = "auto",
        gamma: float | None = None,
        init: str | ArrayLike = "auto",
        solver: SolverSettings | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
    ) -> None:
        super().__init__(
            affinity=affinity,
            n_neighbors=n_neighbors,
            gamma=gamma,
            init=init,
            solver=solver,
            random_state=random_state,
            n_jobs=n_jobs,
        )
        self.n_components = n_components

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @property
    def _n_features_out(self) -> int:
        return int(self.embedding_.shape[1])

    def fit(self, X: Any, y: Any = None) -> PiecewiseFlatEmbedding:
        """Embed data.

        Parameters
        ----------
        X : (n, features) array or sparse matrix
            A row for each point. With a precomputed affinity, (n, n).
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        PiecewiseFlatEmbedding
            This estimator.

        Raises
        ------
        InvalidInputError
            For parameters or data that cannot be used; the message says why.
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None) -> NDArray[np.floating[Any]]:
        """Embed data and return the embedding.

        Parameters
        ----------
        X : (n, features) array or sparse matrix
            A row for each point. With a precomputed affinity, (n, n).
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        (n, n_components) array
            float32 if X is, else float64.

        Raises
        ------
        InvalidInputError
            For parameters or data that cannot be used; the message says why.
        """
        X = self._validated(X, reset=True)
        d = self.n_components
        if not is_whole(d, 1) or d > X.shape[0]:
            raise InvalidInputError(
                f"{argument('n_components')} must be a whole number from 1 to the number of "
                f"points; got n_components={shown(d)} for n_samples={X.shape[0]}"
            )
        self._learn(X, lambda graphs: int(d))
        return self.embedding_

    def transform(self, X: Any) -> NDArray[np.floating[Any]]:
        """Embed new points by the weighted mean of their nearest training points.

        Parameters
        ----------
        X : (new, features) array or sparse matrix
            With a precomputed affinity, (new, n): the affinities (or the distances of
            neighbours) of the new points to the training points.

        Returns
        -------
        (new, n_components) array

        Raises
        ------
        NotFittedError
            Before `fit`.
        InvalidInputError
            For data that do not fit those of the training.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        return self._newcomers.average(X, self.embedding_)
