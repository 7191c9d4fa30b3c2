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


@pytest.mark.parametrize("k", [1, 2, 8, 25])
def test_weighted_kmeans_is_as_good_as_scikit_learns(colours, k):
    weights = np.random.default_rng(2).random(len(colours)) ** 4
    labels, centres = kmeans(colours, k, np.random.default_rng(0), 10, weights=weights)
    ours = weights @ ((colours - centres[labels]) ** 2).sum(axis=1)
    theirs = KMeans(k, n_init=10, random_state=0).fit(colours, sample_weight=weights).inertia_
    assert ours < 1.03 * theirs


def test_weighted_kmeans_ends_where_scikit_learns_does(colours):
    """Both rest where the other has ended: the means and the sum of distances are the same."""
    weights = np.random.default_rng(2).random(len(colours)) ** 4
    labels, centres = kmeans(colours, 6, np.random.default_rng(1), 10, weights=weights)
    theirs = KMeans(6, init=centres, n_init=1).fit(colours, sample_weight=weights)
    ours = weights @ ((colours - centres[labels]) ** 2).sum(axis=1)
    assert theirs.inertia_ == pytest.approx(ours, rel=1e-3)
    np.testing.assert_allclose(theirs.cluster_centers_, centres, atol=0.01)


def test_a_weight_counts_a_row_as_often_as_repeating_it():
    rng = np.random.default_rng(3)
    rows, times = rng.normal(size=(42, 3)), rng.integers(1, 6, 42)
    rows += np.repeat(5 * np.eye(3), 14, axis=0)
    repeated = np.repeat(rows, times, axis=0)
    labels, centres = kmeans(rows, 3, np.random.default_rng(0), 5, weights=times.astype(float))
    _, expected = kmeans(repeated, 3, np.random.default_rng(0), 5)
    order, expected_order = centres[:, 0].argsort(), expected[:, 0].argsort()
    np.testing.assert_allclose(centres[order], expected[expected_order], atol=1e-9)
    means = [np.average(rows[labels == c], axis=0, weights=times[labels == c]) for c in range(3)]
    np.testing.assert_allclose(centres, means, atol=1e-9)


def test_a_heavy_row_draws_its_centre():
    rows = np.array([[0.0], [1.0], [10.0]])
    _, centres = kmeans(rows, 2, np.random.default_rng(0), 5, weights=np.array([1e9, 1.0, 1.0]))
    assert sorted(centres.ravel()) == pytest.approx([0, 10], abs=1e-6)


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
