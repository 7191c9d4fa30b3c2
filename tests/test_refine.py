from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import redrawn

from pfeseg import enlarge_labels, kernels
from pfeseg.labels.maps import split_regions
from pfeseg.regions.refine import redraw_boundaries, refine_labels


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


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 24), st.integers(1, 24)),
    blocks=st.integers(1, 5),
    channels=st.sampled_from([1, 3]),
    reach=st.integers(1, 4),
    seed=st.integers(0, 2**31),
)
def test_bands_are_flooded_as_whole_images_are(shape, blocks, channels, reach, seed):
    rng = np.random.default_rng(seed)
    coarse = rng.integers(0, 3, [-(-side // blocks) for side in shape])
    labels = np.kron(coarse, np.ones((blocks, blocks), int))[: shape[0], : shape[1]]
    pieces = split_regions(labels)
    image = rng.random((*shape, channels))
    expected = redrawn(pieces, image, reach)
    for threads in (1, 2, 5):
        np.testing.assert_array_equal(redraw_boundaries(pieces, image, reach, threads), expected)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
def test_the_unit_of_the_image_does_not_matter(kind):
    rng = np.random.default_rng(0)
    pieces = split_regions(np.kron(rng.integers(0, 4, (6, 7)), np.ones((5, 5), int)))
    image = rng.integers(0, np.iinfo(kind).max, (30, 35, 3)).astype(kind)
    np.testing.assert_array_equal(
        redraw_boundaries(pieces, image, 2), redraw_boundaries(pieces, image.astype(float), 2)
    )
    small = enlarge_labels(pieces, (15, 18))
    np.testing.assert_array_equal(
        refine_labels(small, image), refine_labels(small, image / np.iinfo(kind).max)
    )


def test_grey_images_are_refined_as_grey_colours_are():
    rng = np.random.default_rng(0)
    grey = rng.integers(0, 256, (80, 90)).astype(np.uint8)
    small = rng.integers(0, 3, (20, 25)).astype(np.int32)
    colours = np.repeat(grey[..., None], 3, axis=2)
    np.testing.assert_array_equal(refine_labels(small, grey), refine_labels(small, colours))


def test_what_does_not_fit_together_is_refused():
    pieces, image, weights = np.zeros((3, 4), np.int32), np.zeros((3, 4, 3)), np.ones(3, np.float32)
    for wrong, message in (
        ((pieces[:2], image, 2, weights, weights, 1), "one shape"),
        ((pieces - 1, image, 2, weights, weights, 1), "numbered"),
        ((pieces + 12, image, 2, weights, weights, 1), "numbered"),
        ((pieces, image, 0, weights, weights, 1), "reach"),
        ((pieces, image, 2, weights[:2], weights[:2], 1), "odd"),
        ((pieces, image, 2, weights, weights[:1], 1), "one size"),
    ):
        with pytest.raises(ValueError, match=message):
            kernels.redraw_boundaries(*wrong[:2], 0.0, 1.0, *wrong[2:])
