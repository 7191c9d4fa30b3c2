from __future__ import annotations

import numpy as np
import pytest

from pfeseg import InvalidInputError, build_pixel_graph
from pfeseg.image.arrays import as_raster
from pfeseg.pixels.cooccurrence import REACH, _meetings, colour_information, mutual_information


def two_textures() -> np.ndarray:
    """Red and yellow dots at random on the left half, blue and grey ones on the right."""
    rng = np.random.default_rng(3)
    palette = np.array([[200, 30, 30], [230, 210, 40], [30, 40, 190], [120, 125, 130]], np.uint8)
    classes = rng.integers(0, 2, (40, 60))
    classes[:, 30:] += 2
    return palette[classes]


def test_meetings_are_those_of_plain_loops():
    classes = np.random.default_rng(1).integers(0, 4, (7, 9)).astype(np.int32)
    counts = np.zeros((4, 4))
    places = [(y, x) for y in range(7) for x in range(9)]
    for y, x in places:
        for v, u in places:
            if 0 < (y - v) ** 2 + (x - u) ** 2 <= REACH**2:
                counts[classes[y, x], classes[v, u]] += 1
    np.testing.assert_array_equal(_meetings(classes, 4), counts)


def test_information_is_symmetric_and_knows_who_meets_whom():
    classes = np.repeat(np.arange(4, dtype=np.int32)[None], 30, axis=0).repeat(10, axis=1)
    information = mutual_information(classes, np.eye(4) * 100)
    np.testing.assert_allclose(information, information.T, atol=1e-12)
    # Stripes 0 | 1 | 2 | 3: a class meets itself most, then its neighbour, the far ones never.
    assert information[0, 0] > information[0, 1] > information[0, 2]
    assert information[0, 2] == pytest.approx(information[1, 3], abs=0.5)


def test_a_border_of_textures_is_weaker_than_the_colours_within_them():
    graph = build_pixel_graph(two_textures(), 4, "pmi")
    i, j = graph.edges.T
    columns = i % 60, j % 60
    across = (columns[0] == 29) & (columns[1] == 30)
    colours = two_textures().reshape(-1, 3)
    mixed = ~across & (colours[i] != colours[j]).any(axis=1)
    assert across.sum() == 40
    assert graph.weights[across].max() < 0.5 * graph.weights[mixed].min()
    # By their colours alone, some pixels across the border are more alike than some within.
    plain = build_pixel_graph(two_textures(), 4, "lab")
    assert plain.weights[across].max() > plain.weights[mixed].min()


def test_a_tenth_of_the_edges_has_full_weight_and_none_has_none(chelsea):
    small = chelsea[::4, ::4]
    graph = build_pixel_graph(small, 2.0, "pmi", seed=3)
    classes, information = colour_information(as_raster(small).lab(), 3)
    i, j = graph.edges.T
    found = information[classes.ravel()[i], classes.ravel()[j]]
    enough = np.quantile(found, 0.9)
    assert ((graph.weights == 1) == (found >= enough)).all()
    np.testing.assert_allclose(graph.weights, np.exp(np.minimum(found - enough, 0)))
    assert graph.weights.min() > 0
    assert (build_pixel_graph(small, 2.0, "pmi", seed=4).weights != graph.weights).any()


def test_one_colour_and_single_pixels_have_a_graph():
    for shape in ((12, 9, 3), (1, 7, 3), (1, 1, 3)):
        graph = build_pixel_graph(np.full(shape, 90, np.uint8), 4, "pmi")
        assert (graph.weights == 1).all()


def test_texture_tells_apart_what_colour_does_not():
    image = np.full((20, 40, 3), 128, np.uint8)
    texture = np.zeros((20, 40, 1))
    texture[:, 20:] = 30
    classes, information = colour_information(np.tile(texture, 3), 0)
    assert (classes[:, :20] == classes[0, 0]).all()
    assert classes[0, 0] != classes[0, -1]
    first, last = classes[0, 0], classes[0, -1]
    assert information[first, last] < information[first, first]
    graph = build_pixel_graph(image, 4, "pmi", texture=texture)
    assert graph.weights.min() < 0.2
    assert build_pixel_graph(image, 4, "pmi").weights.min() == 1


def test_texture_that_does_not_fit_is_refused():
    for texture in (np.zeros((4, 4, 1)), np.zeros((8, 8)), np.full((8, 8, 1), np.nan)):
        with pytest.raises(InvalidInputError, match=r"finite numbers and have shape \(8, 8, c\)"):
            build_pixel_graph(np.zeros((8, 8, 3), np.uint8), 4, "pmi", texture=texture)


def test_classes_without_pixels_take_no_part():
    colours = np.random.default_rng(0).random((30, 3)) * 100
    blocks = np.kron(np.arange(30).reshape(5, 6), np.ones((6, 6), int))
    classes, information = colour_information(colours[blocks], 0)
    assert len(information) == 30 == len(np.unique(classes))
