"""Boundaries against human ones: cases worked by hand, SciPy's matching, and the golden images."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching
from scipy.spatial.distance import cdist

from pfeseg import InvalidInputError
from pfeseg.files.matlab import read_contours, read_true_boundaries
from pfeseg.labels.boundaries import (
    TOLERANCE,
    BoundaryCounts,
    boundaries_of,
    contours_at,
    count_boundaries,
    match_boundaries,
    summarise_boundaries,
)

SHAPE = (240, 320)  # a diagonal of 400, so that the tolerance is 3 pixels


def line(column: int, rows: slice = slice(None)) -> np.ndarray:
    marks = np.zeros(SHAPE, dtype=bool)
    marks[rows, column] = True
    return marks


def most_pairs(marks: np.ndarray, truth: np.ndarray) -> int:
    """Count the pairs of a maximum matching by SciPy."""
    if not marks.any() or not truth.any():
        return 0
    near = cdist(np.argwhere(marks), np.argwhere(truth)) <= TOLERANCE * np.hypot(*marks.shape)
    return int((maximum_bipartite_matching(csr_array(near), perm_type="column") >= 0).sum())


@pytest.mark.parametrize(("shift", "matched"), [(0, 240), (3, 240), (4, 0)])
def test_lines_are_matched_within_the_tolerance(shift, matched):
    counts = count_boundaries(line(100), [line(100 + shift)])
    assert counts == BoundaryCounts(drawn=240, right=matched, human=240, found=matched)


def test_each_pixel_is_matched_with_one_only():
    twice = line(100) | line(102)
    assert count_boundaries(twice, [line(101)]) == BoundaryCounts(480, 240, 240, 240)
    # In any of the ground truths a drawn pixel may be right; all of them are to be found.
    both = count_boundaries(twice, [line(101), line(200)])
    assert both == BoundaryCounts(480, 240, 480, 240)
    shared = count_boundaries(twice, [line(100), line(102)])
    assert shared == BoundaryCounts(480, 480, 480, 480)


def test_a_pixel_hands_its_partner_over_where_that_makes_one_more_pair():
    marks, truth = np.zeros(SHAPE, bool), np.zeros(SHAPE, bool)
    marks[5, [10, 13]] = True
    truth[5, [9, 11]] = True  # 10 takes 11 or 9 first; 13 reaches 11 only
    assert match_boundaries(marks, truth).sum() == 2
    truth[5, 9] = False
    assert match_boundaries(marks, truth).sum() == 1


@settings(max_examples=60, deadline=None)
@given(
    height=st.integers(1, 40),
    width=st.integers(1, 500),
    shares=st.tuples(st.floats(0, 0.3), st.floats(0, 0.3)),
    seed=st.integers(0, 2**31),
)
def test_as_many_pairs_as_there_can_be(height, width, shares, seed):
    rng = np.random.default_rng(seed)
    height, width = max(height // 4, 1), width // 4 + 100
    marks, truth = (rng.random((height, width)) < share / 3 for share in shares)
    matched = match_boundaries(marks, truth)
    assert not (matched & ~marks).any()
    assert matched.sum() == most_pairs(marks, truth) == match_boundaries(truth, marks).sum()


def test_scores_by_hand():
    found = summarise_boundaries([[BoundaryCounts(drawn=10, right=5, human=20, found=4)]]).ois
    assert (found.precision, found.recall) == (0.5, 0.2)
    assert found.f == pytest.approx(2 / 7)
    nothing = summarise_boundaries([[BoundaryCounts(0, 0, 20, 0)]]).ois
    assert (nothing.precision, nothing.recall, nothing.f) == (1, 0, 0)


def test_a_data_set_by_hand():
    # Two images at two thresholds: counts are summed before they are divided.
    images = [
        [BoundaryCounts(10, 10, 20, 10), BoundaryCounts(0, 0, 20, 0)],
        [BoundaryCounts(30, 10, 10, 10), BoundaryCounts(10, 8, 10, 8)],
    ]
    found = summarise_boundaries(images)
    # The first threshold has 20 of 40 and 20 of 30, F = 4 / 7; the second 8 of 10 and 8 of 30.
    # On the straight line between them, at x from the first, P = .5 + .3 x and R = (2 - 1.2 x) / 3.
    x = np.linspace(0, 1, 100001)
    p, r = 0.5 + 0.3 * x, (2 - 1.2 * x) / 3
    assert found.ods.f == pytest.approx((2 * p * r / (p + r)).max(), abs=1e-4)
    assert found.ods.f >= 4 / 7
    # Each image at its best: 10 of 10 and 8 of 10 drawn, 10 of 20 and 8 of 10 human.
    assert (found.ois.precision, found.ois.recall) == (18 / 20, 18 / 30)
    grid = np.arange(27, 67) / 100  # recalls from 8 / 30 to 20 / 30
    expected = np.interp(grid, [8 / 30, 20 / 30], [0.8, 0.5]).sum() / 100
    assert found.average_precision == pytest.approx(expected)
    with pytest.raises(InvalidInputError, match="same thresholds"):
        summarise_boundaries([images[0], images[1][:1]])


def test_label_maps_and_contour_maps_have_the_same_lines():
    labels = np.zeros((8, 10), int)
    labels[:, 5:] = 1
    marks = boundaries_of(labels)
    assert marks[:, 4].all()
    assert marks.sum() == 8
    ucm2 = np.zeros((17, 21))
    ucm2[:, 10] = 0.5
    assert (contours_at(ucm2, 0.5) == marks).all()
    assert not contours_at(ucm2, 0.51).any()


def test_maps_of_different_sizes_are_refused():
    with pytest.raises(InvalidInputError, match="cannot be compared"):
        match_boundaries(np.zeros((4, 5), bool), np.zeros((5, 4), bool))


def test_the_golden_images_are_matched_as_well_as_can_be():
    root = os.environ.get("BSDS500_ROOT")
    folder = Path(root).parent / "bsds-golden" if root else None
    if folder is None or not folder.is_dir():
        pytest.skip("set BSDS500_ROOT to a folder beside which bsds-golden lies")
    paths = sorted((folder / "ucm2").glob("*.mat"))
    assert len(paths) == 5
    for path in paths:
        truth = read_true_boundaries(folder / "groundTruth" / path.name)[0]
        for marks in read_contours(path)[9:60:25]:
            assert match_boundaries(marks, truth).sum() == most_pairs(marks, truth)
