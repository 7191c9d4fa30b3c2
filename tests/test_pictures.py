from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from pfeseg import InvalidInputError, downsample, draw_overlay, enlarge_labels, kernels
from pfeseg.image.colour import to_lab
from pfeseg.labels.maps import CORNERS, SIDES, find_boundaries, touching
from pfeseg.pictures.colours import region_colours
from pfeseg.pictures.montage import (
    BELOW_ZERO,
    SHEET_TILE,
    draw_contact_sheet,
    draw_embedding,
)
from pfeseg.pictures.overlay import OUTLINE, TINT, draw_contour_map, widen


def touching_by_hand(labels: np.ndarray) -> set[tuple[int, int]]:
    height, width = labels.shape
    pairs = set()
    for y in range(height):
        for x in range(width):
            for dy, dx in ((0, 1), (1, 0), (1, 1), (1, -1)):
                if 0 <= y + dy < height and 0 <= x + dx < width:
                    a, b = int(labels[y, x]), int(labels[y + dy, x + dx])
                    if a != b:
                        pairs.add((min(a, b), max(a, b)))
    return pairs


@settings(max_examples=50, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 12), st.integers(1, 12)),
    n_labels=st.integers(1, 60),
    seed=st.integers(0, 2**31),
)
def test_touching_regions_never_share_a_colour(shape, n_labels, seed):
    labels = np.random.default_rng(seed).integers(0, n_labels, shape)
    pairs = touching_by_hand(labels)
    assert {tuple(pair) for pair in touching(labels, SIDES + CORNERS).tolist()} == pairs
    colours = np.rint(region_colours(labels) * 255)
    assert all((colours[a] != colours[b]).any() for a, b in pairs)
    assert (colours.max(axis=1) > 100).all()  # no black regions


def test_many_regions_all_touching_one():
    labels = np.arange(1, 401).reshape(20, 20).repeat(3, 0).repeat(3, 1)
    labels[::3] = labels[:, ::3] = 0
    colours = region_colours(labels)
    assert all((colours[a] != colours[b]).any() for a, b in touching(labels, SIDES + CORNERS))


def test_colours_are_stable():
    few, more = np.arange(4).reshape(2, 2), np.arange(9).reshape(3, 3)
    assert (region_colours(few) == region_colours(more)[:4]).all()


def test_overlay_tints_regions_and_draws_boundaries():
    labels = np.array([[0, 0, 1, 1], [0, 0, 1, 1], [2, 2, 1, 1]])
    picture = draw_overlay(np.full((3, 4), 0.5), labels)
    assert picture.shape == (3, 4, 3)
    assert picture.dtype == np.uint8
    marks = find_boundaries(labels)
    assert marks.tolist() == [[0, 1, 0, 0], [1, 1, 0, 0], [0, 1, 0, 0]]
    assert (picture[marks] == 255).all()
    assert (picture[0, 0] != picture[0, 3]).any()


@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32, np.float64])
@pytest.mark.parametrize("shape", [(40, 50, 3), (40, 50), (1, 30, 3), (30, 1)])
def test_overlay_is_the_blend_of_image_and_colours(kind, shape):
    rng = np.random.default_rng(0)
    top = np.iinfo(kind).max if np.issubdtype(kind, np.integer) else 1
    image = (rng.random(shape) * top).astype(kind)
    labels = rng.integers(0, 5, shape[:2])
    unit = image / top if image.ndim == 3 else np.stack([image / top] * 3, axis=2)
    expected = 255 * ((1 - TINT) * unit + TINT * region_colours(labels)[labels])
    expected[find_boundaries(labels)] = 255
    picture = draw_overlay(image, labels)
    np.testing.assert_allclose(picture, expected, atol=0.501)


def test_names_of_labels_do_not_change_the_regions_that_are_drawn():
    labels = np.random.default_rng(0).integers(0, 4, (8, 9))
    image = np.full(labels.shape, 0.3)
    picture = draw_overlay(image, labels)
    np.testing.assert_array_equal(find_boundaries(labels), (picture == 255).all(axis=2))
    for period in (24 * 10**9, -24 * 10**3):  # the palette begins anew after 24
        np.testing.assert_array_equal(draw_overlay(image, labels + period), picture)


def test_a_smaller_overlay_is_that_of_the_smaller_image():
    rng = np.random.default_rng(0)
    image = rng.integers(0, 256, (60, 90, 3)).astype(np.uint8)
    labels = np.kron(rng.integers(0, 4, (4, 6)), np.ones((15, 15), int))
    small = draw_overlay(image, labels, 30)
    assert small.shape == (20, 30, 3)
    expected = draw_overlay(downsample(image, 3), enlarge_labels(labels, (20, 30)))
    np.testing.assert_allclose(small, expected, atol=1)
    np.testing.assert_array_equal(draw_overlay(image, labels, 90), draw_overlay(image, labels))
    np.testing.assert_array_equal(draw_overlay(image, labels, 900), draw_overlay(image, labels))
    assert draw_overlay(image, labels, 1).shape == (1, 1, 3)
    with pytest.raises(
        InvalidInputError, match="overlay_size must be a whole number of at least 1"
    ):
        draw_overlay(image, labels, 0)


