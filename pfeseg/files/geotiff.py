"""Label maps that lie on earth: as GeoTIFF, or as PNG with a file of GDAL's beside it."""

from __future__ import annotations

import tempfile
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.files.beside import auxiliary_of
from pfeseg.image.georeference import Georeference

OUTSIDE = 0
"""Label of what a mask leaves out, where there is one."""

TILE = 256


def write_geotiff(
    path: Path, labels: NDArray[np.integer[Any]], place: Georeference, has_outside: bool
) -> None:
    """Write a label map as GeoTIFF, in 16 bits if these hold its labels, else in 32."""
    write_geotiff_blocks(path, labels.shape, [labels], int(labels.max()), place, has_outside)


def write_geotiff_blocks(
    path: Path,
    shape: tuple[int, ...],
    blocks: Iterable[NDArray[np.integer[Any]]],
    largest: int,
    place: Georeference,
    has_outside: bool,
) -> None:
    """Do as `write_geotiff` with blocks of rows, from top to bottom, and their largest label."""
    kind = np.uint16 if largest <= np.iinfo(np.uint16).max else np.uint32
    options = {
        "driver": "GTiff",
        "compress": "deflate",
        "predictor": 2,
        "tiled": True,
        "blockxsize": TILE,
        "blockysize": TILE,
        "bigtiff": "if_safer",
    }
    nodata = OUTSIDE if has_outside else None
    _write(path, shape, kind, blocks, place, nodata, options)


def write_auxiliary(path: Path, place: Georeference) -> None:
    """Write the place of a PNG file beside it, as GDAL, rasterio and QGIS read it."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        # What GDAL writes beside an image does not depend on its pixels.
        small = Path(folder) / path.name
        pixel = np.zeros((1, 1), np.uint16)
        _write(small, pixel.shape, np.uint16, [pixel], place, None, {"driver": "PNG"})
        auxiliary_of(small).replace(auxiliary_of(path))


def _write(
    path: Path,
    shape: tuple[int, ...],
    kind: type[np.integer[Any]],
    blocks: Iterable[NDArray[np.integer[Any]]],
    place: Georeference,
    nodata: int | None,
    options: dict[str, Any],
) -> None:
    import rasterio
    from rasterio.crs import CRS
    from rasterio.errors import NotGeoreferencedWarning
    from rasterio.windows import Window

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        with rasterio.open(
            path,
            "w",
            width=shape[1],
            height=shape[0],
            count=1,
            dtype=kind,
            crs=CRS.from_wkt(place.crs) if place.crs else None,
            transform=rasterio.Affine(*place.transform),
            nodata=nodata,
            **options,
        ) as data:
            top = 0
            for block in blocks:
                data.write(block.astype(kind), 1, window=Window(0, top, *block.shape[::-1]))
                top += len(block)
