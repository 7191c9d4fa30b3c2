"""Which values are black and white, in images of every depth."""

from __future__ import annotations

import json

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import SAMPLES, run
from hypothesis import given, settings
from hypothesis import strategies as st

from pfeseg import (
    InvalidInputError,
    Settings,
    as_raster,
    clean_regions,
    draw_overlay,
    refine_labels,
    segment,
    sweep,
)
from pfeseg.image.stretch import SAMPLE, _sampled, find_percentiles
from pfeseg.labels.metrics import rand_index
from pfeseg.pictures.montage import draw_contact_sheet
from pfeseg.segmentation.prepared import PreparedImage


def ends(image, stretch="auto") -> tuple[float, float]:
    raster = as_raster(image, stretch)
    return raster.black, raster.white


def deeper(photo: np.ndarray) -> dict[str, np.ndarray]:
    """Store a photograph of 8 bits in all ways that people have."""
    twelve = np.rint(photo * (4095 / 255)).astype(np.uint16)
    sixteen = photo.astype(np.uint16) * 257
    return {
        "12 in 16": twelve,
        "12 in signed 16": twelve.astype(np.int16),
        "12 in big-endian 16": twelve.astype(">u2"),
        "16": sixteen,
        "signed 16": (sixteen.astype(int) - 32768).astype(np.int16),
        "signed 8": (photo.astype(int) - 128).astype(np.int8),
        "16 in 32": sixteen.astype(np.uint32),
        "16 in signed 64": sixteen.astype(np.int64),
        "float": photo / 255,
        "float to 255": photo.astype(np.float32),
        "float to 4095": twelve.astype(np.float64),
    }


@pytest.mark.parametrize(
    "name", ["astronaut.jpg", "chelsea.jpg", "coffee.jpg", "rocket.jpg", "scene.png"]
)
def test_a_scene_has_the_same_regions_in_every_depth(name):
    photo = iio.imread(SAMPLES / name)
    expected = segment(photo).labels
    for way, image in deeper(photo).items():
        assert rand_index(segment(image).labels, expected) >= 0.97, way


@settings(max_examples=100, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 30), st.integers(1, 30), st.sampled_from([1, 3])),
    kind=st.sampled_from(["?", "u1", "i1", "u2", "i2", "u4", "i4", "i8", "f4", "f8"]),
    spread=st.integers(0, 4),
    low=st.floats(0, 49),
    high=st.floats(51, 100),
    seed=st.integers(0, 2**31),
)
def test_percentiles_are_those_of_numpy(shape, kind, spread, low, high, seed):
    values = (np.random.default_rng(seed).normal(size=shape) * 3**spread).astype(kind)
    expected = (
        np.percentile(values.astype(float), low, method="lower"),
        np.percentile(values.astype(float), high, method="higher"),
    )
    assert find_percentiles(values, low, high) == expected


