"""Types of pixels that the kernels take."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.stretch import whole_range

KERNEL_TYPES = (
    *(np.uint8, np.uint16, np.uint32, np.int16, np.int32),
    *(np.float32, np.float64),
)
"""Integers in the order in which they are tried for values of another type."""


def kernel_type(values: NDArray[Any], black: float, white: float) -> np.dtype[Any]:
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
