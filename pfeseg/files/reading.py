"""Images as they come: files of any kind into plain arrays, or one clear line why not."""

from __future__ import annotations

import io
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, in_one_line
from pfeseg.files.deep import (
    ALPHA_SAMPLES,
    DEEP_PNG_MODES,
    PREMULTIPLIED,
    colours_of,
    read_deep_png,
)
from pfeseg.files.opening import (
    check_page,
    check_sheet,
    check_size,
    open_picture,
    open_tiff,
    parse_npy,
    read_file,
)
from pfeseg.files.pages import AXES_OF_A_PAGE, tell_of_pages
from pfeseg.files.quiet import no_log_lines, quiet_pillow
from pfeseg.files.tiff import (
    SIGNATURES,
    find_sheet,
    sheet_number,
    turn_back_of,
    turn_of,
)
from pfeseg.image.foreign import BITS_TAG, ORIENTATION_TAG, PHOTOMETRIC_TAG, picture_array

if TYPE_CHECKING:
    from PIL import Image


IMAGE_SUFFIXES = {
    f".{ending}"
    for ending in (
        *("avif", "bmp", "gif", "jfif", "jpe", "jpeg", "jpg", "pbm", "pgm"),
        *("png", "pnm", "ppm", "tga", "tif", "tiff", "webp"),
    )
}
"""Endings of what is taken for an image inside a folder; a file named outright may have any."""

HEIF_SUFFIXES = {".heic", ".heif"}
"""Endings of images that only the package pillow-heif reads."""

RAW_SUFFIXES = {".arw", ".cr2", ".cr3", ".dng", ".nef", ".orf", ".pef", ".raf", ".rw2", ".srw"}
"""Endings of what cameras write before it is made into a photograph."""

NPY_SIGNATURE = b"\x93NUMPY"

HEIF_BRANDS = (b"heic", b"heix", b"heim", b"heis", b"hevc", b"hevx", b"mif1", b"msf1")
"""What a HEIF file calls itself, behind its first eight bytes."""

DESCRIPTION_TAG, SAMPLES_TAG, EXTRA_SAMPLES_TAG = 270, 277, 338
CMYK = 5


def read_image(
    source: Path | bytes,
    *,
    page: int | None = None,
    allow_huge: bool = False,
    name: str | None = None,
) -> NDArray[Any]:
    """Read an image as an (h, w) or (h, w, c) array of the type that the file has.

    Turned upright as its EXIF data say; transparent pixels composited on white; colour
    palettes, CMYK and the like turned into RGB. More than three bands come from TIFF files, where
    these may be pages that are channels of one image, and from NumPy's.

    Parameters
    ----------
    source : Path or bytes
        File, or the content of one.
    page : int, optional
        Page or frame, counted from 0. The first unless given, with a warning where there are more.
    allow_huge : bool
        Read images of more than `MAX_PIXELS` too.
    name : str, optional
        What to call the source in error messages.
    """
    name = name or name_of(source)
    content = content_of(source, name)
    try:
        with no_log_lines():
            array = _read(content, page or 0, name, allow_huge)
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:  # decoders raise whatever a broken file makes them
        raise InvalidInputError(f"{name}: {reason(error)}{_advice(name)}") from error
    if array.ndim not in (2, 3) or not array.size or array.dtype.kind not in "buif":
        raise InvalidInputError(
            f"{name}: expected rows and columns of numbers, found {array.dtype} of shape "
            f"{array.shape}"
        )
    if page is None:
        tell_of_pages(content)
    return array


def _read(content: io.BytesIO, page: int, name: str, allow_huge: bool) -> NDArray[Any]:
    """Read what a file holds by the library that loses nothing of it."""
    if content.getvalue().startswith(NPY_SIGNATURE):
        return _read_npy(content, page, name, allow_huge)
    array = _read_with_pillow(content, page, name, allow_huge)
    return _read_with_tifffile(content, page, name, allow_huge) if array is None else array


def name_of(source: Path | bytes) -> str:
    """Return what to call a source in messages."""
    return str(source) if isinstance(source, Path) else "standard input"


def content_of(source: Path | bytes, name: str) -> io.BytesIO:
    """Read a whole file, or say why that cannot be."""
    if isinstance(source, Path):
        source = read_file(source)
    if not source:
        raise InvalidInputError(f"{name}: the file is empty")
    return io.BytesIO(source)


def _read_with_pillow(
    content: io.BytesIO, page: int, name: str, allow_huge: bool
) -> NDArray[Any] | None:
    """Read any image but those TIFF files that need tifffile, for which it returns None."""
    from PIL import UnidentifiedImageError

    with quiet_pillow():
        try:
            opened = open_picture(content)
        except UnidentifiedImageError:
            start = content.getvalue()[:12]
            if start[:4] in SIGNATURES:
                return None
            if start[4:8] != b"ftyp" or start[8:] not in HEIF_BRANDS:
                raise
            _learn_heif(name)
            opened = open_picture(content)
        with opened as image:
            if image.format == "TIFF" and _has_channel_pages(image):
                return None
            check_size(image.size, name, allow_huge)  # already frames are drawn at this size
            _turn_to_page(image, sheet_number(content, page, name), name)
            check_size(image.size, name, allow_huge)
            if image.format == "TIFF" and _needs_tifffile(image):
                return None
            if image.format == "PNG" and str(image.tile[0][3]) in DEEP_PNG_MODES:
                turn = image.getexif().get(ORIENTATION_TAG, 1)
                return upright(read_deep_png(image, open_picture(content)), turn)
            back = turn_back_of(image)
            return upright(picture_array(image, in_place=True), back)


