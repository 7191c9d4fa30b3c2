"""Gaussian filters of images.

The same as those of `scipy.ndimage`, against which the tests hold them. They are here because
importing that module takes longer than all filtering of a photograph.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

Image = TypeVar("Image", NDArray[np.float32], NDArray[np.float64])


def smooth(image: Image, width: float) -> Image:
    """Convolve an image with a Gaussian.

    Beyond its borders the image goes on as its mirror image.

    Parameters
    ----------
    image : (h, w) or (h, w, c) array
    width : float
        Standard deviation in pixels; at 0 the image is returned as it is.
    """
    if width == 0:
        return image
    window = gaussian(width, 0)
    channels = np.ascontiguousarray(image.reshape(*image.shape[:2], -1))
    return kernels.correlate(channels, window, window).reshape(image.shape)


def gaussian(width: float, order: int, truncate: float = 4.0) -> NDArray[np.float64]:
    """Return the weights of a filter by which an image is correlated: a Gaussian's derivative.

    Its order is 0, 1 or 2, and it ends at `truncate` standard deviations.
    """
    radius = int(truncate * width + 0.5)
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (x / width) ** 2)
    weights /= weights.sum()
    factor = {0: np.ones(len(x)), 1: x / width**2, 2: (x**2 - width**2) / width**4}[order]
    return np.asarray(factor * weights)