@pytest.mark.parametrize("width", [1, 2, 2048, 5000])
def test_a_sample_misses_no_column(width, monkeypatch):
    monkeypatch.setattr("pfeseg.image.stretch.SAMPLE", 20_000)
    columns = np.broadcast_to(
        np.arange(width, dtype=np.float32)[:, None], (100_000 // width, width, 1)
    )
    found = _sampled(columns)
    assert len(found) <= 20_000 * 1.5
    assert found.mean() == pytest.approx((width - 1) / 2, rel=0.05)
    assert SAMPLE > 10**6


@pytest.mark.parametrize(
    ("image", "stretch", "expected"),
    [
        (np.array([[10, 200]], np.uint8), "auto", (0, 255)),
        (np.array([[10, 200]], np.uint8), "minmax", (10, 200)),
        (np.array([[-5, 100]], np.int8), "auto", (-128, 127)),
        (np.array([[True, False]]), "auto", (0, 1)),
        (np.array([[0, 4000]], np.uint16), "none", (0, 65535)),
        (np.array([[0, 4000]], np.uint16), "auto", (0, 4095)),
        (np.array([[0, 40000]], np.uint16), "auto", (0, 65535)),
        (np.array([[3000, 4000]], np.uint16), "auto", (3000, 4000)),
        (np.array([[0, 3]], np.uint16), "auto", (0, 3)),
        (np.array([[0, 40000]], np.uint32), "auto", (0, 65535)),
        (np.array([[-3000, 4000]], np.int16), "auto", (-3000, 4000)),
        (np.array([[-20000, 30000]], np.int16), "auto", (-32768, 32767)),
        (np.array([[2**40, 2**41]], np.int64), "auto", (2**40, 2**41)),
        (np.array([[0, 100]], np.int64), "none", (-(2.0**63), 2.0**63)),
        (np.array([[0.1, 0.2]]), "auto", (0, 1)),
        (np.array([[0.1, 0.2]]), "none", (0, 1)),
        (np.array([[0.1, 0.2]]), "minmax", (0.1, 0.2)),
        (np.array([[0.0, 1.7]]), "auto", (0, 1.7)),
        (np.array([[0.0, 254.5]]), "auto", (0, 255)),
        (np.array([[-1.0, 1.0]]), "auto", (-1, 1)),
        (np.array([[3e-19, 5e-17]]), "minmax", (3e-19, 5e-17)),
        (np.full((2, 2), 3000, np.uint16), "auto", (0, 4095)),
        (np.full((2, 2), -3000, np.int16), "minmax", (-32768, 32767)),
        (np.full((2, 2), 300.0), "auto", (0, 511)),
        (np.full((2, 2), -1.5), "auto", (-3, 0)),
    ],
)
def test_what_is_black_and_what_is_white(image, stretch, expected):
    assert ends(image, stretch) == expected
    rgb = as_raster(image, stretch).rgb()
    unit = (image.astype(float) - expected[0]) / (expected[1] - expected[0])
    np.testing.assert_allclose(rgb, np.repeat(np.clip(unit, 0, 1)[..., None], 3, axis=2))


def test_a_few_wrong_pixels_do_not_darken_an_image():
    image = np.random.default_rng(0).integers(0, 4096, (100, 100)).astype(np.uint16)
    image[50, 50:54] = 65535
    assert ends(image) == (0, 4095)
    assert ends(image, "minmax") == (0, 65535)
    labels = np.zeros(image.shape, int)
    assert draw_overlay(image, labels).max() <= 255
    small = draw_overlay(image, labels, 20)  # averages are of what was clipped
    np.testing.assert_array_equal(small, draw_overlay(np.minimum(image, 4095), labels, 20))


def test_small_things_on_one_ground_are_seen():
    image = np.full((200, 200), 3000, np.uint16)
    image[3:5, 3:8] = 3900
    assert ends(image) == (3000, 3900)


@pytest.mark.parametrize(
    "bad", ["", "1", "5:1", "1:1", "-1:50", "0:101", "nan:50", "a:b", "1:2:3", 3]
)
def test_what_is_no_stretch_is_refused(bad):
    with pytest.raises(InvalidInputError, match=r"stretch must be auto, none, minmax or two"):
        Settings(stretch=bad)
    with pytest.raises(InvalidInputError, match="stretch must be"):
        as_raster(np.zeros((2, 2)), bad)


def test_floats_that_are_to_stay_as_they_are_must_lie_in_their_range():
    for value in (1.5, -0.1):
        with pytest.raises(InvalidInputError, match=r'\[0, 1\].*stretch="minmax"'):
            as_raster(np.full((2, 2), value), "none")
    with pytest.raises(InvalidInputError, match="too far apart"):
        as_raster(np.array([[-1.7e308, 1.7e308]]))


@pytest.mark.parametrize("value", [np.nan, np.inf, -np.inf])
def test_the_place_of_what_is_no_number_is_told(value):
    image = np.zeros((6, 7, 3))
    image[4, 5, 1] = value
    with pytest.raises(InvalidInputError, match="row 4, column 5, counted from 0"):
        as_raster(image)


@pytest.mark.parametrize("kind", ["?", "u1", "i1", "u2", "i2", "u4", "i4", "u8", "i8", "f2", "f8"])
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (40, 1), (9, 8, 3)])
def test_images_of_all_types_and_shapes_are_segmented_and_drawn(kind, shape):
    image = np.random.default_rng(0).integers(0, 100, shape).astype(kind)
    result = segment(image, Settings(n_dims=1))
    assert result.labels.shape == shape[:2]
    assert draw_overlay(image, result.labels).shape == (*shape[:2], 3)
    flat = segment(np.full(shape, image.flat[0]), Settings(n_dims=1))
    assert flat.n_regions == 1


