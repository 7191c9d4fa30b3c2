"""Images of any number of bands: which are used, and what they have in common.

One band is grey, and three are red, green and blue. Any other number is no colour: the bands are
brought to one variance each, and reduced to their principal components. All that compares colours
then compares these, in units of CIELAB: they vary as much in all as the colours of a photograph.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.blas import one_blas_thread
from pfeseg.image.stretch import BLOCK_ROWS, find_percentiles, find_range

ENOUGH_VARIANCE = 0.995
"""Share of the variance that the components keep."""

FEWEST_COMPONENTS, MOST_COMPONENTS = 2, 6
"""How many components are kept at least, and at most, whatever their share."""

SPREAD = 24.0
"""Root of the variance of all components, in units of CIELAB: that of half the photographs of
BSDS500 (train) is above it."""

SHOWN_BANDS = 3
"""Bands that are shown, as red, green and blue; of images with fewer, components are shown."""

SHOWN_PERCENTAGES = (1.0, 99.0)
"""Percentiles of a component that are shown black and white."""

Ends = tuple[tuple[float, float], ...]


@dataclass(frozen=True, eq=False)
class Axes:
    """The principal axes of bands.

    Attributes
    ----------
    mean : (c,) array
        The mean of each band.
    weights : (c, p) array
        How each band counts in each component.
    """

    mean: NDArray[np.float64]
    weights: NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Layers:
    """The bands of an image that are no colours, as they came.

    Attributes
    ----------
    values : (h, w, c) array
    black, white : (c,) array
        The ends of each band; values beyond count as these.
    known : (axes, shown_ends) or None
        Those of the larger image that this is a part of.
    """

    values: NDArray[Any]
    black: NDArray[np.float64]
    white: NDArray[np.float64]
    known: tuple[Axes, Ends] | None = None

    @classmethod
    def of(cls, values: NDArray[Any], stretch: str, counted: NDArray[Any]) -> Layers:
        """Find the range of each band by the pixels that count; see `pfeseg.image.stretch`."""
        bands = np.moveaxis(counted, 2, 0)
        ends = np.array([find_range(band[..., None], stretch) for band in bands])
        return cls(values, ends[:, 0], ends[:, 1])

    def like(self, values: NDArray[Any]) -> Layers:
        """Return the bands of another part of the same image."""
        return Layers(values, self.black, self.white, (self.axes, self.shown_ends))

    @cached_property
    def axes(self) -> Axes:
        """The principal axes of the bands."""
        if self.known is not None:
            return self.known[0]
        with one_blas_thread():
            return self._principal_axes()

    @cached_property
    def shown_ends(self) -> Ends:
        """What is shown black and white of each component, where components are shown."""
        if self.known is not None:
            return self.known[1]
        if self.values.shape[2] >= SHOWN_BANDS:
            return ()
        found = np.moveaxis(self.components(), 2, 0)
        return tuple(find_percentiles(values[..., None], *SHOWN_PERCENTAGES) for values in found)

    def rows(self, first: int, bands: slice = slice(None)) -> NDArray[np.float64]:
        """Return some rows from `first` on, of some bands, in [0, 1]."""
        black, white = self.black[bands], self.white[bands]
        block = self.values[first : first + BLOCK_ROWS, :, bands]
        unit: NDArray[np.float64] = np.subtract(block, black, dtype=np.float64)
        unit /= white - black
        np.clip(unit, 0.0, 1.0, out=unit)
        return unit

    def components(self) -> NDArray[np.float32]:
        """Return the principal components of the bands, (h, w, p), the strongest first."""
        axes = self.axes
        with one_blas_thread():
            result = np.empty((*self.values.shape[:2], axes.weights.shape[1]), dtype=np.float32)
            for first in range(0, len(result), BLOCK_ROWS):
                result[first : first + BLOCK_ROWS] = (self.rows(first) - axes.mean) @ axes.weights
        return result

    def picture(self) -> NDArray[np.uint8]:
        """Show the first three bands, each from its black to its white; two by components."""
        height, width, count = self.values.shape
        picture = np.empty((height, width, 3), dtype=np.uint8)
        if count < SHOWN_BANDS:
            shown = self.components()
            for k, component in enumerate((0, 1, 0)):
                black, white = self.shown_ends[component]
                unit = (shown[..., component] - black) / ((white - black) or 1.0)
                picture[..., k] = np.rint(255 * np.clip(unit, 0, 1))
            return picture
        for first in range(0, height, BLOCK_ROWS):
            unit = self.rows(first, slice(SHOWN_BANDS))
            picture[first : first + BLOCK_ROWS] = np.rint(255 * unit)
        return picture

    def _principal_axes(self) -> Axes:
        height, width, count = self.values.shape
        total, squares = np.zeros(count), np.zeros((count, count))
        for first in range(0, height, BLOCK_ROWS):
            block = self.rows(first).reshape(-1, count)
            total += block.sum(axis=0)
            squares += block.T @ block
        mean = total / (height * width)
        covariance = squares / (height * width) - np.outer(mean, mean)
        deviations = np.sqrt(np.maximum(np.diag(covariance), 0))
        varies = deviations > 1e-7  # a constant band tells nothing
        scale = np.where(varies, 1 / np.where(varies, deviations, 1), 0)
        variances, axes = np.linalg.eigh(covariance * np.outer(scale, scale))
        variances, axes = np.maximum(variances[::-1], 0), axes[:, ::-1]
        axes = axes * np.where(axes.sum(axis=0) < 0, -1, 1)  # bright where the bands are
        needed = np.searchsorted(np.cumsum(variances), ENOUGH_VARIANCE * variances.sum()) + 1
        kept = slice(min(max(int(needed), FEWEST_COMPONENTS), MOST_COMPONENTS))
        unit = SPREAD / np.sqrt(variances[kept].sum() or 1.0)
        return Axes(mean, scale[:, None] * axes[:, kept] * unit)


def take_bands(values: NDArray[Any], used: tuple[int, ...]) -> NDArray[Any]:
    """Return some bands of an image, (h, w, c), counted from 1."""
    if used == tuple(range(1, values.shape[2] + 1)):
        return values
    return values[..., [band - 1 for band in used]]
