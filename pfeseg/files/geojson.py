"""Regions as GeoJSON."""

from __future__ import annotations

import json
import warnings

import numpy as np

from pfeseg.errors import ImageWarning
from pfeseg.files.polygons import Labels, Polygon, pixel_polygons
from pfeseg.image.georeference import Georeference


def geojson(labels: Labels, first: int = 0, place: Georeference | None = None) -> str:
    """Return the regions as GeoJSON, a MultiPolygon each, along the borders of the pixels.

    Coordinates are longitude and latitude of WGS 84 where `place` tells them. Else they are
    pixels: x to the right, y down, (0, 0) the image's upper left corner. The property "score" is
    the share of the image that a region covers, "area_map" its area in the units of the map.
    """
    areas = np.bincount(labels.ravel()).tolist()
    map_areas = _map_areas(labels, place)
    polygons = _polygons(labels, place)
    features = [
        {
            "type": "Feature",
            "properties": {
                "label": label,
                "score": areas[label] / labels.size,
                **({} if map_areas is None else {"area_map": map_areas[label]}),
            },
            "geometry": {"type": "MultiPolygon", "coordinates": polygons[label]},
        }
        for label in sorted(polygons)
        if label >= first
    ]
    return json.dumps({"type": "FeatureCollection", "features": features})


def _polygons(labels: Labels, place: Georeference | None) -> dict[int, list[Polygon]]:
    if place is not None and place.crs is not None:
        from pfeseg.files.lonlat import lonlat_polygons

        polygons = lonlat_polygons(labels, place)
        if polygons is not None:
            return polygons
    if place is not None:
        reason = "cannot be brought to longitude and latitude" if place.crs else "is not known"
        warnings.warn(
            f"GeoJSON has pixels as coordinates, as the coordinate system of the image {reason}",
            ImageWarning,
            stacklevel=3,
        )
    return dict(pixel_polygons(labels))


def _map_areas(labels: Labels, place: Georeference | None) -> list[float] | None:
    if place is None:
        return None
    from pfeseg.files.map_units import map_areas

    return [float(f"{area:.12g}") for area in map_areas(labels, place)]
