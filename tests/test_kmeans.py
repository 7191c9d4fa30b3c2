"""k-means and the Gaussian mixture against scikit-learn's."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from sklearn.cluster import KMeans
from sklearn.exceptions import ConvergenceWarning
from sklearn.mixture import GaussianMixture

from pfeseg import downsample, gmm_initial_embedding
from pfeseg.clustering.kmeans import assign, kmeans
from pfeseg.clustering.mixture import COVARIANCE_FLOOR, TOLERANCE, fit_mixture


@pytest.fixture(scope="module")
def colours(chelsea) -> np.ndarray:
    return downsample(chelsea, 6).reshape(-1, 3)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize("k", [1, 2, 8, 25])
def test_kmeans_is_as_good_as_scikit_learns(colours, k, dtype):
    labels, centres = kmeans(colours.astype(dtype), k, np.random.default_rng(0), 10)
    ours = ((colours - centres[labels]) ** 2).sum()
    theirs = KMeans(k, n_init=10, random_state=0).fit(colours).inertia_
    assert ours < 1.03 * theirs


def test_kmeans_rests_at_a_fixed_point(colours):
    labels, centres = kmeans(colours, 6, np.random.default_rng(1), 1)
    distances = ((colours[:, None] - centres) ** 2).sum(axis=2)
    assert (labels == distances.argmin(axis=1)).all()
    np.testing.assert_allclose(assign(colours, centres)[1], distances.min(axis=1), atol=1e-12)
    means = np.array([colours[labels == c].mean(axis=0) for c in range(6)])
    np.testing.assert_allclose(centres, means, atol=0.01)


def test_kmeans_with_fewer_distinct_rows_than_clusters():
    rows = np.array([[0.0, 0.0], [1.0, 0.0], [0.0, 2.0]])[np.arange(30) % 3]
    labels, centres = kmeans(rows, 7, np.random.default_rng(0), 3)
    assert (centres[labels] == rows).all()


def test_mixture_ends_where_scikit_learns_does(colours):
    """From the same start, both take the same steps."""
    ours = fit_mixture(colours, 8, np.random.default_rng(0))
    labels, _ = kmeans(colours, 8, np.random.default_rng(0), 5)
    present = [colours[labels == c] for c in range(8)]
    theirs = GaussianMixture(
        8,
        tol=TOLERANCE,
        reg_covar=COVARIANCE_FLOOR,
        weights_init=np.array([len(p) for p in present]) / len(colours),
        means_init=np.array([p.mean(axis=0) for p in present]),
        precisions_init=np.array(
            [np.linalg.inv(np.cov(p.T, bias=True) + COVARIANCE_FLOOR * np.eye(3)) for p in present]
        ),
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        theirs.fit(colours)
    np.testing.assert_allclose(ours.weights, theirs.weights_, atol=1e-7)
    np.testing.assert_allclose(ours.means, theirs.means_, atol=1e-7)
    np.testing.assert_allclose(ours.covariances, theirs.covariances_, atol=1e-8)
    np.testing.assert_allclose(ours.posterior(colours), theirs.predict_proba(colours), atol=1e-5)


def test_soft_assignment_is_the_posterior(colours, chelsea):
    soft = gmm_initial_embedding(downsample(chelsea, 6), 8, assignment="soft")
    mixture = fit_mixture(colours, 8, np.random.default_rng(0))
    np.testing.assert_allclose(soft, mixture.posterior(colours), atol=1e-6)
