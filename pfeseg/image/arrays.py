"""Images as arrays: checked once, at the door."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError

FloatArray = NDArray[np.float64]


def as_rgb(image: ArrayLike) -> FloatArray:
    """Return an image as (h, w, 3) floats in [0, 1].

    Parameters
    ----------
    image : (h, w), (h, w, 1) or (h, w, 3) array
        uint8, uint16 or float in [0, 1]; grey images get three equal channels.
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
    values = _unit_range(array)
    if values.ndim == 2:
        return np.repeat(values[..., None], 3, axis=2)
    return np.ascontiguousarray(values)


def _unit_range(array: NDArray[np.generic]) -> FloatArray:
    tops = {np.dtype(kind): np.iinfo(kind).max for kind in (np.uint8, np.uint16)}
    if array.dtype in tops:
        return np.asarray(array.astype(np.float64) / tops[array.dtype])
    if not np.issubdtype(array.dtype, np.floating):
        raise InvalidInputError(
            f"an image must hold uint8, uint16 or float values, got {array.dtype}"
        )
    values = array.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        raise InvalidInputError("the image holds NaN or infinite pixels; replace them first")
    if values.min() < 0.0 or values.max() > 1.0:
        raise InvalidInputError(
            "a float image must lie in [0, 1], got values from "
            f"{values.min():g} to {values.max():g}; rescale it first"
        )
    return values


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
