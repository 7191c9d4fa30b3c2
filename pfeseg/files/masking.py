"""Which pixels of a file belong to its image: by a mask beside it, its alpha, or no-data values."""

from __future__ import annotations

import io
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.opening import open_picture, open_tiff, quiet_pillow
from pfeseg.files.reading import (
    ALPHA_SAMPLES,
    ORIENTATION_TAG,
    TIFF_SIGNATURES,
    content_of,
    read_image,
    upright,
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
    content = content_of(source, name)
    if content.getvalue()[:4] in TIFF_SIGNATURES:
        stored, own = _of_tiff(content, page)
        nodata = [*nodata, *stored]
        if own is not None and own.shape == bands.shape[:2]:
            inside.append(own)
    if nodata:
        inside.append(~_is_nodata(bands, nodata))
    if not inside:
        return None
    both = np.logical_and.reduce(inside)
    if not both.any():
        raise InvalidInputError(
            f"{name}: no pixel is left: all are masked or no data; check {argument('mask')} and "
            f"{argument('nodata')}"
        )
    return np.asarray(both)


def _is_nodata(bands: NDArray[Any], nodata: Sequence[float]) -> Mask:
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
    array = read_image(Path(mask), allow_huge=True)
    inside = array != 0 if array.ndim == 2 else (array != 0).any(axis=2)
    if inside.shape != shape[:2]:
        raise InvalidInputError(
            f"{name}: has {shape[1]} x {shape[0]} pixels, but the mask {mask} has "
            f"{inside.shape[1]} x {inside.shape[0]}; give one of the same size"
        )
    if not inside.any():
        raise InvalidInputError(f"{name}: the mask {mask} is zero everywhere; no pixel is left")
    return np.asarray(inside)


def _read_alpha(source: Path | bytes, page: int, name: str) -> Mask:
    """Read where a file is not wholly transparent."""
    from PIL import ImageOps, UnidentifiedImageError

    content, alpha = content_of(source, name), None
    is_tiff = content.getvalue()[:4] in TIFF_SIGNATURES
    try:
        with quiet_pillow(), open_picture(content) as image:
            image.seek(page)
            if "A" in image.getbands() or "a" in image.getbands() or "transparency" in image.info:
                ImageOps.exif_transpose(image, in_place=True)
                alpha = np.asarray(image.convert("RGBA").getchannel("A"))
    except UnidentifiedImageError:
        alpha = _alpha_of_tiff(content, page) if is_tiff else None
    except MemoryError:
        raise
    except Exception as error:  # decoders raise whatever a broken file makes them
        raise InvalidInputError(f"{name}: its alpha channel is damaged ({error})") from error
    if alpha is None:
        raise InvalidInputError(
            f"{name}: has no alpha channel, which {argument('mask', ALPHA)} needs; give the file "
            "of a mask"
        )
    return np.asarray(alpha != 0)


def _alpha_of_tiff(content: io.BytesIO, page: int) -> NDArray[Any] | None:
    content.seek(0)
    with open_tiff(content) as tiff:
        sheet: Any = tiff.pages[page]
        if not any(extra in ALPHA_SAMPLES for extra in getattr(sheet, "extrasamples", ())):
            return None
        array = np.asarray(sheet.asarray())
        if sheet.planarconfig == 2:
            array = np.moveaxis(array, 0, 2)
        return upright(array[..., -1], sheet.tags.valueof(ORIENTATION_TAG, 1))


def _of_tiff(content: io.BytesIO, page: int) -> tuple[list[float], Mask | None]:
    """Return what a TIFF file calls no data, and its own mask of the first page."""
    content.seek(0)
    try:
        with open_tiff(content) as tiff:
            first: Any = tiff.pages[0]
            text = str(first.tags.valueof(NODATA_TAG, "")).strip("\0 ")
            masks = [sheet for sheet in tiff.pages if getattr(sheet, "subfiletype", 0) & 4]
            own = np.asarray(masks[0].asarray()) != 0 if masks and page == 0 else None
    except Exception:  # what is damaged was read all the same
        return [], None
    try:
        return ([float(text)] if text else []), own
    except ValueError:
        return [], own
