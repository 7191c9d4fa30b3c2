"""Images as arrays: checked once, at the door."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image.options import check_stretch
from pfeseg.image.stretch import find_range, whole_range

FloatArray = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Raster:
    """An image as it came, however large: turned into numbers only where these are needed.

    Made by `as_raster`. Every function that takes an image takes one of these too.

    Attributes
    ----------
    values : (h, w, c) array
        Of one channel or three, contiguous, of a type in `KERNEL_TYPES`.
    black, white : float
        Values of no and of full brightness; those beyond count as these.
    stretch : str
        How `black` and `white` were found.
    """

    values: NDArray[Any]
    black: float
    white: float
    stretch: str

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.values.shape[0], self.values.shape[1]

    def rgb(self) -> FloatArray:
        """Return all pixels as (h, w, 3) floats in [0, 1]; grey ones have three equal channels."""
        unit = np.subtract(self.values, self.black, dtype=np.float64)
        unit /= self.white - self.black
        np.clip(unit, 0.0, 1.0, out=unit)
        return np.repeat(unit, 3, axis=2) if unit.shape[2] == 1 else unit


ImageLike = ArrayLike | Raster
"""An image from outside, or one that was checked."""

KERNEL_TYPES = (
    *(np.uint8, np.uint16, np.uint32, np.int16, np.int32),
    *(np.float32, np.float64),
)
"""Types of pixels that the kernels take; of others, the first integers that hold all values."""


def as_rgb(image: ImageLike) -> FloatArray:
    """Return an image that `as_raster` takes as (h, w, 3) floats in [0, 1]."""
    return as_raster(image).rgb()


def as_raster(image: ImageLike, stretch: str = "auto") -> Raster:
    """Check an image, keep it as it came, and find which of its values are black and white.

    Parameters
    ----------
    image : (h, w), (h, w, 1) or (h, w, 3) array
        Integers, truth values or floats of any size and order of bytes. One that was checked
        already stays as it is.
    stretch : str
        "none": black and white are the ends of the type, and floats must lie in [0, 1].
        "minmax": the least and the greatest value are.
        "P:Q", such as "0.1:99.9": these percentiles of the values are.
        "auto": as "none" for 8 bits and for floats in [0, 1]; other images are stretched, as
        `pfeseg.image.stretch` says.
    """
    if isinstance(image, Raster):
        return image
    check_stretch(stretch)
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
        raise InvalidInputError(
            f"an image must have shape (height, width) or (height, width, 3), got {array.shape}"
        )
    if array.size == 0:
        raise InvalidInputError(f"the image is empty: its shape is {array.shape}")
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(
            f"an image must hold integers, truth values or floats, got {array.dtype}"
        )
    values = array.reshape(*array.shape[:2], -1)
    black, white = find_range(values, stretch)
    kind = _kernel_type(values, black, white)
    return Raster(np.ascontiguousarray(values, kind), black, white, stretch)


def _kernel_type(values: NDArray[Any], black: float, white: float) -> np.dtype[Any]:
    """Choose the type in which kernels see an image: its own, or one that holds its values."""
    native = values.dtype.newbyteorder("=")
    if native in KERNEL_TYPES:
        return native
    if native.kind == "f":
        return np.dtype(np.float32 if native.itemsize < 4 else np.float64)
    ends = min(float(values.min()), black), max(float(values.max()), white)
    for kind in map(np.dtype, KERNEL_TYPES):
        low, high = whole_range(kind)
        if kind.kind != "f" and low <= ends[0] and ends[1] <= high:
            return kind
    return np.dtype(np.float64)


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
