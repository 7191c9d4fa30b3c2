"""Label maps that lie on earth: as GeoTIFF, or as PNG with a file of GDAL's beside it."""

from __future__ import annotations

import tempfile
import warnings
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
    kind = np.uint16 if labels.max() <= np.iinfo(np.uint16).max else np.uint32
    options = {
        "driver": "GTiff",
        "compress": "deflate",
        "predictor": 2,
        "tiled": True,
        "blockxsize": TILE,
        "blockysize": TILE,
        "bigtiff": "if_safer",
    }
    _write(path, labels.astype(kind), place, OUTSIDE if has_outside else None, options)


def write_auxiliary(path: Path, place: Georeference) -> None:
    """Write the place of a PNG file beside it, as GDAL, rasterio and QGIS read it."""
    with tempfile.TemporaryDirectory(dir=path.parent) as folder:
        # What GDAL writes beside an image does not depend on its pixels.
        small = Path(folder) / path.name
        _write(small, np.zeros((1, 1), np.uint16), place, None, {"driver": "PNG"})
        auxiliary_of(small).replace(auxiliary_of(path))


def _write(
    path: Path,
    labels: NDArray[np.integer[Any]],
    place: Georeference,
    nodata: int | None,
    options: dict[str, Any],
) -> None:
    import rasterio
    from rasterio.crs import CRS
    from rasterio.errors import NotGeoreferencedWarning

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", NotGeoreferencedWarning)
        with rasterio.open(
            path,
            "w",
            width=labels.shape[1],
            height=labels.shape[0],
            count=1,
            dtype=labels.dtype,
            crs=CRS.from_wkt(place.crs) if place.crs else None,
            transform=rasterio.Affine(*place.transform),
            nodata=nodata,
            **options,
        ) as data:
            data.write(labels, 1)
