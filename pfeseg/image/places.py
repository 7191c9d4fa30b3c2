"""Where the pixels of an image of one size lie in the same image of another size."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray


def pixel_centres(small: int, large: int) -> NDArray[np.float64]:
    """Return the places of the centres of `large` pixels, in units of `small` ones, (large,).

    They are counted from where the first pixel begins.
    """
    return (np.arange(large) + 0.5) * small / large


def pixels_below(small: int, large: int) -> NDArray[np.intp]:
    """Return in which of `small` pixels the centre of each of `large` ones lies, (large,)."""
    return pixel_centres(small, large).astype(np.intp)