@pytest.mark.parametrize("factor", [1e-30, 1e-19, 1e19, 1e30])
def test_the_unit_of_floats_does_not_matter(factor):
    rng = np.random.default_rng(0)
    image, small = rng.random((60, 70, 3)), rng.integers(0, 3, (15, 18)).astype(np.int32)
    unit, other = (as_raster(values, "minmax") for values in (image, image * factor))
    np.testing.assert_array_equal(refine_labels(small, other), refine_labels(small, unit))
    labels = refine_labels(small, unit)
    np.testing.assert_array_equal(clean_regions(labels, other, 30), clean_regions(labels, unit, 30))
    difference = draw_overlay(other, labels).astype(int) - draw_overlay(unit, labels)
    assert np.abs(difference).max() <= 1


@pytest.mark.parametrize("kind", ["u2", "i2", "u4", "i4", "f4", "f8"])
def test_what_is_added_to_all_values_does_not_matter(kind):
    rng = np.random.default_rng(0)
    image, small = rng.integers(0, 200, (60, 70)), rng.integers(0, 3, (15, 18)).astype(np.int32)
    plain, raised = (as_raster((image + more).astype(kind), "minmax") for more in (0, 30_000))
    np.testing.assert_array_equal(plain.rgb(), raised.rgb())
    np.testing.assert_array_equal(refine_labels(small, raised), refine_labels(small, plain))


def test_overlays_and_sheets_show_the_stretched_image(chelsea):
    deep, labels = chelsea.astype(np.uint16) * 16, np.zeros(chelsea.shape[:2], int)
    near = np.abs(draw_overlay(deep, labels).astype(int) - draw_overlay(chelsea, labels)).max()
    assert near <= 1
    bright = draw_overlay(as_raster(chelsea, "0:50"), labels).astype(float)
    unit = np.clip(chelsea / np.percentile(chelsea, 50, method="higher"), 0, 1)
    np.testing.assert_allclose(bright, 255 * unit, atol=1.01)  # one region is not tinted
    sheets = [draw_contact_sheet(image, [(labels, "one")], 0) for image in (deep, chelsea)]
    assert np.abs(sheets[0].astype(int) - sheets[1]).max() <= 1


def test_the_image_is_kept_as_it_came(chelsea):
    deep = chelsea.astype(np.uint16) * 16
    prepared = PreparedImage(deep, Settings(max_size=40))
    assert np.shares_memory(prepared.image.values, deep)
    assert as_raster(prepared.image) is prepared.image


def test_what_was_stretched_stays_so(chelsea):
    raster = as_raster(chelsea, "5:95")
    wanted = Settings(max_size=40, stretch="5:95")
    given, asked = segment(raster, Settings(max_size=40)), segment(chelsea, wanted)
    np.testing.assert_array_equal(given.labels, asked.labels)
    assert given.settings == asked.settings == wanted
    assert (given.black, given.white) == (raster.black, raster.white)
    report = json.loads(json.dumps(given.report()))
    assert (report["black"], report["white"]) == (raster.black, raster.white)
    assert Settings.from_dict(report["settings"]).stretch == "5:95"


