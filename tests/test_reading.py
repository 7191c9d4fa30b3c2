"""Images as they really come."""

from __future__ import annotations

import io
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import tifffile
from helpers import png_of_size
from PIL import Image

from pfeseg import InvalidInputError
from pfeseg.files.opening import MAX_PIXELS
from pfeseg.files.raster import read_raster
from pfeseg.files.reading import read_image
from pfeseg.image.arrays import as_raster

RNG = np.random.default_rng(6)
RGB = RNG.integers(0, 256, (7, 11, 3), dtype=np.uint8)
GREY = RGB[..., 0]


def saved(tmp_path, image: Image.Image, name: str, **options):
    path = tmp_path / name
    image.save(path, **options)
    return path


def test_rgb_and_grey(tmp_path):
    assert (read_image(saved(tmp_path, Image.fromarray(RGB), "a.png")) == RGB).all()
    assert (read_image(saved(tmp_path, Image.fromarray(GREY), "b.png")) == GREY).all()
    assert read_image(saved(tmp_path, Image.fromarray(RGB), "c.jpg")).shape == RGB.shape
    assert (read_image(saved(tmp_path, Image.fromarray(RGB), "d.webp", lossless=True)) == RGB).all()
    assert (read_image(saved(tmp_path, Image.fromarray(RGB), "e.bmp")) == RGB).all()


@pytest.mark.parametrize(
    ("orientation", "turned"),
    [
        (0, RGB),  # not a legal value, but found in files
        (1, RGB),
        (2, RGB[:, ::-1]),
        (3, RGB[::-1, ::-1]),
        (6, np.rot90(RGB, -1)),
        (8, np.rot90(RGB)),
    ],
)
def test_exif_rotation(tmp_path, orientation, turned):
    exif = Image.Exif()
    exif[0x0112] = orientation
    path = saved(tmp_path, Image.fromarray(RGB), "a.png", exif=exif)
    assert (read_image(path) == turned).all()


def test_damaged_exif_does_not_spoil_the_image(tmp_path):
    path = saved(tmp_path, Image.fromarray(RGB), "a.png", exif=b"Exif\0\0MM\0*\xff\xff\xff\xff")
    assert (read_image(path) == RGB).all()


def test_alpha_is_composited_on_white(tmp_path):
    alpha = np.zeros((7, 11), np.uint8)
    alpha[:3] = 255
    rgba = np.dstack([RGB, alpha])
    expected = np.where(alpha[..., None] > 0, RGB, 255)
    assert (read_image(saved(tmp_path, Image.fromarray(rgba), "a.png")) == expected).all()
    la = Image.merge("LA", [Image.fromarray(GREY), Image.fromarray(alpha)])
    expected = np.where(alpha > 0, GREY, 255)
    assert (read_image(saved(tmp_path, la, "b.png")) == expected[..., None]).all()
    tifffile.imwrite(tmp_path / "c.tif", rgba.astype(np.uint16) * 257, photometric="rgb",
                     extrasamples=["unassalpha"])  # fmt: skip
    from_tiff = read_image(tmp_path / "c.tif")
    assert (from_tiff[:3] == RGB[:3].astype(int) * 257).all()
    assert (from_tiff[3:] == 65535).all()


def test_half_transparent(tmp_path):
    path = saved(tmp_path, Image.new("RGBA", (3, 2), (0, 0, 0, 128)), "a.png")
    assert np.abs(read_image(path).astype(int) - 127).max() <= 1


def test_palette_with_and_without_transparency(tmp_path):
    palette = Image.fromarray(RGB).quantize(256)
    path = saved(tmp_path, palette, "a.png")
    assert (read_image(path) == np.asarray(palette.convert("RGB"))).all()
    clear = Image.fromarray(np.zeros((2, 2), np.uint8), "L").convert("P")
    assert (read_image(saved(tmp_path, clear, "b.png", transparency=0)) == 255).all()


def test_one_bit(tmp_path):
    bits = Image.fromarray(GREY > 100)
    expected = (GREY > 100) * 255
    for name in ("a.png", "a.tif", "a.pbm"):
        assert (read_image(saved(tmp_path, bits, name)) == expected).all()


def test_sixteen_bits(tmp_path):
    deep = GREY.astype(np.uint16) * 257
    for name in ("a.png", "a.tif"):
        image = read_image(saved(tmp_path, Image.fromarray(deep), name))
        assert image.dtype == np.uint16
        assert (image == deep).all()
    tifffile.imwrite(tmp_path / "rgb.tif", RGB.astype(np.uint16) * 257, photometric="rgb")
    assert (read_image(tmp_path / "rgb.tif") == RGB.astype(np.uint16) * 257).all()


def test_float_tiff(tmp_path):
    values = (RGB / 255).astype(np.float32)
    tifffile.imwrite(tmp_path / "rgb.tif", values, photometric="rgb")
    tifffile.imwrite(tmp_path / "grey.tif", values[..., 0])
    np.testing.assert_allclose(read_image(tmp_path / "rgb.tif"), values)
    np.testing.assert_allclose(read_image(tmp_path / "grey.tif"), values[..., 0])


