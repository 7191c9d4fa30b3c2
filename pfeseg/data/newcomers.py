"""Points that were not there when the clusters were made."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array
from sklearn.neighbors import NearestNeighbors

from pfeseg.data.graph import local_scales

FloatArray = NDArray[np.floating[Any]]


class Newcomers:
    """Means over the training points that are nearest to new ones.

    A neighbour weighs the inverse of its squared distance, so that a point that coincides with a
    training point gets that point's value.
    """

    def __init__(self, affinity: str, n_neighbors: int) -> None:
        self._affinity, self._n_neighbors = affinity, n_neighbors

    def fit(self, X: Any) -> Newcomers:
        """Keep the training points."""
        if not self._affinity.startswith("precomputed"):
            k = min(self._n_neighbors, X.shape[0])
            self._index = NearestNeighbors(n_neighbors=k).fit(X)
        return self

    def average(self, X: Any, values: FloatArray) -> FloatArray:
        """Return the weighted means, (new, d), of the values of training points, (n, d)."""
        weights = self._weights(X)
        sums = weights.sum(axis=1)
        sums[sums == 0] = 1.0
        means = (weights @ values) / sums[:, None]
        return np.asarray(means, dtype=values.dtype)

    def _weights(self, X: Any) -> csr_array:
        if self._affinity == "precomputed":
            return csr_array(X)
        if self._affinity == "precomputed_nearest_neighbors":
            near = csr_array(X).copy()
            near.data = _inverse_squares(near.data)
            return near
        distances, columns = self._index.kneighbors(X)
        n, k = distances.shape
        weights = _inverse_squares(distances.ravel())
        return csr_array(
            (weights, columns.ravel(), np.arange(0, n * k + 1, k)),
            shape=(n, self._index.n_samples_fit_),
        )


def _inverse_squares(distances: FloatArray) -> NDArray[np.float64]:
    """Return finite weights, by far the largest where points coincide."""
    lengths = local_scales(distances)
    return 1 / lengths**2
