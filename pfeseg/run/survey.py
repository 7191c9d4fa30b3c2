"""One more look at a raster that was segmented by tiles: its overlay, and the table of its regions.

It is read again in windows that do not overlap. Only the sums over regions and the overlay, of a
size that was chosen, are in memory.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg.engines.engine import Engine
from pfeseg.engines.parts import run_parts
from pfeseg.files.regions import RegionSums
from pfeseg.image.arrays import Raster
from pfeseg.image.resize import enlarge_labels, shrink_to, small_size
from pfeseg.image.tiling import Window, cells
from pfeseg.pictures.overlay import draw_overlay
from pfeseg.run.sewing import TiledImage

Labels = NDArray[np.int32]

USUAL_SIDE = 2000
"""Longer side of overlays, at most, unless told otherwise."""


@dataclass(frozen=True, eq=False)
class Survey:
    """What was seen.

    Attributes
    ----------
    picture : (h, w, 3) uint8 array
        The overlay.
    labels : (h, w) int32 array
        Of its size.
    sums : RegionSums or None
        None unless they were asked for.
    """

    picture: NDArray[np.uint8]
    labels: Labels
    sums: RegionSums | None


@dataclass(frozen=True, eq=False)
class _Glance:
    """What is seen in one window: its part of the overlay, its labels there, and its sums."""

    part: Window
    picture: NDArray[np.uint8]
    labels: Labels
    inside: NDArray[np.bool_]
    sums: RegionSums | None


def look_again(
    of: TiledImage, size: int, overlay_size: int | None, with_sums: bool, engine: Engine
) -> Survey:
    """Draw the overlay of a raster whose regions are known, and sum over them.

    Parameters
    ----------
    of : TiledImage
    size : int
        Of the windows, at most about.
    overlay_size : int, optional
        Longer side of the overlay: at most `USUAL_SIDE` unless given, and never more than that
        of the raster.
    with_sums : bool
    engine : Engine
    """
    shape = of.image.shape
    factor = max(shape) / (overlay_size or USUAL_SIDE)
    small = small_size(shape, factor) if factor > 1 else shape
    parts = cells(small, max(1, int(size * small[0] / shape[0])))
    calls = [(of, part, _enlarged(part, small, shape), with_sums) for part in parts]
    picture = np.empty((*small, 3), dtype=np.uint8)
    labels, inside = np.zeros(small, dtype=np.int32), np.ones(small, dtype=bool)
    sums: dict[tuple[int, int], RegionSums] = {}
    for glance in run_parts(engine, _glance, calls, of):
        part = glance.part
        picture[part], labels[part], inside[part] = glance.picture, glance.labels, glance.inside
        if glance.sums is not None:
            sums[part[0].start, part[1].start] = glance.sums
    raster = Raster(picture, 0.0, 255.0, "none", mask=None if inside.all() else inside)
    in_order = [sums[key] for key in sorted(sums)]
    return Survey(
        draw_overlay(raster, labels), labels, RegionSums.joined(in_order) if sums else None
    )


def _enlarged(part: Window, small: tuple[int, int], shape: tuple[int, int]) -> Window:
    """Return which window of a raster a part of its overlay shows."""
    rows, columns = (
        slice(round(span.start * full / shown), round(span.stop * full / shown))
        for span, shown, full in zip(part, small, shape, strict=True)
    )
    return rows, columns


def _glance(of: TiledImage, part: Window, window: Window, with_sums: bool) -> _Glance:
    """Look at one window of a raster, which its overlay shows in some part."""
    shape = part[0].stop - part[0].start, part[1].stop - part[1].start
    full = of.mosaic.labels(window)
    labels = enlarge_labels(full, shape)
    raster = of.image.raster(window, of.model)
    if raster is None:
        nothing = np.zeros(shape, dtype=bool)
        return _Glance(part, np.zeros((*shape, 3), dtype=np.uint8), labels, nothing, None)
    shown = shrink_to(raster.picture(), shape)
    inside = np.ones(shape, dtype=bool) if shown.mask is None else shown.mask
    origin = window[0].start, window[1].start
    sums = RegionSums.of(raster, full, origin) if with_sums else None
    return _Glance(part, np.rint(shown.rgb() * 255).astype(np.uint8), labels, inside, sums)
