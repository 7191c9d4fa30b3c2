"""How a whole raster is to be seen, found once: what is black and white, which components it has.

An image of 8 bits is taken as it is. Of any other, one pass over its windows finds the least and
greatest values and takes a sample, from which all else is found as from an image.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pfeseg.engines.engine import Engine
from pfeseg.engines.parts import run_parts
from pfeseg.files.masking import no_pixel_left
from pfeseg.files.windows import WindowedImage
from pfeseg.image.arrays import Raster, pixels_as_raster
from pfeseg.image.options import choose_bands
from pfeseg.image.stretch import refuse_infinite, sample_step
from pfeseg.image.tiling import Window, cells
from pfeseg.segmentation.settings import Settings

Rows = NDArray[np.generic]

FIRST = (slice(0, 1), slice(0, 1))

ROW = 1024
"""Pixels in a row of a sample that is laid out as an image."""


def find_look(image: WindowedImage, settings: Settings, size: int, engine: Engine) -> Raster:
    """Return a raster of one pixel, which others are to be like, see `Raster.like`.

    It is read in windows of at most `size` pixels a side.
    """
    sample = image.pixels.read(FIRST)
    used = choose_bands(settings.bands, _shown_bands(image, sample.shape[2]))
    as_it_is = sample.dtype.kind != "f" and (
        settings.stretch == "none" or (settings.stretch == "auto" and sample.itemsize == 1)
    )
    if as_it_is and len(used) in (1, 3):
        sample = image.read(FIRST, settings.bands)[0]
    else:
        sample = _sample(image, settings.bands, used, size, engine)
    model = pixels_as_raster(sample, settings.stretch, settings.bands)
    return model.like(sample[:1, :1])


def _shown_bands(image: WindowedImage, stored: int) -> int:
    """Return how many bands there are without transparency."""
    return stored - (image.pixels.alpha and stored in (2, 4))


def _sample(
    image: WindowedImage, bands: str, used: tuple[int, ...], size: int, engine: Engine
) -> Rows:
    """Lay a sample of the pixels of an image out as one, (h, w, c), extremes first."""
    windows = cells(image.shape, size)
    step = sample_step(image.shape[0] * image.shape[1], image.shape[1])
    calls = [(k, image, bands, used, window, step) for k, window in enumerate(windows)]
    found = dict(run_parts(engine, _look_at, calls, image))
    parts = [found[k] for k in range(len(windows)) if len(found[k])]
    if not parts:
        raise no_pixel_left(str(image.pixels.path))
    rows = np.concatenate(parts)
    if step > 1:  # else the extremes are there already
        rows = np.concatenate([rows.min(axis=0)[None], rows.max(axis=0)[None], rows])
    whole = len(rows) // ROW * ROW
    if whole < len(rows) and step > 1:
        rows = rows[:whole]
    return rows.reshape(-1, ROW if len(rows) == whole else len(rows), rows.shape[1])


def _look_at(
    number: int,
    image: WindowedImage,
    bands: str,
    used: tuple[int, ...],
    window: Window,
    step: int,
) -> tuple[int, Rows]:
    """Take some pixels of a window, (n, c), and the least and greatest values of its bands."""
    array, inside = image.read(window, bands)
    pixels = array.reshape(-1, array.shape[2]) if inside is None else array[inside]
    if not len(pixels):
        return number, pixels
    counted = array[..., np.array(used) - 1]
    if counted.dtype.kind == "f":
        known = counted if inside is None else np.where(inside[..., None], counted, 0)
        if not np.isfinite(known).all():
            refuse_infinite(known, (window[0].start, window[1].start))
    taken = pixels[::step]
    if step > 1:
        taken = np.concatenate([pixels.min(axis=0)[None], pixels.max(axis=0)[None], taken])
    return number, taken
