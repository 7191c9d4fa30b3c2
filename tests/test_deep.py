"""Pixels of 16 bits, transparent ones and inverted ones, and files of several pages."""

from __future__ import annotations

import json
import subprocess
import sys

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import png_of_size, run
from PIL import Image

from pfeseg import ImageWarning
from pfeseg.files.raster import read_raster
from pfeseg.files.reading import read_image

RNG = np.random.default_rng(6)
RGB = RNG.integers(0, 256, (7, 11, 3), dtype=np.uint8)
GREY = RGB[..., 0]
DEEP = RNG.integers(1, 65536, (7, 11, 4)).astype(np.uint16)

COLOUR_TYPES = {1: 0, 2: 4, 3: 2, 4: 6}
"""How PNG files call pixels of so many channels."""


def deep_png(image: np.ndarray, *chunks: tuple[bytes, bytes]) -> bytes:
    """Encode (h, w, c) of uint16, rows unfiltered."""
    rows = b"".join(b"\0" + row.astype(">u2").tobytes() for row in image)
    colour = COLOUR_TYPES[image.shape[2]]
    return png_of_size(image.shape[1], image.shape[0], 16, colour, rows, *chunks)


def test_colours_of_sixteen_bits_in_png(tmp_path):
    image = DEEP.copy()
    assert (read_image(deep_png(image[..., :3])) == image[..., :3]).all()
    key = image[5, 6, :3].copy()
    keyed = image[..., :3].copy()
    keyed[5, 6] = 65535
    chunk = (b"tRNS", key.astype(">u2").tobytes())
    assert (read_image(deep_png(image[..., :3], chunk)) == keyed).all()
    image[:3, :, 3], image[3:, :, 3] = 65535, 0
    expected = np.where(image[..., 3:] > 0, image[..., :3], 65535)
    assert (read_image(deep_png(image)) == expected).all()
    iio.imwrite(tmp_path / "grey.png", image[..., 0])
    assert (read_image(tmp_path / "grey.png") == image[..., 0]).all()


def on_white(colours: np.ndarray, opacity: np.ndarray) -> np.ndarray:
    """Composite by the textbook, in the numbers of the colours."""
    top = float(np.iinfo(colours.dtype).max)
    return colours * opacity + top * (1 - opacity)


def test_grey_png_of_sixteen_bits_with_opacity_keeps_them():
    opaque = np.dstack([DEEP[..., 0], np.full((7, 11), 65535, np.uint16)])
    read = read_image(deep_png(opaque))
    assert read.dtype == np.uint16
    np.testing.assert_array_equal(read[..., 0], DEEP[..., 0])
    half = read_image(deep_png(DEEP[..., :2]))[..., 0]
    assert np.abs(half - on_white(DEEP[..., 0], DEEP[..., 1] / 65535)).max() <= 1
    opaque[2:4, :, 1] = 0
    mask = read_raster(deep_png(opaque), mask="alpha").mask
    np.testing.assert_array_equal(mask, opaque[..., 1] > 0)


def test_the_transparent_grey_of_a_deep_png_is_white():
    image = DEEP[..., :1].copy()
    image[2:4] = 777
    keyed = deep_png(image, (b"tRNS", (777).to_bytes(2, "big")))
    np.testing.assert_array_equal(read_image(keyed), np.where(image == 777, 65535, image)[..., 0])
    np.testing.assert_array_equal(read_raster(keyed, mask="alpha").mask, image[..., 0] != 777)


