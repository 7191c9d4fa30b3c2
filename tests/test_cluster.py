from __future__ import annotations

import numpy as np
import pytest
from helpers import same_partition

from pfeseg import InvalidInputError, cluster_embedding
from pfeseg.clustering.embedding import MAX_FIT_ROWS
from pfeseg.labels.maps import consecutive

RNG = np.random.default_rng(4)


def blobs(counts: list[int], noise: float) -> tuple[np.ndarray, np.ndarray]:
    truth = np.repeat(np.arange(len(counts)), counts)
    centres = np.eye(len(counts)) / np.sqrt(counts)  # as in a piecewise flat embedding
    return centres[truth] + RNG.normal(0, noise / np.sqrt(len(truth)), (len(truth), 3)), truth


def test_flat_regions_are_found_and_numbered_by_appearance():
    Y, truth = blobs([50, 200, 400], noise=0.05)
    assert (cluster_embedding(Y, 3) == truth).all()


def test_no_more_clusters_than_values():
    Y, truth = blobs([50, 200, 400], noise=1e-6)
    assert (cluster_embedding(Y, 9) == truth).all()
    assert (cluster_embedding(np.full((30, 2), 0.1), 5) == 0).all()
    assert (cluster_embedding(np.zeros((30, 2)), 5) == 0).all()


def test_near_but_different_centres_stay_apart():
    line = np.linspace(0, 1, 5000)[:, None]
    assert len(np.unique(cluster_embedding(line, 1000))) == 1000


def test_the_seed_decides():
    Y = RNG.normal(size=(500, 4))  # without clusters of its own, so the start decides
    one, again, other = (cluster_embedding(Y, 7, seed) for seed in (1, 1, 2))
    assert (one == again).all()
    assert not same_partition(one, other)
    assert len(np.unique(one)) == len(np.unique(other)) == 7


def test_many_rows_are_sampled():
    Y, truth = blobs([MAX_FIT_ROWS, 5000, 20000], noise=0.05)
    assert (cluster_embedding(Y, 3) == truth).all()


def test_consecutive():
    assert consecutive(np.array([[7, 7], [2, 9], [2, 7]])).tolist() == [[0, 0], [1, 2], [1, 0]]


@pytest.mark.parametrize("k", [0, 11])
def test_wrong_k_is_rejected(k):
    with pytest.raises(InvalidInputError, match="between 1 and the number of pixels, 10"):
        cluster_embedding(np.ones((10, 2)), k)


def test_wrong_embedding_is_rejected():
    with pytest.raises(InvalidInputError, match="finite"):
        cluster_embedding(np.full((10, 2), np.nan), 2)
