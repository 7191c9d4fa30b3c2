from __future__ import annotations

import numpy as np
import pytest

from pfeseg import enlarge_labels
from pfeseg.labels.maps import split_regions
from pfeseg.regions.refine import refine_labels


def disc(side: int) -> np.ndarray:
    y, x = (np.indices((side, side)) + 0.5) / side
    return ((y - 0.52) ** 2 + (x - 0.47) ** 2 < 0.3**2).astype(np.int32)


@pytest.mark.parametrize("factor", [2, 4, 8])
def test_boundaries_move_to_the_edges_of_the_image(factor):
    truth = disc(240)
    rng = np.random.default_rng(0)
    image = 0.4 + truth[..., None] * [0.4, 0.1, -0.2] + rng.normal(0, 0.02, (240, 240, 3))
    small = truth[factor // 2 :: factor, factor // 2 :: factor]
    stairs = (enlarge_labels(small, truth.shape) != truth).mean()
    refined = (refine_labels(small, image.clip(0, 1)) != truth).mean()
    assert refined < stairs / 2


def test_what_is_far_from_a_boundary_keeps_its_label():
    small = disc(40)
    image = np.random.default_rng(0).random((160, 160, 3))  # edges everywhere
    large, refined = enlarge_labels(small, (160, 160)), refine_labels(small, image)
    y, x = np.nonzero(large != refined)
    assert len(y)
    for i, j in zip(y.tolist(), x.tolist(), strict=True):
        window = large[max(i - 7, 0) : i + 8, max(j - 7, 0) : j + 8]
        assert window.min() != window.max()


def test_no_region_is_lost_even_if_it_is_all_boundary():
    small = np.arange(100, dtype=np.int32).reshape(10, 10)
    refined = refine_labels(small, np.random.default_rng(0).random((40, 45, 3)))
    assert set(np.unique(refined)) == set(range(100))


def test_labels_of_full_size_stay():
    labels = disc(30)
    assert (refine_labels(labels, np.zeros((30, 30, 3))) == labels).all()


def test_regions_stay_connected():
    rng = np.random.default_rng(1)
    small = split_regions(rng.integers(0, 2, (20, 30)).astype(np.int32))
    refined = refine_labels(small, rng.random((80, 120, 3)))
    assert split_regions(refined).max() == refined.max() == small.max()


def test_an_image_of_one_region_stays_one():
    labels = np.zeros((20, 30), np.int32)
    assert (refine_labels(labels, np.random.default_rng(0).random((80, 120, 3))) == 0).all()
