"""Texture of an image: its local contrast, and the responses of a small filter bank."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.image.places import pixels_below
from pfeseg.image.smoothing import gaussian, smooth

FloatArray = NDArray[np.float32]

CONTRAST_BANDS = ((0.0, 1.0, 2.0), (1.0, 2.5, 4.0))
"""The two blurs between which detail is taken and the blur over which its energy is averaged, in
pixels, for each channel of `local_contrast`."""

FILTER_SCALES = (1.0, 2.0)
"""Widths, in pixels, of the Gaussians whose derivatives are the filters."""

DERIVATIVES = ((1, 0), (0, 1), (2, 0), (0, 2), (1, 1))

COMPRESSION = 5.0
"""Response, in units of L, about which strong ones begin to count less."""


def local_contrast(lightness: FloatArray) -> FloatArray:
    """Root mean square of the detail about each pixel at two scales, (h, w, 2), in units of L."""
    image = np.ascontiguousarray(lightness)
    blurs = {width: smooth(image, width) for band in CONTRAST_BANDS for width in band[:2]}
    contrast = np.empty((*image.shape, len(CONTRAST_BANDS)), dtype=image.dtype)
    for k, (fine, coarse, window) in enumerate(CONTRAST_BANDS):
        detail = blurs[fine] - blurs[coarse]
        np.square(detail, out=detail)
        contrast[..., k] = np.sqrt(smooth(detail, window))
    return contrast


def filter_responses(lightness: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Responses to Gaussian derivatives at the centres of a coarser grid of pixels.

    They are compressed by the logarithm of their norm, so that a strong edge does
    not outweigh all texture.

    Returns
    -------
    (h, w, filters) array
        At the size that was given.
    """
    rows, columns = (
        pixels_below(large, small).astype(np.int32)
        for small, large in zip(shape, lightness.shape, strict=True)
    )
    image = np.ascontiguousarray(lightness)
    bank = [
        tuple(gaussian(scale, along) * scale**along for along in order)
        for scale in FILTER_SCALES
        for order in DERIVATIVES
    ]
    return kernels.filter_responses(image, bank, rows, columns, COMPRESSION)
