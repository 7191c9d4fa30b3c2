"""Regions as a layer of polygons in a GeoPackage, in the coordinate system of their image."""

from __future__ import annotations

import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pfeseg.files.polygons import Labels, Polygon, pixel_polygons
from pfeseg.files.replacing import replacing_group
from pfeseg.image.georeference import Georeference

LAYER = "regions"

CLOCK = "OGR_CURRENT_DATE"
"""What GDAL takes for the time at which a file was changed."""

NO_TIME = "1970-01-01T00:00:00.000Z"

VERSION = "1.2"
"""Of GeoPackage: the one that programs of many years read without a complaint."""

LITTLE_ENDIAN, POLYGON, MULTI_POLYGON = 1, 3, 6
"""Of well-known binary."""


def write_geopackage(
    path: Path, labels: Labels, rows: Sequence[dict[str, Any]], place: Georeference
) -> None:
    """Write a polygon of each region with its row of the table of regions; the same bytes always.

    `rows` have the key "label".
    """
    import pyogrio.raw

    polygons = pixel_polygons(labels)
    shapes = [_well_known_binary(polygons[row["label"]], place) for row in rows]
    columns = [
        np.array([np.nan if row[name] is None else row[name] for row in rows]) for name in rows[0]
    ]
    with replacing_group(path) as folder, _without_clock():
        pyogrio.raw.write(
            folder / path.name,
            geometry=np.array(shapes, dtype=object),
            field_data=columns,
            fields=list(rows[0]),
            geometry_type="MultiPolygon",
            crs=place.crs,
            driver="GPKG",
            layer=LAYER,
            dataset_options={"VERSION": VERSION},
        )


def _well_known_binary(polygons: Sequence[Polygon], place: Georeference) -> bytes:
    parts = [struct.pack("<BII", LITTLE_ENDIAN, MULTI_POLYGON, len(polygons))]
    for rings in polygons:
        parts.append(struct.pack("<BII", LITTLE_ENDIAN, POLYGON, len(rings)))
        for ring in rings:
            corners = np.stack(place.to_map(*np.transpose(ring)), axis=1)
            parts += (struct.pack("<I", len(ring)), corners.astype("<f8").tobytes())
    return b"".join(parts)


@contextmanager
def _without_clock() -> Iterator[None]:
    from pyogrio import get_gdal_config_option, set_gdal_config_options

    former = get_gdal_config_option(CLOCK)
    set_gdal_config_options({CLOCK: NO_TIME})
    try:
        yield
    finally:
        set_gdal_config_options({CLOCK: former})
