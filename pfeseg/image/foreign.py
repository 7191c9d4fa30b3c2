"""Images of other libraries, Pillow's above all, as plain arrays."""

from __future__ import annotations

import sys
from contextlib import suppress
from pathlib import PurePath
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import any_array, shown
from pfeseg.errors import InvalidInputError

if TYPE_CHECKING:
    from PIL import Image

BACKGROUND = (255, 255, 255)
"""White, on which transparent images are composited."""

ORIENTATION_TAG = 274
BITS_TAG, PHOTOMETRIC_TAG, SAMPLE_FORMAT_TAG = 258, 262, 339
UNSIGNED, SIGNED = 1, 2

WHITE_IS_ZERO = 0
"""How TIFF files call grey pixels that are 0 where they are white."""


def to_array(image: Any) -> NDArray[Any]:
    """Turn what stands for an image into an array, (h, w) or (h, w, c), or say why it is none.

    Images of Pillow's are read as their files are, see `picture_array`. Anything else is given
    to NumPy: lists, data frames, tensors, and what has a method ``__array__``.
    """
    if isinstance(image, str | bytes | PurePath):
        is_name = not isinstance(image, bytes)
        what, name = ("name", shown(str(image))) if is_name else ("content", "content")
        raise InvalidInputError(
            f"an image must be an array, got the {what} of a file; pfeseg.read_raster({name}) "
            "reads it"
        )
    array = picture_array(image) if is_picture(image) else any_array(image, "an image", masked=True)
    if array.ndim not in (2, 3):
        raise InvalidInputError(
            "an image must have shape (height, width) or (height, width, bands), got "
            f"{array.shape if array.ndim else shown(image)}"
        )
    if array.size == 0:
        raise InvalidInputError(f"the image is empty: its shape is {array.shape}")
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"an image must hold integers, truth values or floats, got {array.dtype}"
        )
    return array


def is_picture(image: Any) -> bool:
    """Tell whether this is an image of Pillow's, without importing Pillow."""
    pillow = sys.modules.get("PIL.Image")
    return pillow is not None and isinstance(image, pillow.Image)


def picture_array(image: Image.Image, *, in_place: bool = False) -> NDArray[Any]:
    """Return the pixels of an image of Pillow's, of the type that its file has.

    Turned upright as its EXIF data say; transparent pixels composited on `BACKGROUND`; colour
    palettes, CMYK and the like turned into RGB. `in_place` lets it change the image itself,
    which saves memory.
    """
    image.load()
    return _as_stored(_shown_array(image, in_place), image)


def is_rgba(array: NDArray[Any]) -> bool:
    """Tell whether an array is laid out as transparent images are: four bands of 8 bits."""
    return array.ndim == 3 and array.shape[2] == 4 and array.dtype == np.uint8


def composite_rgba(array: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Composite red, green, blue and opacity, (h, w, 4), as transparent files are."""
    from PIL import Image

    return np.asarray(_composite(Image.fromarray(np.ascontiguousarray(array))))


def invert(array: NDArray[Any], bits: int) -> NDArray[Any]:
    """Turn numbers that are 0 where an image is white, of so many bits, into brightness."""
    if array.dtype.kind == "f":
        return 1 - array
    whole = bits == 8 * array.dtype.itemsize
    return ~array if whole else (1 << bits) - 1 - array


def _shown_array(image: Image.Image, in_place: bool) -> NDArray[Any]:
    from PIL import ImageOps

    with suppress(Exception):  # damaged EXIF data do not spoil the pixels
        if in_place:
            ImageOps.exif_transpose(image, in_place=True)
        elif image.getexif().get(ORIENTATION_TAG, 1) != 1:
            image = ImageOps.exif_transpose(image)
    if image.mode.startswith("I;16"):
        return np.asarray(image).astype(np.uint16)
    if image.mode in ("I", "F", "L", "RGB") and "transparency" not in image.info:
        return np.asarray(image)
    if image.mode == "1":
        return np.asarray(image.convert("L"))
    if "transparency" in image.info or image.mode in ("RGBA", "RGBa", "LA", "La", "PA"):
        image = _composite(image)
    return np.asarray(image.convert("RGB"))


def _composite(image: Image.Image) -> Image.Image:
    from PIL import Image

    canvas = Image.new("RGBA", image.size, (*BACKGROUND, 255))
    return Image.alpha_composite(canvas, image.convert("RGBA")).convert("RGB")


def _as_stored(array: NDArray[Any], image: Image.Image) -> NDArray[Any]:
    """Give pixels the type of the file where Pillow gave them another."""
    tags = getattr(image, "tag_v2", {})
    bits, sign = (tags.get(tag, (1,))[0] for tag in (BITS_TAG, SAMPLE_FORMAT_TAG))
    if bits > 8 and tags.get(PHOTOMETRIC_TAG) == WHITE_IS_ZERO:  # Pillow inverts up to 8 bits
        array = invert(array, bits)
    if image.mode == "I" and image.format not in ("TIFF", None):
        return array.astype(np.uint16)  # no other format has more
    if image.mode == "I" and image.format == "TIFF":
        return array.view(np.uint32) if sign == UNSIGNED else array.astype(f"i{bits // 8}")
    if image.mode == "L" and sign == SIGNED:
        return array.view(np.int8)
    return array
