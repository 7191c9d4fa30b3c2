"""Which pixels of a file belong to its image: by a mask beside it, its alpha, or no-data values."""

from __future__ import annotations

import io
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.deep import samples_of
from pfeseg.files.opening import (
    MAX_PIXELS,
    open_file,
    open_picture,
    open_tiff,
    telling_damage,
)
from pfeseg.files.quiet import quiet_pillow
from pfeseg.files.reading import (
    content_of,
    read_image,
    upright,
)
from pfeseg.files.sizes import peek_size
from pfeseg.files.tiff import (
    SIGNATURES,
    find_mask_sheet,
    find_sheet,
    read_sheet,
    sheet_number,
    turn_back_of,
    turn_of,
)

Mask = NDArray[np.bool_]

ALPHA = "alpha"
"""What a mask is called that is the alpha channel of the file itself."""

NODATA_TAG = 42113
"""Of GDAL's: a value, as text, that stands for no data."""


def find_mask(
    source: Path | bytes,
    bands: NDArray[Any],
    *,
    mask: str | None,
    nodata: Sequence[float],
    page: int,
    name: str,
) -> Mask | None:
    """Find the pixels that belong to an image, True inside; None if nothing tells.

    Parameters
    ----------
    source : Path or bytes
        File, or the content of one.
    bands : (h, w, c) array
        What is used of it.
    mask : str or None
        `ALPHA`, or the path of another image of its size, not zero inside.
    nodata : sequence of float
        Outside is where all bands have one of these values, or one band NaN if NaN is one of
        them. What the file itself calls no data is added.
    page : int
        Of the file.
    name : str
        What to call the file in error messages.
    """
    inside = [] if mask is None else [_read_mask(source, mask, bands.shape, page, name)]
    if _is_tiff(source):
        stored, own = _of_tiff(source, page, name)
        nodata = [*nodata, *stored]
        if own is not None and own.shape == bands.shape[:2]:
            inside.append(own)
    if nodata:
        inside.append(~is_nodata(bands, nodata))
    if not inside:
        return None
    both = np.logical_and.reduce(inside)
    if not both.any():
        raise no_pixel_left(name)
    return np.asarray(both)


def no_pixel_left(name: str) -> InvalidInputError:
    """Return what to raise for an image that is masked all over."""
    return InvalidInputError(
        f"{name}: no pixel is left: all are masked or no data; check {argument('mask')} and "
        f"{argument('nodata')}"
    )


def no_alpha(name: str) -> InvalidInputError:
    """Return what to raise for an image whose transparency is asked for, but which has none."""
    return InvalidInputError(
        f"{name}: has no alpha channel, which {argument('mask', ALPHA)} needs; give the file of a "
        "mask"
    )


def is_nodata(bands: NDArray[Any], nodata: Sequence[float]) -> Mask:
    """Find the pixels that have no data in all bands, (h, w, c), as `find_mask` says."""
    outside = np.zeros(bands.shape[:2], dtype=bool)
    for value in nodata:
        if np.isnan(value):
            outside |= np.isnan(bands).any(axis=2) if bands.dtype.kind == "f" else False
        elif bands.dtype.kind == "f":  # as the type of the file has it
            outside |= (bands == bands.dtype.type(value)).all(axis=2)
        else:
            outside |= (bands == value).all(axis=2)
    return outside


def _read_mask(
    source: Path | bytes, mask: str, shape: tuple[int, ...], page: int, name: str
) -> Mask:
    if mask == ALPHA:
        return _read_alpha(source, page, name)
    array = read_mask_image(name, shape, mask)
    inside = array != 0 if array.ndim == 2 else (array != 0).any(axis=2)
    refuse_other_size(name, shape, mask, inside.shape)
    if not inside.any():
        raise InvalidInputError(f"{name}: the mask {mask} is zero everywhere; no pixel is left")
    return np.asarray(inside)