def test_processes_see_the_same_black_and_white():
    image = np.random.default_rng(0).integers(0, 2, (40, 50)).astype(bool)
    quick = Settings(max_size=20)
    one, two = (sweep(image, [(2, 2), (3, 2)], settings=quick, jobs=jobs) for jobs in (1, 2))
    for a, b in zip(one.trials, two.trials, strict=True):
        np.testing.assert_array_equal(a.small_labels, b.small_labels)


@pytest.fixture
def microscope(chelsea, tmp_path):
    """A file of 12 bits in 16, of which a narrow range is used."""
    path = tmp_path / "cells.tif"
    tifffile.imwrite(path, chelsea.astype(np.uint16) * 3 + 2000, photometric="rgb")
    return path


@pytest.mark.parametrize("stretch", [(), ("--stretch", "2:98")])
def test_stages_give_the_bytes_of_segment(microscope, tmp_path, stretch):
    small = ("--max-size", 60)
    for step in (
        ("downsample", microscope, *small, *stretch, "-o", tmp_path / "image.npz"),
        ("graph", tmp_path / "image.npz", "-o", tmp_path / "graph.npz"),
        ("init", tmp_path / "image.npz", "-o", tmp_path / "init.npz"),
        ("embed", tmp_path / "graph.npz", tmp_path / "init.npz", "-o", tmp_path / "Y.npz"),
        ("merge", tmp_path / "Y.npz", microscope, "-o", tmp_path / "merged.png"),
        ("clean", tmp_path / "merged.png", microscope, *stretch, "-o", tmp_path / "labels.png"),
        ("overlay", microscope, tmp_path / "labels.png", *stretch, "-o", tmp_path / "overlay.png"),
        ("cluster", tmp_path / "Y.npz", microscope, "-k", 4, "-o", tmp_path / "k.png"),
        ("segment", microscope, *small, *stretch, "--min-region", "0.5%", "-o", tmp_path / "a"),
        ("segment", microscope, *small, *stretch, "-k", 4, "-o", tmp_path / "b"),
        ("segment", microscope, "--config", tmp_path / "b" / "cells.json", "-o", tmp_path / "c"),
    ):
        result = run(*step)
        assert result.exit_code == 0, result.stderr
    for ours, whole in (
        ("labels.png", "a/cells_labels.png"),
        ("overlay.png", "a/cells_overlay.png"),
        ("k.png", "b/cells_labels.png"),
        ("c/cells_labels.png", "b/cells_labels.png"),
    ):
        assert (tmp_path / ours).read_bytes() == (tmp_path / whole).read_bytes(), ours
    report = json.loads((tmp_path / "c" / "cells.json").read_text())
    assert report["settings"]["stretch"] == (stretch[1] if stretch else "auto")
    low, high = (2, 98) if stretch else (0.1, 99.9)
    values = tifffile.imread(microscope)
    assert report["black"] == np.percentile(values, low, method="lower")
    assert report["white"] == np.percentile(values, high, method="higher")


def test_a_wrong_stretch_is_told_in_one_line(microscope, tmp_path):
    for command in (("segment", microscope), ("overlay", microscope, microscope)):
        result = run(*command, "--stretch", "9:1", "-o", tmp_path / "x.png")
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
        assert "'9:1' is neither auto, none, minmax nor two percentages" in result.stderr


def test_stage_commands_name_the_file_that_cannot_be_stretched(tmp_path):
    path = tmp_path / "far.tif"
    tifffile.imwrite(path, np.array([[0, 7.5], [2, np.inf]]))
    for args in (("downsample", path), ("downsample", path, "--stretch", "none")):
        result = run(*args, "-o", tmp_path / "image.npz")
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1
        assert "far.tif: the image holds an infinite value at row 1, column 1" in result.stderr
    tifffile.imwrite(path, np.array([[0, 7.5]]))
    result = run("downsample", path, "--stretch", "none", "-o", tmp_path / "image.npz")
    assert "far.tif: a float image must lie in [0, 1]" in result.stderr
    assert "0 to 7.5; rescale it or give --stretch minmax" in result.stderr
