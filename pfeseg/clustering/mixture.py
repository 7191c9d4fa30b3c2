"""Gaussian mixture of colours, by expectation maximisation.

The same model and steps as ``sklearn.mixture.GaussianMixture`` with full
covariances, against which the tests hold it; see `pfeseg.clustering.kmeans` for why it
is here.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cache

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.clustering.kmeans import kmeans

FloatArray = NDArray[np.float64]

COVARIANCE_FLOOR = 1e-6
"""Added to the variance of each channel, so that no component collapses."""

MAX_ITERATIONS = 100
TOLERANCE = 1e-3
"""Expectation maximisation ends when the mean log-likelihood gains less than this."""

N_STARTS = 5
"""Runs of k-means, the best of which starts the mixture.

After a single run, one component too often covers two colours and stays there.
"""


@dataclass(frozen=True)
class Mixture:
    """K weighted Gaussians in c dimensions.

    Attributes
    ----------
    weights : (K,) array
    means : (K, c) array
    covariances : (K, c, c) array
    """

    weights: FloatArray
    means: FloatArray
    covariances: FloatArray

    def posterior(self, x: FloatArray) -> FloatArray:
        """Probability of each component for each row of x, (n, K)."""
        return kernels.expectation(_monomials(x), self.coefficients())[0].T

    def coefficients(self) -> FloatArray:
        """Log of weight times density as a quadratic polynomial, (K, monomials)."""
        n_dims = self.means.shape[1]
        precisions = np.linalg.inv(self.covariances)
        linear = np.einsum("kij,kj->ki", precisions, self.means)
        constant = (
            np.log(self.weights)
            - 0.5 * np.linalg.slogdet(self.covariances)[1]
            - 0.5 * n_dims * np.log(2 * np.pi)
            - 0.5 * np.einsum("ki,ki->k", linear, self.means)
        )
        i, j = _upper(n_dims)
        quadratic = np.where(i == j, -0.5, -1.0) * precisions[:, i, j]
        return np.concatenate([constant[:, None], linear, quadratic], axis=1)


def fit_mixture(x: FloatArray, n_components: int, rng: np.random.Generator) -> Mixture:
    """Fit a mixture to the rows of x, (n, c), of fewer components where fewer rows are distinct."""
    labels, _ = kmeans(x, n_components, rng, N_STARTS)
    centre = x.mean(axis=0)  # about it, the polynomials lose least to cancellation
    monomials = _monomials(x - centre)
    mixture = _maximise([monomials[:, labels == k].sum(axis=1) for k in np.unique(labels)], len(x))
    old = -np.inf
    for _ in range(MAX_ITERATIONS):
        _, moments, likelihood = kernels.expectation(monomials, mixture.coefficients())
        mixture = _maximise(moments, len(x))
        if abs(likelihood - old) < TOLERANCE * len(x):
            break
        old = likelihood
    return replace(mixture, means=mixture.means + centre)


@cache
def _upper(n_dims: int) -> tuple[NDArray[np.intp], ...]:
    """Return the indices i <= j of the upper half of a matrix."""
    return np.triu_indices(n_dims)


def _monomials(x: FloatArray) -> FloatArray:
    """1, x_i and x_i x_j (i <= j) of each row, (monomials, n): all that the steps need of x."""
    i, j = _upper(x.shape[1])
    return np.concatenate([np.ones((1, len(x))), x.T, x.T[i] * x.T[j]])


def _maximise(sums: ArrayLike, n_rows: int) -> Mixture:
    """Return the mixture that fits rows shared out among the components.

    `sums` are those of the monomials, each row counted by its share, (K, monomials).
    """
    moments = np.asarray(sums)
    n_dims = int(np.sqrt(2 * moments.shape[1])) - 1  # (c + 1) (c + 2) / 2 monomials
    counts = moments[:, 0] + 10 * np.finfo(np.float64).eps
    means = moments[:, 1 : 1 + n_dims] / counts[:, None]
    covariances = np.empty((len(counts), n_dims, n_dims))
    i, j = _upper(n_dims)
    upper = moments[:, 1 + n_dims :] / counts[:, None] - means[:, i] * means[:, j]
    covariances[:, i, j] = covariances[:, j, i] = upper
    covariances += COVARIANCE_FLOOR * np.eye(n_dims)
    return Mixture(counts / n_rows, means, covariances)