def reads_heif() -> bool:
    """Tell whether HEIF images can be read, without importing what reads them."""
    return find_spec("pillow_heif") is not None


def _learn_heif(name: str) -> None:
    """Teach Pillow to read HEIF images; only now, as few runs meet one."""
    if not reads_heif():
        raise InvalidInputError(f"{name}: a HEIF image; pip install pillow-heif reads it")
    from pillow_heif import register_heif_opener

    register_heif_opener()


def _turn_to_page(image: Image.Image, page: int, name: str) -> None:
    if not page:
        return  # without a look at the others, of which Pillow may not know the kind
    check_page(page, getattr(image, "n_frames", 1), name)
    image.seek(page)


def _has_channel_pages(image: Any) -> bool:
    """Tell whether the pages of a TIFF file may be channels of one image, by its first page."""
    text = str(image.tag_v2.get(DESCRIPTION_TAG, ""))
    return "<OME" in text or (text.startswith("ImageJ=") and "channels=" in text)


def _needs_tifffile(image: Any) -> bool:
    """Tell whether Pillow would lose some of a TIFF file, or mix it up."""
    tags = image.tag_v2
    bits, samples = tags.get(BITS_TAG, (1,)), tags.get(SAMPLES_TAG, 1)
    if samples > 1 and max(bits) > 8:  # it keeps 8, or mixes channels that are stored apart
        return True
    extra = tags.get(EXTRA_SAMPLES_TAG, ())
    if samples == 2 and PREMULTIPLIED in extra:  # it multiplies grey again
        return True
    has_alpha = bool(set(extra) & set(ALPHA_SAMPLES))
    return tags.get(PHOTOMETRIC_TAG) != CMYK and samples - has_alpha not in (1, 3)


def _read_npy(content: io.BytesIO, page: int, name: str, allow_huge: bool) -> NDArray[Any]:
    """Read an array of NumPy's, (h, w) or (h, w, c)."""
    if page:
        raise InvalidInputError(f"{name}: an array has one page, number 0; there is no {page}")
    array = parse_npy(content.getvalue())
    if array.ndim not in (2, 3):
        raise InvalidInputError(
            f"{name}: an array must have shape (height, width) or (height, width, bands), "
            f"got {array.shape}"
        )
    check_size((array.shape[1], array.shape[0]), name, allow_huge)
    return array


def _read_with_tifffile(
    content: io.BytesIO, page: int, name: str, allow_huge: bool
) -> NDArray[Any]:
    """Read a TIFF file of which Pillow would lose something."""
    content.seek(0)
    with open_tiff(content) as tiff:
        if tiff.is_imagej or tiff.is_ome:
            return _read_series(tiff.series[0], page, name, allow_huge)
        sheet: Any = tiff.pages[find_sheet(tiff, page, name)]
        check_sheet(sheet, (sheet.imagewidth, sheet.imagelength), name, allow_huge)
        if sheet.photometric not in (0, 1, 2):  # grey or RGB
            raise InvalidInputError(
                f"{name}: a TIFF of {sheet.photometric.name} colours with more than 8 bits; "
                "convert it to RGB first"
            )
        return upright(colours_of(content, sheet, name), turn_of(sheet))


def _read_series(series: Any, page: int, name: str, allow_huge: bool) -> NDArray[Any]:
    """Read one page of a microscope's image: its axes but Y, X and the channels are pages."""
    axes, shape = series.axes, dict(zip(series.axes, series.shape, strict=True))
    check_sheet(series, (shape["X"], shape["Y"]), name, allow_huge)
    channels = [k for k, axis in enumerate(axes) if axis in "CS"]
    pages = [k for k, axis in enumerate(axes) if axis not in AXES_OF_A_PAGE]
    order = (*pages, axes.index("Y"), axes.index("X"), *channels)
    array = np.asarray(series.asarray()).transpose(order)
    if len(channels) > 1:  # several of colours each
        array = array.reshape(*array.shape[: -len(channels)], -1)
    array = array.reshape(-1, *array.shape[len(pages) :])
    check_page(page, len(array), name)
    return np.asarray(array[page])


def upright(array: NDArray[Any], orientation: int) -> NDArray[Any]:
    """Turn an image as its orientation tag, 1 to 8, says."""
    if orientation in (5, 6, 7, 8):
        array = array.swapaxes(0, 1)
    if orientation in (3, 4, 7, 8):
        array = array[::-1]
    if orientation in (2, 3, 6, 7):
        array = array[:, ::-1]
    return array


def _advice(name: str) -> str:
    """Say what to do about a file that is no image of the kinds that are read, by its ending."""
    ending = Path(name).suffix.lower()
    if ending in RAW_SUFFIXES:
        return "; convert raw photographs to TIFF first"
    return "; convert it to PNG or TIFF first" if ending in (".psd", ".svg", ".pdf", ".xcf") else ""


def reason(error: Exception) -> str:
    """Say why a file cannot be read, of what a decoder raised."""
    from PIL import UnidentifiedImageError

    if isinstance(error, UnidentifiedImageError):
        return "not an image that can be read"
    return f"a damaged or unsupported image ({in_one_line(error)})"
