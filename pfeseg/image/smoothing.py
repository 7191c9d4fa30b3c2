"""Gaussian filters of images.

The same as those of `scipy.ndimage`, against which the tests hold them. They are here because
importing that module takes longer than all filtering of a photograph.
"""

from __future__ import annotations

from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

Image = TypeVar("Image", NDArray[np.float32], NDArray[np.float64])


def smooth(
    image: Image, width: float, derivatives: tuple[int, int] = (0, 0), truncate: float = 4.0
) -> Image:
    """Convolve an image with a Gaussian or a derivative of it.

    Beyond its borders the image goes on as its mirror image.

    Parameters
    ----------
    image : (h, w) or (h, w, c) array
    width : float
        Standard deviation in pixels; at 0 the image is returned as it is.
    derivatives : (int, int)
        Orders along y and x: 0, 1 or 2.
    truncate : float
        The filter ends at so many standard deviations.
    """
    if width == 0:
        return image
    down, right = (gaussian(width, order, truncate) for order in derivatives)
    channels = np.ascontiguousarray(image.reshape(*image.shape[:2], -1))
    return kernels.correlate(channels, down, right).reshape(image.shape)


def gradient_norm(image: NDArray[np.floating[Any]], width: float) -> NDArray[np.float32]:
    """Return the norm of the gradient at scale `width`, (h, w), summed over the channels."""
    values = np.ascontiguousarray(image, dtype=np.float32)
    return kernels.gradient_norm(values, gaussian(width, 0), gaussian(width, 1))


def gaussian(width: float, order: int, truncate: float = 4.0) -> NDArray[np.float64]:
    """Return the weights of a filter by which an image is correlated."""
    radius = int(truncate * width + 0.5)
    x = np.arange(-radius, radius + 1)
    weights = np.exp(-0.5 * (x / width) ** 2)
    weights /= weights.sum()
    factor = {0: np.ones(len(x)), 1: x / width**2, 2: (x**2 - width**2) / width**4}[order]
    return np.asarray(factor * weights)
