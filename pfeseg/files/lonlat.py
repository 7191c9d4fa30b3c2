"""Regions as polygons in longitude and latitude of WGS 84, as GeoJSON has them (RFC 7946).

Straight borders of pixels are no straight lines in longitude and latitude. So that neighbours
have the same border all the same, a ring has a point wherever regions meet, and at every `STEP`-th
pixel.

Nothing may reach across the antimeridian. An image that does is cut there, between pixels, into
parts east and west of Greenwich, and the corners of the cut are moved, by less than a pixel, on to
the meridian itself. Of an image that reaches across Greenwich as well, as one of a pole does, the
parts of a region meet there along an edge.
"""

from __future__ import annotations

import warnings
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import ImageWarning
from pfeseg.files.polygons import Labels, Polygon, Ring, signed_area, trace_parts
from pfeseg.image.georeference import Floats, Georeference
from pfeseg.labels.maps import labels_of, split_regions

WGS84 = "EPSG:4326"

DECIMALS = 9
"""Of longitudes and latitudes: a tenth of a millimetre."""

STEP = 32
"""Pixels between two points of a straight border, at most."""

COARSE = 33
"""Pixels of a side that are looked at to see whether an image reaches across the antimeridian."""

BLOCK_ROWS = 64

TIE = 1e-9
"""Degrees within which a pixel lies on a meridian, so that rounding does not decide its side."""

Bools = NDArray[np.bool_]


def lonlat_polygons(labels: Labels, place: Georeference) -> dict[int, list[Polygon]] | None:
    """Return the polygons of each label, outer rings counter-clockwise; None if that cannot be.

    Corners that have no longitude and latitude, such as those beyond the rim of the earth as a
    satellite sees it, are left out, with a warning.
    """
    from rasterio.crs import CRS

    crs = CRS.from_wkt(place.crs)
    if not crs.is_geographic and not crs.is_projected:
        return None
    return _polygons(labels, place, _eastern(labels.shape, place)) or None


def to_lonlat(place: Georeference, x: Any, y: Any) -> tuple[Floats, Floats]:
    """Return longitudes, from -180 to less than 180, and latitudes of points in pixels.

    Points that have none are infinite or not numbers.
    """
    lon, lat = _transformed(place, *place.to_map(np.ravel(x), np.ravel(y)))
    with np.errstate(invalid="ignore"):
        return (lon + 180) % 360 - 180, lat


def _transformed(place: Georeference, x: Floats, y: Floats) -> tuple[Floats, Floats]:
    from rasterio.crs import CRS
    from rasterio.warp import transform

    try:
        lon, lat = transform(CRS.from_wkt(place.crs), CRS.from_user_input(WGS84), x, y)
    except Exception:  # GDAL refuses all points together where one is refused
        if len(x) < 2:
            return np.full(len(x), np.nan), np.full(len(x), np.nan)
        half = len(x) // 2
        parts = (_transformed(place, x[:half], y[:half]), _transformed(place, x[half:], y[half:]))
        lon, lat = np.concatenate(parts, axis=1)
    return np.asarray(lon), np.asarray(lat)


def _polygons(
    labels: Labels, place: Georeference, east: Bools | None, step: int = STEP
) -> dict[int, list[Polygon]]:
    parts = split_regions(labels if east is None else 2 * labels.astype(np.int64) + east)
    meeting = _meeting_points(parts)
    rings = [[_with_points(ring, meeting, step) for ring in part] for part in trace_parts(parts)]
    corners = np.array([corner for part in rings for ring in part for corner in ring])
    ids = corners[:, 1] * (labels.shape[1] + 1) + corners[:, 0]
    numbers, where = np.unique(ids, return_inverse=True)
    y, x = np.divmod(numbers, labels.shape[1] + 1)
    lon, lat = to_lonlat(place, x, y)
    nowhere = int((~np.isfinite(lon + lat)).sum())
    if nowhere and step > 1:  # what is left is to follow the rim as well as it can
        return _polygons(labels, place, east, 1)
    _warn_of_nowhere(nowhere, len(lon))
    if east is None:
        sides = [_unwrapped(lon, place, x, y, labels.shape)]
        side_of = np.zeros(len(rings), dtype=int)
    else:
        on_cut = _on_cut(east)[y, x]
        sides = [_on_side(lon, on_cut, -1), _on_side(lon, on_cut, 1)]
        side_of = labels_of(parts, east.astype(int))
    polygons: dict[int, list[Polygon]] = {}
    start = 0
    for part, label in enumerate(labels_of(parts, labels).tolist()):
        polygon = []
        for k, ring in enumerate(rings[part]):
            these = where[start : start + len(ring)]
            start += len(ring)
            points = np.stack([sides[side_of[part]][these], lat[these]], axis=1)
            points = _known(points).round(DECIMALS)
            area = signed_area(points) if len(points) > 3 else 0.0
            if area:
                is_right = (area > 0) == (k == 0)
                polygon.append((points if is_right else points[::-1]).tolist())
            elif k == 0:
                start += sum(map(len, rings[part][1:]))
                break
        if polygon:
            polygons.setdefault(label, []).append(polygon)
    return polygons