@pytest.mark.parametrize("kind", [np.uint8, np.uint16])
@pytest.mark.parametrize("bands", [1, 3, 5])
def test_opacity_with_which_colours_are_multiplied_is_not_counted_twice(tmp_path, kind, bands):
    top = np.iinfo(kind).max
    colours = RNG.integers(0, top, (7, 11, bands)).astype(kind)
    opacity = np.full((7, 11, 1), top // 2, kind)
    options = {"photometric": "rgb" if bands == 3 else "minisblack", "planarconfig": "contig"}
    extra = [0] * (bands - 1 if bands != 3 else 0)
    read = []
    for stored, name in ((colours, "unassalpha"), (colours // 2, "assocalpha")):
        path = tmp_path / f"{name}.tif"
        pixels = np.concatenate([stored, opacity], axis=2)
        tifffile.imwrite(path, pixels, extrasamples=[*extra, name], **options)
        read.append(read_image(path).reshape(7, 11, -1)[..., :bands].astype(float))
        assert read_raster(path, bands="all").n_bands in (bands, 3)  # no band is the opacity
    assert np.abs(read[0] - on_white(colours, 0.5)).max() <= 0.01 * top
    assert np.abs(read[0] - read[1]).max() <= 2


@pytest.mark.parametrize("kind", ["u1", "u2", "u4", "f4", "i2"])
@pytest.mark.parametrize("opaque", [False, True])
def test_numbers_that_are_zero_where_an_image_is_white_are_turned(tmp_path, kind, opaque):
    low, high = (0, 1) if kind == "f4" else (np.iinfo(kind).min, np.iinfo(kind).max)
    bright = np.linspace(low, high, 77).astype(kind).reshape(7, 11)
    stored = (low + high) - bright if kind == "f4" else ~bright
    options = {"photometric": "miniswhite"}
    if opaque:
        stored = np.dstack([stored, np.full_like(stored, high)])
        options |= {"extrasamples": ["unassalpha"], "planarconfig": "contig"}
    tifffile.imwrite(tmp_path / "a.tif", stored, **options)
    read = read_image(tmp_path / "a.tif").reshape(7, 11, -1)[..., 0]
    np.testing.assert_allclose(read.astype(float), bright.astype(float), atol=1e-6)


def save_pages(path, count: int = 3) -> None:
    pages = [Image.fromarray(np.roll(GREY, k, axis=1)) for k in range(count)]
    pages[0].save(path, save_all=True, append_images=pages[1:])


@pytest.mark.parametrize("name", ["a.tif", "a.gif", "a.webp", "a.png"])
def test_pages_that_are_not_used_are_told(tmp_path, name):
    save_pages(tmp_path / name)
    with pytest.warns(ImageWarning, match="3 pages, used the first, number 0; page chooses"):
        first = read_image(tmp_path / name)
    np.testing.assert_array_equal(first, read_image(tmp_path / name, page=0))  # and no warning


def test_pages_of_deep_files_and_of_microscopes_are_told(tmp_path):
    stack = RNG.integers(0, 65535, (4, 7, 11)).astype(np.uint16)
    tifffile.imwrite(tmp_path / "deep.tif", np.stack([stack] * 3, axis=-1), photometric="rgb")
    tifffile.imwrite(tmp_path / "imagej.tif", stack, imagej=True, metadata={"axes": "ZYX"})
    tifffile.imwrite(tmp_path / "image.ome.tif", stack, metadata={"axes": "ZYX"})
    for name in ("deep.tif", "imagej.tif", "image.ome.tif"):
        with pytest.warns(ImageWarning, match="4 pages, used the first"):
            read_image(tmp_path / name)


def test_masks_and_smaller_copies_are_no_pages(tmp_path):
    for kind in (np.uint8, np.uint16):
        with tifffile.TiffWriter(tmp_path / "a.tif") as tiff:
            tiff.write(RGB.astype(kind), photometric="rgb")
            tiff.write(RGB[::2, ::2].astype(kind), photometric="rgb", subfiletype=1)
            tiff.write(GREY > 100, photometric="mask", subfiletype=4)
        np.testing.assert_array_equal(read_image(tmp_path / "a.tif"), RGB)


def test_the_command_tells_of_pages_unless_one_is_chosen(tmp_path):
    save_pages(tmp_path / "a.tif")
    for words, told in (((), True), (("--page", 0), False)):
        result = run("segment", tmp_path / "a.tif", "-o", tmp_path, "--overwrite", *words)
        assert result.exit_code == 0
        line = "a.tif: 3 pages, used the first, number 0; --page chooses another"
        assert (line in result.stderr) == told
    result = run("segment", tmp_path / "a.tif", "-o", tmp_path, "--overwrite", "--json")
    assert "3 pages" in json.loads(result.stdout.splitlines()[0])["warnings"][0]


def test_libraries_do_not_talk_to_the_terminal(tmp_path):
    bands = RNG.integers(0, 255, (40, 50, 8)).astype(np.uint16)  # of which Pillow complains
    tifffile.imwrite(tmp_path / "a.tif", bands, photometric="minisblack", planarconfig="contig")
    words = [sys.executable, "-m", "pfeseg", "segment", tmp_path / "a.tif", "-q", "-o", tmp_path]
    told = subprocess.run([*words, "--bands", "all"], capture_output=True, text=True, check=True)
    assert (told.stdout, told.stderr) == ("", "")
