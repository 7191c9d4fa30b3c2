"""Images as arrays: checked once, at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Raster:
    """An image as it came, however large: turned into numbers only where these are needed.

    Attributes
    ----------
    values : (h, w, c) array
        Of one channel or three, contiguous; uint8, uint16, float32 or float64.
    top : float
        The value of full brightness; 0 is black.
    """

    values: NDArray[Any]
    top: float

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.values.shape[0], self.values.shape[1]

    def rgb(self) -> FloatArray:
        """Return all pixels as (h, w, 3) floats in [0, 1]; grey ones have three equal channels."""
        unit = np.asarray(self.values / self.top, dtype=np.float64)
        return np.repeat(unit, 3, axis=2) if unit.shape[2] == 1 else unit


def as_rgb(image: ArrayLike) -> FloatArray:
    """Return an image that `as_raster` takes as (h, w, 3) floats in [0, 1]."""
    return as_raster(image).rgb()


def as_raster(image: ArrayLike) -> Raster:
    """Check an image, and keep it as it came.

    Parameters
    ----------
    image : (h, w), (h, w, 1) or (h, w, 3) array
        uint8, uint16 or float in [0, 1].
    """
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
        raise InvalidInputError(
            f"an image must have shape (height, width) or (height, width, 3), got {array.shape}"
        )
    if array.size == 0:
        raise InvalidInputError(f"the image is empty: its shape is {array.shape}")
    channels = array.reshape(*array.shape[:2], -1)
    native = array.dtype.newbyteorder("=")
    if native in (np.uint8, np.uint16):
        return Raster(np.ascontiguousarray(channels, native), float(np.iinfo(native).max))
    if not np.issubdtype(array.dtype, np.floating):
        raise InvalidInputError(
            f"an image must hold uint8, uint16 or float values, got {array.dtype}"
        )
    single = array.dtype.itemsize <= np.dtype(np.float32).itemsize
    values = np.ascontiguousarray(channels, dtype=np.float32 if single else np.float64)
    if not np.isfinite(values).all():
        raise InvalidInputError("the image holds NaN or infinite pixels; replace them first")
    if values.min() < 0.0 or values.max() > 1.0:
        raise InvalidInputError(
            "a float image must lie in [0, 1], got values from "
            f"{values.min():g} to {values.max():g}; rescale it first"
        )
    return Raster(values, 1.0)


def neighbours_at(array: NDArray[Any], dy: int, dx: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the pixels that have a neighbour dy rows below and dx columns right, and these.

    Both are views of the array, (h, w) or (h, w, c), and of the same shape.
    """
    height, width = array.shape[:2]
    rows, columns = max(height - abs(dy), 0), max(width - abs(dx), 0)
    y, x = max(-dy, 0), max(-dx, 0)
    here = array[y : y + rows, x : x + columns]
    return here, array[y + dy : y + dy + rows, x + dx : x + dx + columns]


def steps_within(radius2: float, longest_side: int) -> list[tuple[int, int]]:
    """List the steps (dy, dx) to the later half of the pixels within a squared radius.

    Steps longer than the longest side of an image lead out of it and are left out.
    """
    most = min(int(radius2**0.5), longest_side)
    reach = range(-most, most + 1)
    return [
        (dy, dx)
        for dy in reach
        for dx in reach
        if (dy, dx) > (0, 0) and dy * dy + dx * dx <= radius2
    ]
