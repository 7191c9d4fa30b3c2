"""Colour spaces."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

Lab = NDArray[np.float32]
"""CIELAB, (h, w, 3), of single precision, to which colours are known."""


def to_lab(rgb: NDArray[np.uint8] | NDArray[np.floating[Any]]) -> Lab:
    """Turn sRGB of 8 bits, or floats in [0, 1], (h, w, 3), into CIELAB, L from 0 to 100.

    The same as ``skimage.color.rgb2lab`` to single precision, against which the tests hold it.
    """
    return kernels.lab(np.ascontiguousarray(rgb))
