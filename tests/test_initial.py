from __future__ import annotations

import numpy as np
import pytest

from pfeseg import InvalidInputError, gmm_initial_embedding
from pfeseg.pixels.start import MAX_FIT_PIXELS

RNG = np.random.default_rng(8)


def test_hard_is_the_one_hot_of_soft(chelsea):
    small = chelsea[::8, ::8]
    hard = gmm_initial_embedding(small, 6)
    soft = gmm_initial_embedding(small, 6, assignment="soft")
    assert set(np.unique(hard)) == {0, 1}
    assert (hard.sum(axis=1) == 1).all()
    np.testing.assert_allclose(soft.sum(axis=1), 1, atol=1e-5)
    assert (hard.argmax(axis=1) == soft.argmax(axis=1)).mean() > 0.999


def test_clear_colours_are_told_apart():
    colours = np.array([[0.9, 0.1, 0.1], [0.1, 0.8, 0.2], [0.2, 0.2, 0.9]])
    truth = RNG.integers(0, 3, (30, 40))
    image = np.clip(colours[truth] + RNG.normal(0, 0.02, (30, 40, 3)), 0, 1)
    Y0 = gmm_initial_embedding(image, 3)
    assert len(set(zip(truth.ravel(), Y0.argmax(axis=1), strict=True))) == 3


def test_the_seed_decides(chelsea):
    small = chelsea[::8, ::8]
    first, second = (gmm_initial_embedding(small, 8, seed=3) for _ in range(2))
    assert first.tobytes() == second.tobytes()
    assert first.tobytes() != gmm_initial_embedding(small, 8, seed=4).tobytes()


@pytest.mark.parametrize("assignment", ["hard", "soft"])
@pytest.mark.parametrize("n_colours", [1, 2, 3])
def test_fewer_colours_than_components(n_colours, assignment):
    colours = RNG.random((n_colours, 3))
    image = colours[np.arange(20 * 10).reshape(20, 10) % n_colours]
    Y0 = gmm_initial_embedding(image, 7, assignment=assignment)
    assert Y0.shape == (200, 7)
    assert np.isfinite(Y0).all()
    np.testing.assert_allclose(Y0.sum(axis=1), 1, atol=1e-5)
    assert len(np.unique(Y0.argmax(axis=1))) == n_colours


def test_grey_image():
    ramp = np.tile(np.linspace(0, 1, 64), (8, 1))
    Y0 = gmm_initial_embedding(ramp, 4)
    assert (Y0.sum(axis=0) > 0).all()


def test_large_images_are_sampled():
    side = int(MAX_FIT_PIXELS**0.5) + 40
    image = np.zeros((side, side, 3))
    image[:, side // 2 :] = 0.7
    image += RNG.random(image.shape) * 0.1
    labels = gmm_initial_embedding(image, 2).argmax(axis=1).reshape(side, side)
    assert (labels[:, : side // 2] == labels[0, 0]).all()
    assert (labels[:, side // 2 :] != labels[0, 0]).all()


@pytest.mark.parametrize(
    ("n_dims", "message"), [(0, "between 1 and"), (17, "number of pixels, 16")]
)
def test_wrong_dimensions_are_rejected(n_dims, message):
    with pytest.raises(InvalidInputError, match=message):
        gmm_initial_embedding(np.zeros((4, 4)), n_dims)


def test_wrong_assignment_is_rejected():
    with pytest.raises(InvalidInputError, match="assignment must be one of hard, soft"):
        gmm_initial_embedding(np.zeros((4, 4)), 2, assignment="firm")