@pytest.mark.parametrize(("longer", "width"), [(100, 1), (1700, 1), (2400, 2), (4000, 3)])
def test_outlines_of_large_pictures_are_wider(longer, width):
    labels = np.zeros((5, longer), int)
    labels[:, longer // 2 :] = 1
    picture = draw_overlay(np.zeros((5, longer)), labels)
    assert round(OUTLINE * longer) == width or width == 1
    assert (picture == 255).all(axis=2).sum(axis=1).tolist() == [width] * 5


@pytest.mark.parametrize("width", [1, 2, 3, 4, 5])
def test_widened_lines_lie_about_the_boundary(width):
    labels = np.zeros((20, 30), int)
    labels[:, 15:] = 1
    columns = np.flatnonzero(widen(find_boundaries(labels), width)[3])
    assert columns.tolist() == list(range(14 - (width - 1) // 2, 15 + width // 2))
    assert widen(np.ones((1, 3), bool), width).all()
    assert not widen(np.zeros((3, 1), bool), width).any()


@pytest.mark.parametrize(
    "labels",
    [
        np.array([[0, 255], [255, 0]], np.uint8),
        np.array([[-1, 16_000_000], [3, 3]]),
        np.array([[True, False], [False, True]]),
        np.array([[2**63, 1], [1, 1]], np.uint64),
    ],
)
def test_label_maps_of_any_origin(labels):
    picture = draw_overlay(np.zeros((2, 2)), labels)
    assert picture.shape == (2, 2, 3)


def test_labels_that_are_no_integers_are_rejected():
    with pytest.raises(InvalidInputError, match="integer array"):
        draw_overlay(np.zeros((2, 2)), np.zeros((2, 2)))


def test_the_montage_has_a_tile_for_each_channel_and_white_at_zero():
    Y = np.zeros((12, 3))
    Y[0], Y[1] = 2, -4  # the top left pixels of each
    Y[2, 2] = -1
    sheet = draw_embedding(Y, (3, 4))
    factor = SHEET_TILE // 4
    orange, blue = sheet[0, 0], sheet[0, factor]
    assert blue.tolist() == list(BELOW_ZERO)
    assert orange[0] > orange[2]
    tiles = [(y, x) for y in range(0, len(sheet), 5) for x in range(0, sheet.shape[1], 5)
             if (sheet[y : y + 2, x : x + 2] == blue).all()]  # fmt: skip
    assert len(tiles) * 25 == pytest.approx(3 * factor**2, rel=0.2)
    assert (sheet[factor : 3 * factor, : 4 * factor] == 255).all()
    assert (sheet[3 * factor :, : 4 * factor] < 128).any()  # its caption


def test_montage_of_a_tall_image_has_no_empty_columns():
    sheet = draw_embedding(np.arange(80.0).reshape(40, 2) - 40, (40, 1))
    coloured = (sheet != sheet[..., :1]).any(axis=2)
    assert coloured[:, : sheet.shape[1] // 2].any()
    assert coloured[:, sheet.shape[1] // 2 :].any()


def test_the_first_colours_are_far_apart_and_one_region_has_none():
    colours = region_colours(np.arange(24).reshape(4, 6))
    lab = to_lab(colours[None])[0]
    apart = np.linalg.norm(lab[:, None] - lab[None], axis=2)[np.triu_indices(24, 1)]
    assert apart.min() > 30  # a step of 2 is just seen
    image = np.random.default_rng(0).integers(0, 256, (5, 6, 3), dtype=np.uint8)
    np.testing.assert_array_equal(draw_overlay(image, np.full((5, 6), 3)), image)


def test_overlay_of_another_size_is_rejected():
    with pytest.raises(InvalidInputError, match="do not fit"):
        draw_overlay(np.zeros((3, 4)), np.zeros((4, 3), int))


def test_contact_sheet_shows_the_image_every_tile_and_a_frame():
    image = np.full((40, 60, 3), 0.5)
    halves = np.zeros((40, 60), int)
    halves[:, 30:] = 1
    tiles = [(halves, "d = 1"), (halves[::2, ::2], "d = 2\nbest"), (np.zeros((1, 1), int), "d = 3")]
    sheet = draw_contact_sheet(image, tiles, marked=1)
    assert sheet.dtype == np.uint8
    # Both sizes of the same label map give the same picture, and the image stands first.
    expected = draw_overlay(image, halves)
    found = [
        (y, x)
        for y in range(sheet.shape[0] - 39)
        for x in range(sheet.shape[1] - 59)
        if (sheet[y, x] == expected[0, 0]).all()
        and (sheet[y : y + 40, x : x + 60] == expected).all()
    ]
    assert len(found) == 2
    assert (sheet[4:44, 4:64] == 128).all()
    framed = [tuple(sheet[y - 2, x - 2]) == (255, 0, 0) for y, x in found]
    assert framed == [False, True]


def test_strong_contours_are_black_and_weak_ones_all_but_white():
    levels = np.zeros((7, 13))
    for column, level in ((2, 0.2), (6, 0.4), (10, 0.8)):  # sides between the pixels of each row
        levels[:, column] = level
    picture = draw_contour_map(levels)
    assert picture.shape == (3, 6)
    row = picture[1].tolist()
    assert row[1] == row[3] == row[5] == 255
    assert row[4] == 0
    assert 0 < row[2] < row[0] < 255
    assert (draw_contour_map(np.zeros((7, 13))) == 255).all()


def test_what_cannot_be_tinted_is_refused():
    image, labels = np.zeros((2, 3, 3)), np.zeros((2, 3), np.int32)
    tints, marks = np.zeros((1, 3), np.float32), np.zeros((2, 3), np.uint8)
    for wrong, message in (
        ((image, 0.5, labels[:1], tints, marks), "one shape"),
        ((image, 0.5, labels, tints, marks[:1]), "one shape"),
        ((image[..., :2].copy(), 0.5, labels, tints, marks), "one channel or three"),
        ((image, 0.5, labels + 1, tints, marks), "needs a tint"),
        ((image, 0.5, labels - 1, tints, marks), "needs a tint"),
    ):
        with pytest.raises(ValueError, match=message):
            kernels.tint_regions(wrong[0], 0.0, 1.0, *wrong[1:])
