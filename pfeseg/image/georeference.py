"""Where on earth an image lies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Georeference:
    """Where on earth an image lies; no stage of a segmentation looks at it, only what is written.

    Attributes
    ----------
    crs : str or None
        The coordinate system, as well-known text; None if it is not known.
    transform : tuple of six float
        (a, b, c, d, e, f): the point x to the right and y down of the upper left corner of the
        image, in pixels, lies at a x + b y + c, d x + e y + f.
    name : str or None
        What the coordinate system is called, such as EPSG:32633; its text if it has no number.
    """

    crs: str | None
    transform: tuple[float, float, float, float, float, float]
    name: str | None = None

    def to_map(self, x: Any, y: Any) -> tuple[Floats, Floats]:
        """Return the coordinates of points that are given in pixels."""
        a, b, c, d, e, f = self.transform
        x, y = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
        return a * x + b * y + c, d * x + e * y + f

    @property
    def pixel_area(self) -> float:
        """Area of a pixel in the square of the unit of the coordinates."""
        a, b, _, d, e, _ = self.transform
        return abs(a * e - b * d)

    @property
    def decimals(self) -> int:
        """Decimals of a coordinate that tell a hundredth of a pixel."""
        return max(0, 2 - math.floor(math.log10(self.pixel_area) / 2))

    def from_row(self, row: int) -> Georeference:
        """Return where the part of the image lies that begins with a row."""
        a, b, c, d, e, f = self.transform
        return replace(self, transform=(a, b, c + b * row, d, e, f + e * row))
