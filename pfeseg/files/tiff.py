"""What TIFF files tell beside their pixels: pages, masks, no data, and a place on earth."""

from __future__ import annotations

import io
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import check_page, open_tiff
from pfeseg.image.foreign import ORIENTATION_TAG

SIGNATURES = (b"II*\0", b"MM\0*", b"II+\0", b"MM\0+")

REDUCED, MASK = 1, 4
"""Bits of the kind of a page: a smaller copy of another, and where another counts."""

PLACE_TAGS = {
    33550: "scale of pixels",
    33922: "tie points",
    34264: "transformation",
    34735: "coordinate system",
    50844: "rational polynomial coefficients",
}
"""Of GeoTIFF, and of the one that GDAL added."""


def is_placed(tags: Any) -> bool:
    """Tell whether a page says where on earth it lies; of tags as Pillow or tifffile have them."""
    return any(tag in tags for tag in PLACE_TAGS)


def turn_of(sheet: Any) -> int:
    """Return the orientation in which to show a page; one that lies on earth is not turned."""
    return 1 if is_placed(sheet.tags) else int(sheet.tags.valueof(ORIENTATION_TAG, 1))


def turn_back_of(image: Any) -> int:
    """Return what undoes the turn that Pillow gives an image that lies on earth."""
    if image.format != "TIFF" or not is_placed(image.tag_v2):
        return 1
    turn = int(image.getexif().get(ORIENTATION_TAG, 1))
    return {6: 8, 8: 6}.get(turn, turn)


def find_sheet(tiff: Any, page: int, name: str) -> int:
    """Return which directory of a file that tifffile opened is a page.

    Masks and smaller copies (the overviews of a cloud-optimised GeoTIFF) are no pages.
    """
    if not page:
        return 0
    pages = page_sheets(tiff)
    check_page(page, len(pages), name)
    return pages[page]


def page_sheets(tiff: Any) -> list[int]:
    """List the directories that are pages of a file that tifffile opened."""
    kinds = [_kind(sheet) for sheet in tiff.pages]
    counted = [k for k, kind in enumerate(kinds) if not kind & (REDUCED | MASK)]
    return counted or [*range(len(kinds))]


def sheet_number(content: io.BytesIO, page: int, name: str) -> int:
    """Return which directory of a file is a page, of any file: others have nothing but pages."""
    if not page or content.getvalue()[:4] not in SIGNATURES:
        return page
    with open_tiff(io.BytesIO(content.getvalue())) as tiff:
        return find_sheet(tiff, page, name)


def read_sheet(source: Path | bytes, sheet: Any, name: str) -> NDArray[Any]:
    """Return the pixels of a page as tifffile does, also of codecs that rasterio alone knows."""
    try:
        return np.asarray(sheet.asarray())
    except (ValueError, ImportError) as error:
        if "imagecodecs" not in str(error) and not isinstance(error, ImportError):
            raise
        codec = sheet.compression.name
        if not has_rasterio():
            raise InvalidInputError(
                f"{name}: a TIFF of this kind compressed by {codec}; pip install 'pfeseg[geo]' "
                "reads it"
            ) from error
    with open_raster(source, sheet.index) as data:
        bands = data.read()
    if len(bands) == 1:
        return np.asarray(bands[0])
    return np.asarray(bands if sheet.planarconfig == 2 else np.moveaxis(bands, 0, 2))


def find_mask_sheet(tiff: Any, index: int) -> Any:
    """Return the mask of a page, which comes behind it and before the next page, or None."""
    for sheet in tiff.pages[index + 1 :]:
        kind = _kind(sheet)
        if kind & (REDUCED | MASK) == MASK:
            return sheet
        if not kind:
            break
    return None


def _kind(sheet: Any) -> int:
    return int(getattr(sheet, "subfiletype", 0))


def has_rasterio() -> bool:
    """Tell whether what knows places on earth is installed, without importing it."""
    return find_spec("rasterio") is not None


@contextmanager
def open_raster(source: Path | bytes, sheet_index: int = 0) -> Iterator[Any]:
    """Open a directory of a file, or of the content of one, with rasterio."""
    import rasterio
    from rasterio.errors import NotGeoreferencedWarning
    from rasterio.io import MemoryFile

    def opened(path: str) -> Any:
        return rasterio.open(f"GTIFF_DIR:{sheet_index + 1}:{path}" if sheet_index else path)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        if isinstance(source, Path):
            with opened(str(source)) as data:
                yield data
        else:
            with MemoryFile(source) as memory, opened(memory.name) as data:
                yield data
