"""What the levels of a hierarchy mean: the share of people who draw a boundary.

A boundary at level 0.3 is one that three in ten people draw, so the cut at 0.3 keeps what at least
so many draw. Merging knows the odds of a boundary by a model that was fitted to regions; how many
people do draw a boundary of such odds was counted on every second training image of BSDS500, pixel
by pixel, by the rules of its benchmark: benchmarks/levels.py counts again, and prints `KNOTS`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.float64]

KNOTS = ((-8.0, -6.26), (-0.6, -1.0), (0.0, 0.0), (4.0, 2.23))
"""Log-odds by which merging goes, and the log-odds of the share of people who draw such boundaries;
straight lines between these points, and beyond the ends. Even odds are the level 1/2."""

CERTAIN = 15.0
"""Log-odds beyond which shares are not told apart, so that none is 1, not even in contour maps,
which are of single precision."""

NEVER = -600.0
"""The same at the other end, where the exponential would overflow."""


def to_levels(log_odds: FloatArray) -> FloatArray:
    """Bring the log-odds of merges to levels, in (0, 1); never falling where these never fall."""
    odds, shares = np.transpose(KNOTS)
    return _share(np.clip(_along(log_odds, odds, shares), NEVER, CERTAIN))


def to_log_odds(levels: FloatArray | float) -> FloatArray:
    """Undo `to_levels`, but for what is beyond `CERTAIN`."""
    odds, shares = np.transpose(KNOTS)
    levels = np.asarray(levels, dtype=np.float64)
    return _along(np.log(levels / (1 - levels)), shares, odds)


def _share(log_odds: FloatArray) -> FloatArray:
    return np.asarray(1 / (1 + np.exp(-log_odds)))


def _along(x: FloatArray, at: FloatArray, values: FloatArray) -> FloatArray:
    """Interpolate by straight lines, of which the first and the last go on."""
    x = np.asarray(x, dtype=np.float64)
    slopes = np.diff(values) / np.diff(at)
    below, above = np.minimum(x - at[0], 0), np.maximum(x - at[-1], 0)
    return np.asarray(np.interp(x, at, values) + slopes[0] * below + slopes[-1] * above)
