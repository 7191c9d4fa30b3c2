"""Which values of an image are black and white.

An image of 8 bits is taken as it is. A deeper one seldom uses all that its type could hold: a
camera of 12 bits fills a sixteenth of 16. By default ("auto") it is stretched:

1. Numbers usually come from a range of 0 to 2^b - 1, b being as many bits as they need, and 8 at
   least, or from the whole type where some are negative. Where the percentiles 0.1 and 99.9 of the
   image span at least half of that range, its ends are black and white. So one photograph is the
   same in 8 bits, as 12 bits in 16, in 16 bits and in floats from 0 to 255: its contrast tells
   which regions are found, and must not depend on how it was stored.
2. Else the percentiles themselves become black and white, as half the contrast or more would be
   lost otherwise, and all of it where much is added to every value.

Floats in [0, 1] are taken as they are, however little of that range they use: every stage hands on
such numbers, as do most libraries, and none of them should stretch them again.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.options import percentages

UNIT = (0.0, 1.0)
"""The range of floats that say how bright a pixel is."""

ENOUGH = 0.5
"""Share of a usual range that an image made for that range uses at least."""

DEPTHS = range(8, 33)
"""Bits of usual ranges."""

BLOCK_ROWS = 64
"""Rows that are worked on together; more would take much memory."""

BLOCK_VALUES = 1 << 19
"""Values that are counted together, for the same reason."""

SAMPLE = 1 << 22
"""Pixels of more than 16 bits that percentiles are taken from, at most about."""


def find_range(values: NDArray[Any], stretch: str) -> tuple[float, float]:
    """Tell which values of an image are black and white.

    Parameters
    ----------
    values : (h, w, c) array
        Integers, truth values or floats. NaN and infinite ones are refused.
    stretch : str
        See `pfeseg.image.arrays.as_raster`.
    """
    is_float, whole = values.dtype.kind == "f", whole_range(values.dtype)
    if not is_float and (stretch == "none" or (stretch == "auto" and values.itemsize == 1)):
        return whole
    least, most = float(values.min()), float(values.max())
    if not math.isfinite(most - least):
        refuse_infinite(values)
    if is_float and stretch in ("auto", "none"):
        if whole[0] <= least and most <= whole[1]:
            return whole
        if stretch == "none":
            raise InvalidInputError(
                f"a float image must lie in [0, 1] to be taken as it is, got values from "
                f"{least:g} to {most:g}; rescale it or give {argument('stretch', 'minmax')}"
            )
    low, high = least, most
    if stretch != "minmax":
        low, high = find_percentiles(values, *percentages(stretch))
        if low == high:  # most of the image is of one value, and what else there is counts
            low, high = least, most
    usual = _usual_range(low, high) or (None if is_float else whole)
    if low == high:
        return usual or (min(2 * low, 0.0), max(2 * high, 0.0))
    if stretch == "auto" and usual and high - low >= ENOUGH * (usual[1] - usual[0]):
        return usual
    return low, high


def whole_range(kind: np.dtype[Any]) -> tuple[float, float]:
    """Return the ends of a type: those of integers, or [0, 1] of floats and truth values."""
    if kind.kind not in "iu":
        return UNIT
    return float(np.iinfo(kind).min), float(np.iinfo(kind).max)


def find_percentiles(values: NDArray[Any], low: float, high: float) -> tuple[float, float]:
    """Return values at two percentages of all, of (h, w, c): the next below, and the next above.

    Wide types are sampled at every n-th pixel if there are many.
    """
    if values.dtype.kind != "f" and values.dtype.itemsize <= 2:
        counts, first = _histogram(values)
        below = np.cumsum(counts)
        last = int(below[-1]) - 1
        places = math.floor(low / 100 * last), math.ceil(high / 100 * last)
        black, white = np.searchsorted(below, places, side="right") + first
    else:
        sample = _sampled(values).ravel()
        last = len(sample) - 1
        places = math.floor(low / 100 * last), math.ceil(high / 100 * last)
        black, white = np.partition(sample, places)[list(places)]
    return float(black), float(white)


def _histogram(values: NDArray[Any]) -> tuple[NDArray[np.int64], int]:
    """Count how often each value occurs; returns the first that is counted too."""
    first = int(whole_range(values.dtype)[0])
    counts = np.zeros(1 << (8 * values.dtype.itemsize), dtype=np.int64)
    rows = max(1, BLOCK_VALUES // values[0].size)
    for row in range(0, len(values), rows):
        block = values[row : row + rows].astype(np.intp).ravel()
        counts += np.bincount(block - first, minlength=len(counts))
    return counts, first


def _sampled(values: NDArray[Any]) -> NDArray[Any]:
    """Return about `SAMPLE` pixels, in places that follow no column or pattern of the image."""
    height, width, channels = values.shape
    return values.reshape(-1, channels)[:: sample_step(height * width, width)]


def sample_step(n_pixels: int, width: int) -> int:
    """Return which n-th pixels of so many are looked at, in rows of some width."""
    step = max(1, n_pixels // SAMPLE)
    while math.gcd(step, width) > 1:
        step += 1
    return step


def _usual_range(low: float, high: float) -> tuple[float, float] | None:
    """Return the range of as many bits as values need, if they may come from such a range."""
    if low < 0 or high >= 2.0 ** DEPTHS[-1]:
        return None
    bits = max(DEPTHS[0], math.ceil(high).bit_length())
    return 0.0, 2.0**bits - 1


def refuse_infinite(values: NDArray[Any], origin: tuple[int, int] = (0, 0)) -> None:
    """Say where the first value is that is no finite number, or that two are too far apart.

    `origin` is where values (h, w, c) begin in a larger image.
    """
    for y, row in enumerate(values):
        places = np.argwhere(~np.isfinite(row))
        if len(places):
            x, channel = places[0]
            is_nan = np.isnan(row[x, channel])
            remedy = f"mask it, as {argument('nodata', 'nan')} does," if is_nan else "mask it"
            raise InvalidInputError(
                f"the image holds {'NaN' if is_nan else 'an infinite value'} at row "
                f"{origin[0] + y}, column {origin[1] + x}, counted from 0; {remedy} or replace it "
                "first"
            )
    raise InvalidInputError(
        f"the image holds values from {values.min():g} to {values.max():g}, too far apart to be "
        "told apart; rescale it first"
    )