@pytest.mark.parametrize("shape", [(4, 5), (4, 5, 3)])
@pytest.mark.parametrize(
    ("bad", "word"), [(np.nan, "NaN"), (np.inf, "an infinite value"), (-np.inf, "an infinite")]
)
def test_float_tiff_with_bad_pixels_is_refused_with_their_place(tmp_path, bad, word, shape):
    values = np.zeros(shape, np.float32)
    values[2, 3] = bad
    tifffile.imwrite(tmp_path / "a.tif", values, photometric="rgb" if values.ndim == 3 else None)
    for stretch in ("auto", "none", "minmax", "1:99"):
        with pytest.raises(InvalidInputError, match=rf"a\.tif: .*{word}.* row 2, column 3"):
            read_raster(tmp_path / "a.tif", stretch)


DEEP_TYPES = ("i1", "i2", "u4", "i4", "u8", "i8", "f2", "f4", "f8")


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("kind", DEEP_TYPES)
def test_numbers_of_all_types_are_read_as_they_are(tmp_path, kind, order):
    ends = (-3.5, 1e4) if kind[0] == "f" else (np.iinfo(kind).min, np.iinfo(kind).max)
    values = (np.linspace(*ends, 77) * 0.999).astype(kind).reshape(7, 11)
    swapped = values.astype(f"{order}{kind}")
    tifffile.imwrite(tmp_path / "grey.tif", swapped, byteorder=order)
    tifffile.imwrite(
        tmp_path / "rgb.tif", np.dstack([swapped] * 3), byteorder=order, photometric="rgb"
    )
    grey, rgb = read_image(tmp_path / "grey.tif"), read_image(tmp_path / "rgb.tif")
    np.testing.assert_array_equal(grey, values)
    np.testing.assert_array_equal(rgb, np.dstack([values] * 3))
    assert grey.dtype.newbyteorder("=") == rgb.dtype.newbyteorder("=") == kind
    from_file, from_array = read_raster(tmp_path / "rgb.tif"), as_raster(values)
    assert (from_file.black, from_file.white) == (from_array.black, from_array.white)
    np.testing.assert_array_equal(from_file.rgb(), from_array.rgb())


def test_planar_tiff(tmp_path):
    planes = np.moveaxis(RGB.astype(np.uint16) * 257, 2, 0)
    tifffile.imwrite(tmp_path / "a.tif", planes, photometric="rgb", planarconfig="separate")
    assert (read_image(tmp_path / "a.tif") == RGB.astype(np.uint16) * 257).all()


@pytest.mark.parametrize("orientation", [1, 2, 3, 4, 5, 6, 7, 8])
def test_deep_tiff_is_turned_like_a_shallow_one(tmp_path, orientation):
    tag = (274, "H", 1, orientation, True)
    for name, image in (("a.tif", RGB), ("b.tif", RGB.astype(np.uint16) * 257)):
        tifffile.imwrite(tmp_path / name, image, photometric="rgb", extratags=[tag])
    shallow, deep = (read_image(tmp_path / name) for name in ("a.tif", "b.tif"))
    assert (deep == shallow.astype(int) * 257).all()


def test_further_channels_are_not_taken_for_alpha(tmp_path):
    infrared = np.dstack([RGB, np.zeros((7, 11), np.uint8)]).astype(np.uint16) * 257
    tifffile.imwrite(tmp_path / "a.tif", infrared, photometric="rgb", extrasamples=["unspecified"])
    assert (read_image(tmp_path / "a.tif") == infrared).all()
    tifffile.imwrite(tmp_path / "b.tif", infrared, photometric="separated")
    with pytest.raises(InvalidInputError, match="SEPARATED colours"):
        read_image(tmp_path / "b.tif")


def test_size_is_checked_on_the_page_that_is_read(tmp_path, monkeypatch):
    pages = [Image.new("L", (5, 4)), Image.new("L", (50, 40))]
    path = saved(tmp_path, pages[0], "a.tif", save_all=True, append_images=pages[1:])
    monkeypatch.setattr("pfeseg.files.opening.MAX_PIXELS", 100)
    assert read_image(path, page=0).shape == (4, 5)
    with pytest.raises(InvalidInputError, match="allow_huge=True"):
        read_image(path, page=1)


def test_cmyk_is_not_taken_for_alpha(tmp_path):
    red = Image.new("CMYK", (4, 3), (0, 255, 255, 0))
    for name in ("a.tif", "a.jpg"):
        image = read_image(saved(tmp_path, red, name)).astype(int)
        assert image.shape == (3, 4, 3)
        assert (np.abs(image - [255, 0, 0]) <= 3).all()


