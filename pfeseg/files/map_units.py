"""Regions of georeferenced images in the units of their map."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.georeference import Floats, Georeference

ELLIPSOID = re.compile(r'ELLIPSOID\["[^"]*",([^,\]]+),([^,\]]+)(?:,LENGTHUNIT\["[^"]*",([^,\]]+))?')
"""In the text of a coordinate system: semi-major axis, inverse flattening, unit in metres."""

BLOCK_ROWS = 64


def map_areas(labels: NDArray[np.integer[Any]], place: Georeference) -> Floats:
    """Measure the area of each label 0, 1, ..., (labels,), in the unit that `describe_place` names.

    Coordinates in degrees have pixels of different areas. Each is the area of the ellipsoid that
    it covers, by the curvatures at its middle, which is right to 2e-5 for pixels of one degree.
    """
    n_labels = int(labels.max()) + 1
    if not _is_geographic(place):
        return np.asarray(np.bincount(labels.ravel()) * place.pixel_area)
    crs = _crs(place)
    radians = crs.units_factor[1]
    axis, flattening = _ellipsoid(crs)
    squared = flattening * (2 - flattening)  # the eccentricity
    areas = np.zeros(n_labels)
    columns = np.arange(labels.shape[1]) + 0.5
    for first in range(0, len(labels), BLOCK_ROWS):
        block = labels[first : first + BLOCK_ROWS]
        rows = np.arange(first, first + len(block)) + 0.5
        latitude = radians * place.to_map(columns, rows[:, None])[1]
        curved = 1 - squared * np.sin(latitude) ** 2
        scale = axis**2 * (1 - squared) * np.cos(latitude) / curved**2
        areas += np.bincount(block.ravel(), scale.ravel(), n_labels)
    return np.asarray(areas * place.pixel_area * radians**2)


def map_columns(
    rows: Sequence[dict[str, Any]], areas: Floats, place: Georeference
) -> list[dict[str, float]]:
    """Return what a map adds to rows of the table: area, of those by label, and centroid."""
    decimals = place.decimals
    middles = np.array([(row["centroid_x"], row["centroid_y"]) for row in rows]) + 0.5
    centroids = np.stack(place.to_map(*middles.T), axis=1).round(decimals).tolist()
    return [
        {
            "area_map": float(f"{areas[row['label']]:.12g}"),
            "centroid_map_x": x,
            "centroid_map_y": y,
        }
        for row, (x, y) in zip(rows, centroids, strict=True)
    ]


def describe_place(place: Georeference) -> dict[str, Any]:
    """Return what a report says of the place of an image."""
    return {
        "crs": place.name,
        "transform": list(place.transform),
        "area_map_unit": _area_unit(place),
    }


def _area_unit(place: Georeference) -> str:
    """Name the unit of areas: the square of that of the map, or square metres for degrees."""
    if place.crs is None:
        return "square of the unit of the coordinates"
    return "square metre" if _is_geographic(place) else f"square {_crs(place).linear_units}"


def _is_geographic(place: Georeference) -> bool:
    return place.crs is not None and bool(_crs(place).is_geographic)


def _crs(place: Georeference) -> Any:
    from rasterio.crs import CRS

    return CRS.from_wkt(place.crs)


def _ellipsoid(crs: Any) -> tuple[float, float]:
    """Return the semi-major axis, in metres, and the flattening."""
    found = ELLIPSOID.search(crs.to_wkt(version="WKT2_2019"))
    assert found is not None, "a geographic coordinate system has an ellipsoid"
    inverse = float(found[2])
    return float(found[1]) * float(found[3] or 1), 1 / inverse if inverse else 0.0
