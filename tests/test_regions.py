"""Clean-up of label maps."""

from __future__ import annotations

import numpy as np
import pytest
from helpers import same_partition
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from skimage.measure import label as skimage_label

from pfeseg import InvalidInputError, clean_regions
from pfeseg.labels.maps import AT_A_TIME, count_pixels, labels_of, split_regions
from pfeseg.regions.clean import min_pixels

MAPS = hnp.arrays(
    np.int64, hnp.array_shapes(min_dims=2, max_dims=2, max_side=9), elements=st.integers(0, 3)
)


@given(MAPS)
def test_regions_are_those_of_scikit_image(labels):
    regions = split_regions(labels)
    assert same_partition(regions, skimage_label(labels + 1, connectivity=1))
    first = np.unique(regions, return_index=True)[1]
    assert (np.diff(first) > 0).all()  # numbered in order of first appearance
    assert regions[0, 0] == 0


@given(MAPS)
def test_pieces_know_their_labels_and_sizes(labels):
    pieces = split_regions(labels)
    np.testing.assert_array_equal(labels_of(pieces, labels)[pieces], labels)
    np.testing.assert_array_equal(count_pixels(pieces), np.bincount(pieces.ravel()))


def test_many_pixels_are_counted_in_parts():
    regions = np.arange(2 * AT_A_TIME + 5, dtype=np.int32).reshape(1, -1) % 7
    np.testing.assert_array_equal(count_pixels(regions), np.bincount(regions.ravel()))


@given(MAPS, st.integers(1, 30), st.integers(0, 2**16))
def test_no_small_region_is_left(labels, smallest, seed):
    image = np.random.default_rng(seed).random((*labels.shape, 3))
    cleaned = clean_regions(labels, image, smallest)
    sizes = np.bincount(cleaned.ravel())
    assert sizes.min() >= min(smallest, labels.size)
    assert same_partition(cleaned, split_regions(cleaned))  # each region is connected
    # Regions are merged, never cut.
    pairs = np.unique(np.stack([split_regions(labels).ravel(), cleaned.ravel()]), axis=1)
    assert len(np.unique(pairs[0])) == pairs.shape[1]
    # A map whose regions are all large enough stays as it is.
    assert (clean_regions(cleaned, image, smallest) == cleaned).all()


def test_a_small_region_joins_the_neighbour_of_most_similar_colour():
    labels = np.array([[0, 0, 0, 1, 2, 2, 2]] * 3)
    for middle, target in ((0.3, 0), (0.7, 6)):
        image = np.array([0.2, middle, 0.8])[labels]
        cleaned = clean_regions(labels, image, 4)
        assert cleaned.max() == 1
        assert cleaned[0, 3] == cleaned[0, target]


def test_one_region_and_tiny_images_stay_whole():
    assert (clean_regions(np.zeros((2, 2), int), np.zeros((2, 2)), 100) == 0).all()
    assert clean_regions(np.array([[5]]), np.zeros((1, 1)), 100).tolist() == [[0]]


def test_shares_and_pixels():
    assert min_pixels(0.005, 10_000) == 50
    assert min_pixels(1, 10_000) == 1
    assert min_pixels(200, 10_000) == 200


def test_wrong_input_is_refused():
    with pytest.raises(InvalidInputError, match="do not fit"):
        clean_regions(np.zeros((2, 3), int), np.zeros((3, 2)), 1)
    with pytest.raises(InvalidInputError, match="integer array"):
        split_regions(np.zeros((2, 3)))
