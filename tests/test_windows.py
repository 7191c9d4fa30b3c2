"""Rasters that are read and written by parts."""

from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import SAMPLES
from PIL import Image

from pfeseg import InvalidInputError, Settings, as_raster
from pfeseg.engines.local import Local
from pfeseg.files.labels import read_labels, write_label_blocks
from pfeseg.files.raster import read_raster
from pfeseg.files.windows import open_windows
from pfeseg.run.plan import Task
from pfeseg.run.tiles import sew_raster

PHOTO = np.ascontiguousarray(iio.imread(SAMPLES / "coffee.jpg")[::2, ::2])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rowsperstrip": 7},
        {"rowsperstrip": 30, "compression": "zlib"},
        {"tile": (48, 32)},
        {"tile": (32, 64), "compression": "zlib", "predictor": True},
        {"planarconfig": "separate", "tile": (32, 32), "compression": "zlib"},
        {"planarconfig": "separate", "byteorder": ">"},
    ],
    ids=str,
)
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
def test_windows_of_a_file_are_parts_of_its_image(tmp_path, options, kind):
    array = (PHOTO[:150, :140] * kind(3)).astype(kind)
    if kind is np.float32:  # tifffile itself has no predictor of floats
        options = {name: value for name, value in options.items() if name != "predictor"}
    stored = np.moveaxis(array, 2, 0) if "planarconfig" in options else array
    tifffile.imwrite(tmp_path / "a.tif", stored, photometric="rgb", **options)
    opened = open_windows(tmp_path / "a.tif", tmp_path)
    assert opened.pixels.page == 0  # not read whole
    for window in ((slice(0, 150), slice(0, 140)), (slice(31, 97), slice(63, 65))):
        np.testing.assert_array_equal(opened.read(window, "auto")[0], array[window])
        assert opened.read(window, "auto")[1] is None


def test_other_files_are_read_whole_once(tmp_path):
    for name in ("a.png", "a.npy", "turned.tif"):
        path = tmp_path / name
        if name == "a.npy":
            np.save(path, PHOTO)
        elif name == "a.png":
            iio.imwrite(path, PHOTO)
        else:
            Image.fromarray(PHOTO).save(path, tiffinfo={274: 6})
        opened = open_windows(path, tmp_path)
        assert opened.shape == ((200, 300) if name != "turned.tif" else (300, 200))
        window = slice(5, 50), slice(8, 90)
        expected = read_raster(path).values[window]
        np.testing.assert_array_equal(opened.read(window, "auto")[0], expected)


def test_nodata_alpha_and_masks_within_files_are_found_in_windows(tmp_path):
    alpha = np.where(np.indices((200, 300)).sum(0) % 7 > 2, 255, 0).astype(np.uint8)
    rgba = np.dstack([PHOTO, alpha])
    tifffile.imwrite(tmp_path / "a.tif", rgba, photometric="rgb", extrasamples=["unassalpha"])
    window = slice(10, 90), slice(20, 70)
    array, inside = open_windows(tmp_path / "a.tif", tmp_path, mask="alpha").read(window, "auto")
    np.testing.assert_array_equal(inside, alpha[window] > 0)
    np.testing.assert_array_equal(array, read_raster(tmp_path / "a.tif").values[window])
    tags = [(42113, "s", 0, "12", False)]
    deep = PHOTO[..., 0].astype(np.int16)
    tifffile.imwrite(tmp_path / "n.tif", deep, extratags=tags)
    opened = open_windows(tmp_path / "n.tif", tmp_path, nodata=(40.0,))
    np.testing.assert_array_equal(opened.read(window, "auto")[1], ~np.isin(deep[window], (12, 40)))
    with tifffile.TiffWriter(tmp_path / "m.tif") as tiff:
        tiff.write(PHOTO, photometric="rgb")
        tiff.write(alpha > 0, subfiletype=4)
    np.testing.assert_array_equal(
        open_windows(tmp_path / "m.tif", tmp_path).read(window, "auto")[1], alpha[window] > 0
    )
    with pytest.raises(InvalidInputError, match="no alpha channel"):
        open_windows(tmp_path / "m.tif", tmp_path, mask="alpha")


def test_the_limit_of_size_is_that_of_a_tile(tmp_path):
    path = tmp_path / "large.npy"
    raster = np.lib.format.open_memmap(path, "w+", np.uint8, (11_000, 9200))
    raster[4000:4200, 5000:5300] = PHOTO[..., 0]
    del raster
    with pytest.raises(InvalidInputError, match="million"):
        read_raster(path)
    opened = open_windows(path, tmp_path)
    assert opened.shape == (11_000, 9200)
    part, _ = opened.read((slice(4000, 4200), slice(5000, 5300)), "auto")
    np.testing.assert_array_equal(part[..., 0], PHOTO[..., 0])
    with pytest.raises(InvalidInputError, match="memory"):
        sew_raster(Task(path, {}, Settings(), tile=9000, memory_limit=2e8), tmp_path, Local())


@pytest.mark.parametrize("name", ["many.tif", "many.npy"])
def test_more_labels_than_16_bits_hold_are_written_by_blocks(tmp_path, name):
    labels = np.arange(700 * 300, dtype=np.uint32).reshape(700, 300)
    blocks = (labels[first : first + 256] for first in range(0, 700, 256))
    part = as_raster(np.zeros((2, 2)))
    write_label_blocks(tmp_path / name, labels.shape, blocks, int(labels.max()), part)
    np.testing.assert_array_equal(read_labels(tmp_path / name), labels)
    assert labels.max() > 65_535