def _warn_of_nowhere(n_nowhere: int, n_points: int) -> None:
    if 0 < n_nowhere < n_points:
        warnings.warn(
            f"GeoJSON lacks {n_nowhere} of {n_points} corners, which have no longitude and "
            "latitude; a GeoPackage has all",
            ImageWarning,
            stacklevel=6,
        )


def _known(points: Floats) -> Floats:
    """Leave out the points of a ring that are nowhere, and close it again."""
    finite = np.asarray(np.isfinite(points).all(axis=1))
    if finite.all():
        return points
    points = points[:-1][finite[:-1]]
    return np.concatenate([points, points[:1]])


def _meeting_points(parts: Labels) -> Bools:
    """Mark the corners of pixels, (h + 1, w + 1), at which three parts or more meet."""
    around = np.pad(parts, 1, constant_values=-1)
    upper_left, upper_right = around[:-1, :-1], around[:-1, 1:]
    lower_left, lower_right = around[1:, :-1], around[1:, 1:]
    changes = (upper_left != upper_right).astype(np.uint8)
    changes += upper_right != lower_right
    changes += lower_right != lower_left
    changes += lower_left != upper_left
    return np.asarray(changes > 2)


def _with_points(ring: Ring, meeting: Bools, every: int) -> Ring:
    """Add points along straight borders: where parts meet, and at every so many pixels."""
    result: Ring = []
    for (x0, y0), (x1, y1) in pairwise(ring):
        result.append([x0, y0])
        length = abs(x1 - x0) + abs(y1 - y0)
        if length < 2:
            continue
        step_x, step_y = (x1 - x0) // length, (y1 - y0) // length
        along = np.arange(1, length)
        x, y = x0 + along * step_x, y0 + along * step_y
        wanted = meeting[y, x] | ((x if step_x else y) % every == 0)
        result += np.stack([x[wanted], y[wanted]], axis=1).tolist()
    return [*result, ring[-1]]


def _eastern(shape: tuple[int, ...], place: Georeference) -> Bools | None:
    """Mark the pixels east of Greenwich, (h, w), if the image reaches across the antimeridian."""
    height, width = shape
    looked_at = (np.linspace(0.5, side - 0.5, min(side, COARSE)) for side in shape)
    coarse = _longitudes(place, *looked_at)
    jumps = (np.abs(np.diff(coarse, axis=axis)) > 180 for axis in (0, 1))
    if not any(jump.any() for jump in jumps):
        return None
    east = np.empty((height, width), dtype=bool)
    for first in range(0, height, BLOCK_ROWS):
        rows = np.arange(first, min(first + BLOCK_ROWS, height)) + 0.5
        lon = _longitudes(place, rows, np.arange(width) + 0.5)
        east[first : first + BLOCK_ROWS] = (lon >= -TIE) & (lon < 180 - TIE)
    return east


def _longitudes(place: Georeference, rows: NDArray[Any], columns: NDArray[Any]) -> Floats:
    y, x = np.meshgrid(rows, columns, indexing="ij")
    lon = to_lonlat(place, x, y)[0]
    return np.where(np.isfinite(lon), lon, np.nan).reshape(y.shape)


def _on_cut(east: Bools) -> Bools:
    """Mark the corners of pixels, (h + 1, w + 1), between east and west."""
    around = np.pad(east, 1, mode="edge")
    windows = (around[:-1, :-1], around[:-1, 1:], around[1:, :-1], around[1:, 1:])
    return np.asarray(np.logical_or.reduce(windows) & ~np.logical_and.reduce(windows))


def _on_side(lon: Floats, on_cut: Bools, sign: int) -> Floats:
    """Move corners of the cut, and what lies beyond, on to the meridian that ends a side."""
    beyond = on_cut | (sign * lon < 0)
    return np.where(beyond & np.isfinite(lon), np.where(np.abs(lon) > 90, sign * 180.0, 0.0), lon)


def _unwrapped(lon: Floats, place: Georeference, x: Any, y: Any, shape: tuple[int, ...]) -> Floats:
    """Put the corners on the rim of an image on the side of the antimeridian that it lies on."""
    height, width = shape
    rim = (x == 0) | (x == width) | (y == 0) | (y == height)
    within, _ = to_lonlat(
        place, np.clip(x[rim], 0.5, width - 0.5), np.clip(y[rim], 0.5, height - 0.5)
    )
    result = lon.copy()
    with np.errstate(invalid="ignore"):
        turns = np.round((within - lon[rim]) / 360)
        result[rim] = np.clip(lon[rim] + 360 * np.nan_to_num(turns), -180, 180)
    return result
