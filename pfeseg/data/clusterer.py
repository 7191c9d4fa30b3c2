"""The estimator that clusters data."""

from __future__ import annotations

import warnings
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray
from sklearn.base import ClusterMixin
from sklearn.utils.validation import check_is_fitted

from pfeseg.checks import is_whole, shown
from pfeseg.data.base import Affinity, OnGraph, is_auto
from pfeseg.data.counting import count_clusters
from pfeseg.data.graph import DataGraph, pieces
from pfeseg.data.start import one_hot
from pfeseg.errors import InvalidInputError, SolverWarning, argument
from pfeseg.solver.settings import SolverSettings


class PFEClustering(ClusterMixin, OnGraph):  # type: ignore[misc]
    """Cluster data by the piecewise flat embedding of a graph of neighbours.

    Where spectral clustering embeds a graph smoothly and then cuts it, a piecewise flat embedding
    is nearly constant on each cluster. Graphs of 7, 10 and 15 neighbours are embedded from three
    starts each. Of the resulting clusterings, the one is kept that cuts the least weight, given how
    many clusters it has and how even they are. With more than 10,000 points, there is one graph,
    of 10 neighbours, and two starts.

    Parameters
    ----------
    n_clusters : int or "auto", default="auto"
        "auto" takes the number, from 2 to 25, after which the eigenvalues of the graph rise most
        steeply.
    affinity : str, default="nearest_neighbors"
        "nearest_neighbors" joins each point to its neighbours, "rbf" joins all points (for small
        data). "precomputed" takes X as a matrix of affinities, dense or sparse,
        "precomputed_nearest_neighbors" as a sparse matrix of the distances of neighbours.
    n_neighbors : int or "auto", default="auto"
        Neighbours that points are joined to and by which distances are measured. Pieces that
        this leaves are joined by shortest links.
    gamma : float, optional
        Affinities are ``exp(-gamma distance^2)``. By default, distances are measured in units of
        how far the neighbours of the two points are: dense and sparse clusters count alike.
    init : str or array, default="auto"
        Start: "spectral", "tree" (the minimum spanning tree, cut evenly), "kmeans", "gmm" (a
        Gaussian mixture), "auto" for the first three, labels (n,), or an array (n, d).
    solver : SolverSettings, optional
        By default, lam, r and r_relaxed fit the size of the graph.
    random_state : int, RandomState or None, default=None
        For the starts and k-means; None draws another seed each time.
    n_jobs : int, optional
        Threads; all processors unless given. Never changes the result.

    Attributes
    ----------
    labels_ : (n,) int32 array
        Labels 0, 1, ... in order of first appearance, none left out.
    embedding_ : (n, d) array
        The embedding that was clustered; float32 if X is.
    affinity_matrix_ : (n, n) sparse array
        The weights of the graph.
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
    >>> X, y = make_moons(60, noise=0.05, random_state=0)
    >>> model = PFEClustering(n_clusters=2, n_neighbors=7, random_state=0).fit(X)
    >>> model.labels_.shape, model.n_clusters_, model.embedding_.shape
    ((60,), 2, (60, 2))
    >>> bool((model.predict(X) == model.labels_).all())
    True
    """

    def __init__(
        self,
        n_clusters: int | Literal["auto"] = "auto",
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
        self.n_clusters = n_clusters

    def fit(self, X: Any, y: Any = None) -> PFEClustering:
        """Cluster data.

        Parameters
        ----------
        X : (n, features) array or sparse matrix
            A row for each point. With a precomputed affinity, (n, n).
        y : None
            Not used; scikit-learn passes it.

        Returns
        -------
        PFEClustering
            This estimator.

        Raises
        ------
        InvalidInputError
            For parameters or data that cannot be used; the message says why.

        Warns
        -----
        SolverWarning
            Where more clusters come out than were asked for, as the graph falls into as many
            pieces, or fewer, as too few points differ.
        """
        X = self._validated(X, reset=True)
        self._check_count(X.shape[0])
        found = self._learn(X, self._count)
        self.labels_ = found.labels
        self.n_clusters_ = int(found.labels.max()) + 1
        if self.n_clusters != "auto" and self.n_clusters_ < self.n_clusters:
            warnings.warn(
                f"found {self.n_clusters_} of the {self.n_clusters} clusters asked for: too few "
                f"points differ; lower {argument('n_clusters')}",
                SolverWarning,
                stacklevel=2,
            )
        return self

    def predict(self, X: Any) -> NDArray[np.int32]:
        """Give new points the label that weighs most among their nearest training points.

        Parameters
        ----------
        X : (new, features) array or sparse matrix
            With a precomputed affinity, (new, n): the affinities (or the distances of
            neighbours) of the new points to the training points.

        Returns
        -------
        (new,) int32 array

        Raises
        ------
        NotFittedError
            Before `fit`.
        InvalidInputError
            For data that do not fit those of the training.
        """
        check_is_fitted(self)
        X = self._validated(X, reset=False)
        shares = self._newcomers.average(X, one_hot(self.labels_))
        return np.asarray(shares.argmax(axis=1), dtype=np.int32)

    def _check_count(self, n_points: int) -> None:
        k = self.n_clusters
        if not (is_auto(k) or is_whole(k, 1)):
            raise InvalidInputError(
                f'{argument("n_clusters")} must be "auto" or a whole number from 1; got {shown(k)}'
            )
        if k != "auto" and k > n_points:
            raise InvalidInputError(
                f"{argument('n_clusters')} must be at most the number of points, "
                f"got n_clusters={shown(k)} for n_samples={n_points}"
            )

    def _count(self, graphs: list[DataGraph]) -> int:
        """Return the number of clusters to look for: no fewer than the graph has pieces."""
        count = int(pieces(graphs[0].graph).max()) + 1
        if self.n_clusters == "auto":
            return max(count, count_clusters([data.graph for data in graphs]))
        if count > self.n_clusters:
            warnings.warn(
                f"the graph falls into {count} pieces, more than the {self.n_clusters} clusters "
                f"asked for, so that each is a cluster; raise {argument('n_clusters')}, or join "
                "the pieces by edges of small weight",
                SolverWarning,
                stacklevel=4,
            )
        return max(count, int(self.n_clusters))