def read_mask_image(name: str, shape: tuple[int, ...], mask: str) -> NDArray[Any]:
    """Read the image of a mask; one that cannot fit takes no memory."""
    told = peek_size(Path(mask))
    if told is not None and sorted(told) != sorted(shape[:2]):  # which may be turned upright
        refuse_other_size(name, shape, mask, told)
    return read_image(Path(mask), page=0, allow_huge=math.prod(shape[:2]) > MAX_PIXELS)


def refuse_other_size(
    name: str, shape: tuple[int, ...], mask: str, its_shape: tuple[int, ...]
) -> None:
    """Refuse a mask that is not of the size of its image."""
    if its_shape[:2] != shape[:2]:
        raise InvalidInputError(
            f"{name}: has {shape[1]} x {shape[0]} pixels, but the mask {mask} has "
            f"{its_shape[1]} x {its_shape[0]}; give one of the same size"
        )


def _read_alpha(source: Path | bytes, page: int, name: str) -> Mask:
    """Read where a file is not wholly transparent."""
    content = content_of(source, name)
    with telling_damage(name, "its alpha channel is damaged"):
        alpha = _find_alpha(content, page, name)
    if alpha is None:
        raise no_alpha(name)
    return np.asarray(alpha != 0)


def _find_alpha(content: io.BytesIO, page: int, name: str) -> NDArray[Any] | None:
    from PIL import ImageOps, UnidentifiedImageError

    alpha = None
    try:
        with quiet_pillow(), open_picture(content) as image:
            image.seek(sheet_number(content, page, name))
            if "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info:
                back = turn_back_of(image)
                ImageOps.exif_transpose(image, in_place=True)
                if image.mode.startswith("I"):  # of 16 bits, one value of which is transparent
                    alpha = np.asarray(image) != image.info["transparency"]
                else:
                    alpha = np.asarray(image.convert("RGBA").getchannel("A"))
                alpha = upright(alpha, back)
    except UnidentifiedImageError:
        is_tiff = content.getvalue()[:4] in SIGNATURES
        return _alpha_of_tiff(content, page, name) if is_tiff else None
    return alpha


def _alpha_of_tiff(content: io.BytesIO, page: int, name: str) -> NDArray[Any] | None:
    content.seek(0)
    with open_tiff(content) as tiff:
        sheet: Any = tiff.pages[find_sheet(tiff, page, name)]
        array, alpha = samples_of(content, sheet, name)
        if alpha is None:
            return None
        return upright(array[..., alpha], turn_of(sheet))


def _is_tiff(source: Path | bytes) -> bool:
    """Tell by its first bytes, as reading a whole file again would take time and memory."""
    if isinstance(source, bytes):
        return source[:4] in SIGNATURES
    with open_file(source) as file:
        return file.read(4) in SIGNATURES


def _of_tiff(source: Path | bytes, page: int, name: str) -> tuple[list[float], Mask | None]:
    """Return what a page of a TIFF file calls no data, and its own mask."""
    try:
        with open_tiff(io.BytesIO(source) if isinstance(source, bytes) else source) as tiff:
            index = 0 if tiff.is_imagej or tiff.is_ome else find_sheet(tiff, page, name)
            sheet: Any = tiff.pages[index]
            nodata = parse_nodata(sheet)
            stored = find_mask_sheet(tiff, index)
            own = None
            if stored is not None and stored.shape[:2] == (sheet.imagelength, sheet.imagewidth):
                own = upright(read_sheet(source, stored, name) != 0, turn_of(sheet))
    except InvalidInputError:
        raise
    except Exception:  # what is damaged was read all the same
        return [], None
    return nodata, own


def parse_nodata(sheet: Any) -> list[float]:
    """Return what a page of a TIFF file calls no data; empty if that is no number."""
    text = str(sheet.tags.valueof(NODATA_TAG, "")).strip("\0 ")
    try:
        return [float(text)] if text else []
    except ValueError:
        return []
