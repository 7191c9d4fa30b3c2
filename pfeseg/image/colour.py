"""Colour spaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.image.arrays import as_rgb

FloatArray = NDArray[np.float64]


def to_lab(rgb: FloatArray) -> FloatArray:
    """Turn RGB in [0, 1], (h, w, 3), into CIELAB, L from 0 to 100."""
    from skimage.color import rgb2lab

    return np.asarray(rgb2lab(rgb), dtype=np.float64)


def as_lab(image: ArrayLike) -> FloatArray:
    """Return the colours of any image that `as_rgb` takes in CIELAB, (h, w, 3)."""
    return to_lab(as_rgb(image))
