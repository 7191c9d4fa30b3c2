"""Where on earth an image of a file lies, as the file or one beside it says."""

from __future__ import annotations

import io
import math
import os
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import ImageWarning
from pfeseg.files.opening import MAX_TEXT, open_file, open_picture, open_tiff, read_file
from pfeseg.files.quiet import quiet_pillow
from pfeseg.files.tiff import (
    SIGNATURES,
    find_sheet,
    has_rasterio,
    is_placed,
    open_raster,
)
from pfeseg.image.foreign import ORIENTATION_TAG
from pfeseg.image.georeference import Georeference

INSTALL = "pip install 'pfeseg[geo]'"

FARTHEST, SMALLEST = 1e12, 1e-30
"""Coordinate, and area of a pixel, beyond any place on earth in any unit."""


def read_georeference(
    source: Path | bytes, shape: tuple[int, int], *, page: int = 0, name: str
) -> Georeference | None:
    """Read where an image lies, of some height and width; None if its file does not say.

    rasterio is imported only where there is something to read. Where it is not installed, or
    where what there is cannot be kept, a warning says so.
    """
    sheet = _placed_sheet(source, page, name)
    if sheet is None:
        return None
    if not has_rasterio():
        _warn("its place on earth is lost in what is written", f"{INSTALL} keeps it")
        return None
    with open_raster(source, sheet) as data:
        place, crs = tuple(data.transform)[:6], data.crs
        problem = _problem(data, shape)
    if problem:
        _warn(f"its place on earth is lost in what is written, as {problem}")
        return None
    return Georeference(crs.to_wkt(), place, crs.to_string()) if crs else Georeference(None, place)


def _problem(data: Any, shape: tuple[int, int]) -> str:
    """Say why the place of an open file cannot be kept; empty if it can."""
    if (data.height, data.width) != shape:
        return f"it is that of {data.width} x {data.height} pixels, not {shape[1]} x {shape[0]}"
    if data.driver != "GTiff" and _turn(Path(data.name)) != 1:
        return "its EXIF data turn the image"
    if not all(map(math.isfinite, data.transform)) or data.transform.determinant == 0:
        return "its transform cannot be inverted"
    if max(map(abs, data.transform)) > FARTHEST or abs(data.transform.determinant) < SMALLEST:
        return "its transform leads nowhere on earth"
    if not data.transform.is_identity:
        return ""
    if data.gcps[0]:
        return "it is given by ground control points only; gdalwarp turns them into a transform"
    if data.rpcs:
        return (
            "it is given by rational polynomial coefficients only; gdalwarp -rpc turns them "
            "into a transform"
        )
    return "the file has no transform from pixels to coordinates"


def _turn(path: Path) -> int:
    """Return the orientation in which an image file is shown."""
    with quiet_pillow(), path.open("rb") as file, open_picture(file) as image:
        return int(image.getexif().get(ORIENTATION_TAG, 1))


def read_band_means(
    source: Path | bytes, labels: NDArray[np.integer[Any]], *, page: int = 0, name: str
) -> Iterator[NDArray[np.float64]]:
    """Yield the mean of each band of a georeferenced file in each label, (labels,).

    Pixels that are no data in a band do not count there; without any other, the mean is NaN.
    """
    sheet = _placed_sheet(source, page, name) or 0
    with open_raster(source, sheet) as data:
        for band in data.indexes:
            values = data.read(band, masked=True)
            known = ~np.ma.getmaskarray(values)
            inside, numbers = labels[known], values.data[known]
            n = int(labels.max()) + 1
            counts = np.bincount(inside, minlength=n)
            sums = np.bincount(inside, numbers, minlength=n)
            yield np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)


def _placed_sheet(source: Path | bytes, page: int, name: str) -> int | None:
    """Return the directory of a page that is said to lie somewhere, else None."""
    with open_file(source) if isinstance(source, Path) else io.BytesIO(source) as file:
        if file.read(4) in SIGNATURES:
            file.seek(0)
            try:
                with open_tiff(file) as tiff:
                    index = find_sheet(tiff, page, name)
                    sheet: Any = tiff.pages[index]
                    if is_placed(sheet.tags):
                        return index
            except Exception:  # what is damaged was read all the same
                return None
    return 0 if isinstance(source, Path) and not page and _is_placed_beside(source) else None


def _is_placed_beside(path: Path) -> bool:
    """Tell whether a world file, or one of GDAL's, lies beside an image."""
    ending = path.suffix[1:]
    endings = {f"{ending}w", f"{ending[:1]}{ending[-1:]}w", "wld"}
    names = {name for end in endings for name in (end.lower(), end.upper())}
    if any(os.access(path.with_suffix(f".{name}"), os.F_OK) for name in names):
        return True
    auxiliary = path.with_name(path.name + ".aux.xml")
    return os.access(auxiliary, os.F_OK) and b"<GeoTransform>" in read_file(auxiliary, MAX_TEXT)


def _warn(message: str, remedy: str = "") -> None:
    warnings.warn("; ".join(filter(None, (message, remedy))), ImageWarning, stacklevel=3)
