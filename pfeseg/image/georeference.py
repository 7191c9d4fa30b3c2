"""Where on earth an image lies."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import MAX_SIDE, number_array, real_number, shown, whole_number
from pfeseg.errors import InvalidInputError, argument

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Georeference:
    """Where on earth an image lies; used for what is written, never for the segmentation.

    Attributes
    ----------
    crs : str or None
        The coordinate system, as well-known text; None if it is not known.
    transform : tuple of six float
        (a, b, c, d, e, f): the point x to the right and y down of the upper left corner of the
        image, in pixels, lies at a x + b y + c, d x + e y + f.
    name : str or None
        What the coordinate system is called, such as EPSG:32633; its text if it has no number.

    Raises
    ------
    InvalidInputError
        If the transform is not six finite numbers, or `crs` or `name` no text.

    Examples
    --------
    >>> from pfeseg import Georeference
    >>> place = Georeference(None, (10, 0, 500000, 0, -10, 5400000))
    >>> x, y = place.to_map([0, 3], [0, 2])
    >>> x.tolist(), y.tolist()
    ([500000.0, 500030.0], [5400000.0, 5399980.0])
    >>> place.pixel_area, place.decimals
    (100, 1)
    >>> place.from_row(2).transform
    (10, 0, 500000, 0, -10, 5399980)
    """

    crs: str | None
    transform: tuple[float, float, float, float, float, float]
    name: str | None = None

    def __post_init__(self) -> None:
        for name in ("crs", "name"):
            value = getattr(self, name)
            if not (value is None or isinstance(value, str)):
                raise InvalidInputError(f"{name} must be text or None, got {shown(value)}")
        try:
            numbers = tuple(real_number(number) for number in self.transform)
        except TypeError:
            numbers = ()
        if len(numbers) != 6 or not all(map(math.isfinite, numbers)):
            raise InvalidInputError(
                f"{argument('transform')} must be six finite numbers, got {shown(self.transform)}"
            )

    def to_map(self, x: Any, y: Any) -> tuple[Floats, Floats]:
        """Return the coordinates of points that are given in pixels.

        Parameters
        ----------
        x, y : (n,) array, or number
            How far the points lie to the right of the upper left corner of the image, and below.

        Returns
        -------
        tuple of two (n,) float64 array
            Coordinates in the system `crs`, east or longitude first.

        Raises
        ------
        InvalidInputError
            If they are not finite numbers, or do not fit each other.
        """
        a, b, c, d, e, f = self.transform
        x, y = (number_array(v, name).astype(np.float64) for v, name in ((x, "x"), (y, "y")))
        try:
            np.broadcast_shapes(x.shape, y.shape)
        except ValueError as error:
            raise InvalidInputError(
                f"x and y must have one shape, got {x.shape} and {y.shape}"
            ) from error
        if not (np.isfinite(x).all() and np.isfinite(y).all()):
            raise InvalidInputError("x and y must be finite numbers")
        return a * x + b * y + c, d * x + e * y + f

    @property
    def pixel_area(self) -> float:
        """Area of a pixel in the square of the unit of the coordinates."""
        a, b, _, d, e, _ = self.transform
        return abs(a * e - b * d)

    @property
    def decimals(self) -> int:
        """Decimals that a coordinate needs to tell a hundredth of a pixel."""
        return max(0, 2 - math.floor(math.log10(self.pixel_area) / 2))

    def from_row(self, row: int) -> Georeference:
        """Return the place of the part of the image that begins with a row.

        Parameters
        ----------
        row : int
            Counted from 0; negative above the image.

        Returns
        -------
        Georeference

        Raises
        ------
        InvalidInputError
            If the row is not a whole number.
        """
        row = whole_number("row", row, -MAX_SIDE, MAX_SIDE)
        a, b, c, d, e, f = self.transform
        return replace(self, transform=(a, b, c + b * row, d, e, f + e * row))