@pytest.mark.parametrize("name", ["a.tif", "a.gif"])
def test_pages(tmp_path, name):
    pages = [Image.new("L", (5, 4), shade) for shade in (10, 120, 250)]
    path = saved(tmp_path, pages[0], name, save_all=True, append_images=pages[1:])
    for page, shade in enumerate((10, 120, 250)):
        image = read_image(path, page=page)
        assert image.shape[:2] == (4, 5)
        assert (image == shade).all()
    with pytest.raises(InvalidInputError, match="has 3 page"):
        read_image(path, page=3)


def test_wrong_extension_is_read_by_content(tmp_path):
    saved(tmp_path, Image.fromarray(RGB), "a.png").rename(tmp_path / "a.jpg")
    assert (read_image(tmp_path / "a.jpg") == RGB).all()


def test_bytes(tmp_path):
    buffer = io.BytesIO()
    Image.fromarray(RGB).save(buffer, "png")
    assert (read_image(buffer.getvalue()) == RGB).all()
    with pytest.raises(InvalidInputError, match="standard input: not an image"):
        read_image(b"nonsense")


def test_decompression_bomb_is_refused_before_it_is_decoded():
    assert MAX_PIXELS < 20_000 * 20_000
    with pytest.raises(InvalidInputError, match=r"20000 x 20000 pixels .* allow_huge=True"):
        read_image(png_of_size(20_000, 20_000))


def test_allow_huge_goes_on_to_decode():
    with pytest.raises(InvalidInputError, match="damaged"):  # as there are no pixels
        read_image(png_of_size(20_000, 5_001), allow_huge=True)


def test_unreadable_files_say_why(tmp_path):
    (tmp_path / "empty.png").write_bytes(b"")
    (tmp_path / "text.jpg").write_text("hello")
    whole = saved(tmp_path, Image.fromarray(RGB).resize((300, 200)), "whole.jpg").read_bytes()
    (tmp_path / "half.jpg").write_bytes(whole[: len(whole) // 2])
    (tmp_path / "link.png").symlink_to(tmp_path / "gone.png")
    for name, message in [
        ("empty.png", "the file is empty"),
        ("text.jpg", "not an image that can be read"),
        ("half.jpg", "truncated"),
        ("link.png", "broken link to .*gone.png"),
        ("missing.png", "no such file"),
        (".", "expected a file, found a folder"),
    ]:
        with pytest.raises(InvalidInputError, match=message) as caught:
            read_image(tmp_path / name)
        assert "\n" not in str(caught.value)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_no_permission(tmp_path):
    path = saved(tmp_path, Image.fromarray(RGB), "a.png")
    path.chmod(0)
    with pytest.raises(InvalidInputError, match="Permission denied"):
        read_image(path)


@pytest.mark.parametrize("name", ["with space.png", "new\nline.png", "ünïcödé ✓.png", "-dash.png"])
def test_odd_names(tmp_path, name):
    assert (read_image(saved(tmp_path, Image.fromarray(RGB), name)) == RGB).all()


def test_avif(tmp_path):
    image = Image.fromarray(np.full((20, 30, 3), (200, 30, 60), np.uint8))
    image.save(tmp_path / "a.avif", quality=100)
    read = read_image(tmp_path / "a.avif")
    assert read.shape == (20, 30, 3)
    np.testing.assert_allclose(read, np.asarray(image), atol=4)


@pytest.fixture
def heic(tmp_path, monkeypatch) -> Path:
    """Write a HEIF image, and let Pillow forget how to read it."""
    pillow_heif = pytest.importorskip("pillow_heif")
    monkeypatch.setattr(Image, "ID", [name for name in Image.ID if name != "HEIF"])
    monkeypatch.delitem(Image.OPEN, "HEIF", raising=False)
    colours = Image.fromarray(np.full((32, 48, 3), (200, 30, 60), np.uint8))
    pillow_heif.from_pillow(colours).save(tmp_path / "a.heic", quality=95)
    return tmp_path / "a.heic"


def test_heic_where_its_reader_is_installed(heic):
    read = read_image(heic)
    assert (read.dtype, read.shape) == (np.uint8, (32, 48, 3))
    np.testing.assert_allclose(read, np.broadcast_to((200, 30, 60), read.shape), atol=6)
    assert (read_image(heic.read_bytes()) == read).all()


def test_heic_where_its_reader_is_not_installed(heic, monkeypatch):
    monkeypatch.setattr("pfeseg.files.reading.reads_heif", lambda: False)
    with pytest.raises(InvalidInputError, match="a HEIF image; pip install pillow-heif reads it"):
        read_image(heic)


def test_damaged_heic_is_one_line(heic):
    heic.write_bytes(heic.read_bytes()[:40])
    with pytest.raises(InvalidInputError, match=r"a\.heic: ") as caught:
        read_image(heic)
    assert "internal" not in str(caught.value)


def test_the_reader_of_heic_is_not_loaded_for_other_images(samples):
    program = (
        "import sys; from pathlib import Path; from pfeseg.files.reading import read_image\n"
        "read_image(Path(sys.argv[1])); sys.exit('pillow_heif' in sys.modules)"
    )
    command = [sys.executable, "-c", program, str(samples / "scene.png")]
    assert subprocess.run(command).returncode == 0
