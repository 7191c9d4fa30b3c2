"""A volume on one sheet: some of its slices, and two that cross them in the middle."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.arrays import Raster, as_raster
from pfeseg.pictures.montage import SHEET_TILE, TILE_GAP
from pfeseg.pictures.overlay import draw_overlay

MOST_SLICES = 7

ACROSS = 3
"""Tiles in a row."""


def draw_slices(
    tall: Raster, labels: NDArray[np.integer[Any]], spacing: tuple[float, float, float]
) -> NDArray[np.uint8]:
    """Draw the regions of a volume over some slices: along z, then across y and x, at the middle.

    Parameters
    ----------
    tall : Raster
        The slices below each other, (Z Y, X, c).
    labels : (Z, Y, X) array
    spacing : (dz, dy, dx)
        Voxels are drawn as long as they are.

    Returns
    -------
    uint8 array, (h, w, 3)
        A sheet of tiles; a label has one colour on all of them.
    """
    shown = tall.picture()
    volume = shown.values.reshape(*labels.shape, -1)
    longest = max(n * step for n, step in zip(labels.shape, spacing, strict=True))
    tile = SHEET_TILE + TILE_GAP
    cuts = [(0, int(z)) for z in _spread(labels.shape[0])]
    cuts += [(1, labels.shape[1] // 2), (2, labels.shape[2] // 2)]
    down = -(-len(cuts) // ACROSS)
    size = (down * tile - TILE_GAP, ACROSS * tile - TILE_GAP)
    picture = np.zeros((*size, volume.shape[3]), dtype=volume.dtype)
    regions, drawn = np.zeros(size, dtype=np.int32), np.zeros(size, dtype=bool)
    for k, (axis, index) in enumerate(cuts):
        rows, columns = (
            _places(labels.shape[other], spacing[other] / longest)
            for other in range(3)
            if other != axis
        )
        y, x = k // ACROSS * tile, k % ACROSS * tile
        place = (slice(y, y + len(rows)), slice(x, x + len(columns)))
        picture[place] = np.take(volume, index, axis)[rows][:, columns]
        regions[place] = np.take(labels, index, axis)[rows][:, columns]
        drawn[place] = True
    sheet = Raster(picture, shown.black, shown.white, "none", mask=drawn)
    if drawn.all():
        sheet = replace(sheet, mask=None)
    return draw_overlay(as_raster(sheet), regions)


def _spread(count: int) -> NDArray[np.intp]:
    """Choose slices at even distances, all of them if they are few."""
    wanted = min(count, MOST_SLICES)
    return ((np.arange(wanted) + 0.5) * count / wanted).astype(np.intp)


def _places(count: int, share: float) -> NDArray[np.intp]:
    """Return which voxel each pixel of a tile shows, along an axis of some share of the tile."""
    pixels = max(1, round(SHEET_TILE * count * share))
    return ((np.arange(pixels) + 0.5) * count / pixels).astype(np.intp)
