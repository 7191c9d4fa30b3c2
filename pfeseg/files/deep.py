"""Pixels that Pillow would not read whole: of 16 bits, of many bands, transparent or inverted."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.files.tiff import read_sheet
from pfeseg.image.foreign import WHITE_IS_ZERO, invert

if TYPE_CHECKING:
    from PIL import ImageFile

DEEP_PNG_MODES = ("I;16B", "LA;16B", "RGB;16B", "RGBA;16B")
"""What Pillow calls the pixels of PNG files of 16 bits."""

ALPHA_SAMPLES = (1, 2)
"""How TIFF files call a sample that is opacity."""

PREMULTIPLIED = 1
"""The one of these with which colours are multiplied already."""

SEPARATE = 2
"""How TIFF files call channels that are stored one after the other."""


def read_deep_png(image: ImageFile.ImageFile, again: ImageFile.ImageFile) -> NDArray[np.uint16]:
    """Read a PNG file of 16 bits, opened twice, and composite it."""
    array = _all_bits(image, again)
    if array.ndim == 3 and array.shape[2] in (2, 4):
        return composite(array[..., :-1], array[..., -1])
    if "transparency" in image.info:  # one colour is
        colour = np.atleast_1d(image.info["transparency"])
        array[(np.atleast_3d(array) == colour).all(axis=2)] = np.iinfo(array.dtype).max
    return array


def _all_bits(image: ImageFile.ImageFile, again: ImageFile.ImageFile) -> NDArray[np.uint16]:
    """Read the numbers of a PNG file of 16 bits, of which Pillow keeps the first byte.

    Told that the bytes of colours come in the other order, it keeps the second. Grey and opacity
    are as many bytes as four channels of 8 bits.
    """
    codec, extents, offset, mode = again.tile[0]
    if mode == "I;16B":  # kept whole
        return np.asarray(image).astype(np.uint16)
    told = "RGBA" if mode == "LA;16B" else str(mode).replace("16B", "16L")
    again.tile = [(codec, extents, offset, told)]  # type: ignore[list-item]
    if mode == "LA;16B":
        return np.ascontiguousarray(again).view(">u2").astype(np.uint16)
    first_bytes = np.asarray(image).astype(np.uint16)
    both: NDArray[np.uint16] = first_bytes << 8 | np.asarray(again)
    return both


def samples_of(content: io.BytesIO, sheet: Any, name: str) -> tuple[NDArray[Any], int | None]:
    """Return the pixels of a page of a TIFF file, and which of their channels is opacity."""
    array = read_sheet(content.getvalue(), sheet, name)
    if array.ndim == 3 and sheet.planarconfig == SEPARATE:
        array = np.moveaxis(array, 0, 2)
    first_extra = sheet.samplesperpixel - len(sheet.extrasamples)
    alpha = [first_extra + k for k, kind in enumerate(sheet.extrasamples) if kind in ALPHA_SAMPLES]
    return array, alpha[0] if alpha and array.ndim == 3 else None


def colours_of(content: io.BytesIO, sheet: Any, name: str) -> NDArray[Any]:
    """Return the bands of a page of a TIFF file, composited if one of its channels is opacity."""
    array, alpha = samples_of(content, sheet, name)
    first_extra = sheet.samplesperpixel - len(sheet.extrasamples)
    if sheet.photometric == WHITE_IS_ZERO and array.ndim == 2:
        return invert(array, sheet.bitspersample)
    if sheet.photometric == WHITE_IS_ZERO:
        grey = invert(array[..., :first_extra], sheet.bitspersample)
        array = np.concatenate([grey, array[..., first_extra:]], axis=2)
    if alpha is None:
        return array
    premultiplied = sheet.extrasamples[alpha - first_extra] == PREMULTIPLIED
    return composite(np.delete(array, alpha, axis=2), array[..., alpha], premultiplied)


def composite(
    colours: NDArray[Any], alpha: NDArray[Any], premultiplied: bool = False
) -> NDArray[Any]:
    """Composite pixels, (h, w, c), of some opacity, (h, w), on white."""
    top = np.iinfo(colours.dtype).max if np.issubdtype(colours.dtype, np.integer) else 1.0
    opacity = (alpha / top)[..., None]
    lit = colours * (1.0 if premultiplied else opacity) + top * (1 - opacity)
    return np.minimum(lit, top).astype(colours.dtype)
