"""PFEClustering and PiecewiseFlatEmbedding as estimators of scikit-learn's."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from pfeseg import PFEClustering, PiecewiseFlatEmbedding

# scikit-learn skips one check, of other arrays than NumPy's, unless SCIPY_ARRAY_API is set.


@parametrize_with_checks([PFEClustering(), PiecewiseFlatEmbedding()])
@pytest.mark.filterwarnings("ignore")  # data of the checks have fewer clusters than asked for
def test_scikit_learns_own_checks(estimator, check):
    check(estimator)


def test_moons_are_told_apart_and_new_points_join_them():
    X, y = make_moons(400, noise=0.05, random_state=0)
    estimator = PFEClustering(n_clusters=2, random_state=0).fit(X[:300])
    assert adjusted_rand_score(y[:300], estimator.labels_) == 1
    assert adjusted_rand_score(y[300:], estimator.predict(X[300:])) == 1
    np.testing.assert_array_equal(estimator.predict(X[:300]), estimator.labels_)
