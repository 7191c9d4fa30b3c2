"""Pixels that do not belong to an image."""

from __future__ import annotations

import csv
import json

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import SAMPLES, names, run
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from PIL import Image

import pfeseg
from pfeseg import Clusters, InvalidInputError, Level, Regions, Settings, as_raster, segment
from pfeseg.files.raster import read_raster
from pfeseg.image.masks import shrink_mask
from pfeseg.labels.maps import split_regions

PHOTO = iio.imread(SAMPLES / "coffee.jpg")[::2, ::2]


def oval(shape: tuple[int, ...]) -> np.ndarray:
    """Mask an oval that a thin line cuts in two."""
    height, width = shape[:2]
    y, x = np.indices((height, width))
    inside = ((y / height - 0.5) / 0.47) ** 2 + ((x / width - 0.5) / 0.47) ** 2 < 1
    return inside & (np.abs(x - width // 2) > 1)


MASK = oval(PHOTO.shape)

EVERY_WAY = [
    Settings(),
    Settings(cut=Level(0.2)),
    Settings(cut=Regions(6)),
    Settings(cut=Clusters(5)),
    Settings(cut=Clusters(5), cluster="pixels"),
    Settings(cut=Clusters(5), min_region=0.01),
    Settings(refine=False),
    Settings(method="ncut", n_dims=4),
    Settings(method="kmeans", n_dims=4),
    Settings.preset("paper"),
]


@pytest.mark.parametrize("way", EVERY_WAY, ids=lambda way: f"{way.method}-{way.cut}-{way.cluster}")
def test_labels_have_the_mask_exactly_and_nothing_outside_counts(way):
    found = segment(PHOTO, way, mask=MASK)
    np.testing.assert_array_equal(found.labels == 0, ~MASK)
    np.testing.assert_array_equal(np.unique(found.labels[MASK]), np.arange(found.n_regions) + 1)
    other = PHOTO.copy()
    other[~MASK] = np.random.default_rng(0).integers(0, 255, ((~MASK).sum(), 3))
    np.testing.assert_array_equal(segment(other, way, mask=MASK).labels, found.labels)
    if found.graph is not None:
        assert found.graph.n_nodes == found.small_mask.sum() == len(found.coordinates)
        assert found.graph.n_nodes < found.small_mask.size


def test_levels_are_connected_and_nested_inside_the_mask():
    tree = segment(PHOTO, mask=MASK).hierarchy
    finer = None
    for level in (0, 0.1, 0.3, 0.5, 0.7, 0.99):
        labels = tree.cut(level)
        pieces = split_regions(np.where(MASK, labels, 0))
        assert len(np.unique(pieces[MASK])) == labels.max()
        if finer is not None:  # each finer region lies in one coarser
            assert len(set(zip(finer[MASK], labels[MASK], strict=True))) == finer.max()
        finer = labels
    assert tree.cut(0.99).max() >= 2  # the halves never merge below 1
    for count in (1, 2, 5, 9):
        assert tree.with_regions(count).max() == max(count, 2)


def test_a_mask_of_all_is_none():
    everything = segment(PHOTO, mask=np.ones(PHOTO.shape[:2]))
    np.testing.assert_array_equal(everything.labels, segment(PHOTO).labels)
    assert everything.mask is None
    assert "masked_pixels" not in everything.report()


def test_masked_arrays_are_honoured():
    array = np.ma.masked_array(PHOTO, np.broadcast_to(~MASK[..., None], PHOTO.shape))
    found = segment(array)
    np.testing.assert_array_equal(found.labels, segment(PHOTO, mask=MASK).labels)
    both = np.ones_like(MASK)
    both[:60] = False
    np.testing.assert_array_equal(segment(array, mask=both).labels == 0, ~(MASK & both))
    plain = np.ma.masked_array(PHOTO)
    np.testing.assert_array_equal(segment(plain).labels, segment(PHOTO).labels)


def test_range_and_bands_look_inside_only():
    deep = PHOTO.astype(np.uint16) * 4
    deep[~MASK] = 65535
    raster = as_raster(deep, mask=MASK)
    assert (raster.black, raster.white) == (0, 1023)
    bands = np.dstack([deep, deep[..., 1]])
    found = segment(bands, Settings(bands="all"), mask=MASK)
    np.testing.assert_array_equal(found.labels == 0, ~MASK)
    assert max(found.white) == 1023


@pytest.mark.parametrize(
    ("mask", "message"),
    [
        (np.zeros(PHOTO.shape[:2]), "leaves no pixel"),
        (np.ones((3, 4)), "size of the image, 300 x 200 pixels"),
        (np.full(PHOTO.shape[:2], "a"), "truth values or numbers"),
    ],
)
def test_what_is_no_mask_is_refused(mask, message):
    with pytest.raises(InvalidInputError, match=message):
        segment(PHOTO, mask=mask)


def test_infinite_values_inside_are_told_with_their_place():
    image = np.zeros((20, 30))
    image[0, 0] = image[7, 5] = np.nan
    mask = np.ones(image.shape, bool)
    mask[0, 0] = False
    with pytest.raises(InvalidInputError, match="NaN at row 7, column 5"):
        segment(image, mask=mask)
    mask[7, 5] = False
    assert segment(image, mask=mask).n_regions == 1


@pytest.mark.filterwarnings("ignore::pfeseg.errors.CutWarning")  # some have fewer than 3 pixels
@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.floats(0.001, 0.9), st.integers(1, 40), st.integers(1, 40))
def test_any_mask_of_a_small_image(seed, share, height, width):
    rng = np.random.default_rng(seed)
    mask = rng.random((height, width)) < share
    mask.flat[rng.integers(mask.size)] = True
    image = rng.integers(0, 255, (height, width, 3)).astype(np.uint8)
    assume(not mask.all())
    for cut in (Level(0.5), Regions(3), Clusters(1)):
        labels = segment(image, Settings(max_size=16, cut=cut), mask=mask).labels
        np.testing.assert_array_equal(labels == 0, ~mask)
        assert set(labels[mask]) == set(range(1, labels.max() + 1))


def test_a_pixel_that_covers_any_of_the_inside_is_inside():
    mask = np.zeros((40, 60), bool)
    mask[16, 34] = True
    small = shrink_mask(mask, (7, 9))
    assert small.sum() == 1
    assert small[int(16.5 * 7 / 40), int(34.5 * 9 / 60)]


def test_stages_in_python_agree():
    raster = as_raster(PHOTO, mask=MASK)
    chosen = Settings()
    prepared = pfeseg.PreparedImage(raster, chosen)
    found = prepared.embed(prepared.solver, prepared.start(8), None)
    degrees, size = prepared.graph.degrees, prepared.small.shape
    tree = pfeseg.build_hierarchy(raster, found.Y, degrees, size)
    np.testing.assert_array_equal(tree.cut(0.5), segment(PHOTO, mask=MASK).labels)
    clusters = pfeseg.cluster_regions(raster, found.Y, degrees, size, 5)
    by_cut = segment(PHOTO, Settings(cut=Clusters(5)), mask=MASK)
    np.testing.assert_array_equal(clusters, by_cut.labels)


@pytest.fixture
def files(tmp_path):
    iio.imwrite(tmp_path / "photo.png", PHOTO)
    iio.imwrite(tmp_path / "mask.png", MASK.astype(np.uint8) * 255)
    alpha = np.where(MASK, 255, 0).astype(np.uint8)
    iio.imwrite(tmp_path / "cut.png", np.dstack([PHOTO, alpha]))
    return tmp_path


def test_the_command_with_a_mask(files):
    saved = "labels,overlay,regions,masks,cutouts,coco,geojson,embedding,ucm"
    words = ("--mask", files / "mask.png", "--save", saved, "-o", files / "out")
    assert run("segment", files / "photo.png", *words).exit_code == 0
    labels = iio.imread(files / "out/photo_labels.png")
    np.testing.assert_array_equal(labels, segment(PHOTO, mask=MASK).labels)
    report = json.loads((files / "out/photo.json").read_text())
    assert report["mask"] == str(files / "mask.png")
    assert (report["first_label"], report["masked_pixels"]) == (1, (~MASK).sum())
    assert report["regions"] == labels.max()
    overlay = iio.imread(files / "out/photo_overlay.png")
    assert (overlay[~MASK] == 255).all()
    with (files / "out/photo_regions.csv").open() as file:
        table = list(csv.DictReader(file))
    assert [int(row["label"]) for row in table] == list(range(1, labels.max() + 1))
    assert sum(int(row["area"]) for row in table) == MASK.sum()
    assert len(names(files / "out/photo_masks")) == labels.max()
    first = iio.imread(files / "out/photo_masks/0001.png")
    np.testing.assert_array_equal(first == 255, labels == 1)
    coco = json.loads((files / "out/photo_coco.json").read_text())
    assert [part["id"] for part in coco["annotations"]] == list(range(1, labels.max() + 1))
    shapes = json.loads((files / "out/photo_regions.geojson").read_text())["features"]
    assert len(shapes) == labels.max()


def test_alpha_as_a_mask(files):
    result = run("segment", files / "cut.png", "--mask", "alpha", "-o", files / "out")
    assert result.exit_code == 0
    np.testing.assert_array_equal(iio.imread(files / "out/cut_labels.png") == 0, ~MASK)
    result = run("segment", files / "photo.png", "--mask", "alpha", "-o", files / "out")
    assert result.exit_code == 1
    assert "photo.png: has no alpha channel, which --mask alpha needs" in result.stderr


@pytest.mark.parametrize(
    ("write", "message"),
    [
        (np.zeros(PHOTO.shape[:2], np.uint8), "zero everywhere"),
        (np.ones((5, 7), np.uint8), "has 300 x 200 pixels, but the mask"),
        (None, "no such file"),
    ],
)
def test_masks_that_cannot_be_used_end_in_one_line(files, write, message):
    if write is not None:
        iio.imwrite(files / "bad.png", write)
    result = run("segment", files / "photo.png", "--mask", files / "bad.png", "-o", files / "out")
    assert (result.exit_code, message in result.stderr) == (1, True)
    assert len(result.stderr.strip().splitlines()) <= 2


def test_no_data_by_option_and_by_the_file(tmp_path):
    image = (PHOTO[..., 0] / 255).astype(np.float32)
    image[~MASK] = -9999
    tagged, plain, holes = (tmp_path / f"{name}.tif" for name in ("tagged", "plain", "holes"))
    tifffile.imwrite(tagged, image, extratags=[(42113, "s", 0, "-9999", True)])
    tifffile.imwrite(plain, image)
    tifffile.imwrite(holes, np.where(MASK, image, np.nan).astype(np.float32))
    out = tmp_path / "out"
    assert run("segment", tagged, "-o", out).exit_code == 0
    assert run("segment", plain, "-o", out, "--nodata", "-9999", "--nodata", "7").exit_code == 0
    assert run("segment", holes, "-o", out, "--nodata", "nan").exit_code == 0
    wanted = segment(image, mask=MASK).labels
    for name in ("tagged", "plain", "holes"):
        np.testing.assert_array_equal(iio.imread(out / f"{name}_labels.png"), wanted)
    assert json.loads((out / "plain.json").read_text())["nodata"] == ["-9999.0", "7.0"]
    result = run("segment", holes, "-o", out, "--overwrite")
    assert (result.exit_code, "NaN at row" in result.stderr) == (1, True)
    iio.imwrite(tmp_path / "black.png", np.zeros((20, 30), np.uint8))
    result = run("segment", tmp_path / "black.png", "--nodata", "0", "-o", out)
    assert (result.exit_code, "no pixel is left" in result.stderr) == (1, True)


def test_a_pixel_is_no_data_if_all_its_bands_are(tmp_path):
    image = np.full((20, 30, 3), 90, np.uint8)
    image[0, 0, 0] = 0
    image[5, 5] = 0
    Image.fromarray(image).save(tmp_path / "a.png")
    mask = read_raster(tmp_path / "a.png", nodata=(0.0,)).mask
    assert (~mask).sum() == 1
    assert not mask[5, 5]


def test_the_mask_inside_a_tiff_is_honoured(tmp_path):
    with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:
        tiff.write(PHOTO, photometric="rgb")
        tiff.write(MASK, photometric="mask", subfiletype=4)
    np.testing.assert_array_equal(read_raster(tmp_path / "a.tif").mask, MASK)


def test_stage_commands_agree_with_the_whole(files):
    photo, mask = files / "photo.png", ("--mask", files / "mask.png")
    for words in (
        ("downsample", photo, "-o", files / "i.npz", *mask),
        ("graph", files / "i.npz", "-o", files / "g.npz"),
        ("init", files / "i.npz", "-o", files / "y.npz"),
        ("embed", files / "g.npz", files / "y.npz", "-o", files / "e.npz"),
        ("merge", files / "e.npz", photo, "-o", files / "labels.png", *mask),
        ("cluster", files / "e.npz", photo, "-k", "4", "-o", files / "k.png", *mask),
        ("overlay", photo, files / "labels.png", "-o", files / "o.png", *mask),
        ("segment", photo, "-o", files, *mask),
        ("segment", photo, "-o", files / "four", "-k", "4", *mask),
        ("sweep", photo, "-o", files / "sweep", "-d", "5,6", "-k", "3", *mask),
    ):
        assert run(*words).exit_code == 0, words
    for ours, whole in (
        ("labels.png", "photo_labels.png"),
        ("o.png", "photo_overlay.png"),
        ("k.png", "four/photo_labels.png"),
    ):
        assert (iio.imread(files / ours) == iio.imread(files / whole)).all(), ours
    result = run("merge", files / "e.npz", photo, "-o", files / "bad.png")
    assert result.exit_code == 1
    assert "was made with a mask; give the same --mask and --nodata" in result.stderr


def test_commands_do_not_count_what_is_masked(files):
    photo, mask = files / "photo.png", ("--mask", files / "mask.png")
    for words in (
        ("downsample", photo, "-o", files / "i.npz", *mask),
        ("graph", files / "i.npz", "-o", files / "g.npz"),
        ("init", files / "i.npz", "-o", files / "y.npz"),
        ("embed", files / "g.npz", files / "y.npz", "-o", files / "e.npz"),
    ):
        assert run(*words).exit_code == 0, words
    k = files / "k.png"
    for words in (
        ("cluster", files / "e.npz", photo, "-k", "4", "-o", k, *mask),
        ("cluster", files / "e.npz", "-k", "4", "--cluster", "pixels", "-o", files / "p.png"),
        ("overlay", photo, k, "-o", files / "o.png", *mask),
    ):
        assert " of 4 regions" in run(*words).stderr, words
    merged = run("merge", files / "e.npz", photo, "--regions", 1, "-o", files / "m.png", *mask)
    assert "map of 2 regions" in merged.stderr  # as the mask keeps two halves apart


def test_the_sheet_of_a_sweep_is_white_outside(files):
    words = ("-d", "5,6", "-k", "3", "--mask", files / "mask.png", "-o", files / "out")
    assert run("sweep", files / "photo.png", *words).exit_code == 0
    corner = iio.imread(files / "out/photo_sweep.png")[4:10, 4:10]  # of the image itself
    assert (corner == 255).all()
