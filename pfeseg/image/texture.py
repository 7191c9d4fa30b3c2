"""Texture of an image: its local contrast, and the responses of a small filter bank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.smoothing import smooth

FloatArray = NDArray[np.float64]

CONTRAST_BANDS = ((0.0, 1.0, 2.0), (1.0, 2.5, 4.0))
"""Of each channel of `local_contrast`: the two blurs between which detail is taken, and the
blur over which its energy is averaged, in pixels."""

FILTER_SCALES = (1.0, 2.0)
"""Widths, in pixels, of the Gaussians whose derivatives are the filters."""

DERIVATIVES = ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1))

COMPRESSION = 5.0
"""Response, in units of L, about which strong ones begin to count less."""


def local_contrast(lightness: FloatArray) -> FloatArray:
    """Root mean square of the detail about each pixel at two scales, (h, w, 2), in units of L."""
    energies = [
        smooth((smooth(lightness, fine) - smooth(lightness, coarse)) ** 2, window)
        for fine, coarse, window in CONTRAST_BANDS
    ]
    return np.asarray(np.sqrt(np.stack(energies, axis=-1)))


def filter_responses(lightness: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Responses to Gaussian derivatives at the centres of a coarser grid of pixels.

    They are compressed by the logarithm of their norm, so that a strong edge does
    not outweigh all texture.

    Returns
    -------
    (h, w, filters) array
        Of the given shape (h, w).
    """
    rows, columns = (
        ((np.arange(small) + 0.5) * large / small).astype(np.intp)
        for small, large in zip(shape, lightness.shape, strict=True)
    )
    responses = np.stack(
        [
            smooth(lightness, scale, order)[np.ix_(rows, columns)] * scale ** sum(order)
            for scale in FILTER_SCALES
            for order in DERIVATIVES
        ],
        axis=-1,
    )
    norm = np.sqrt((responses**2).sum(axis=-1, keepdims=True))
    return np.asarray(responses * np.log1p(norm / COMPRESSION) / (norm + 1e-6))
