"""Images as arrays: checking, and changing their size."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError

FloatArray = NDArray[np.float64]


def as_rgb(image: ArrayLike) -> FloatArray:
    """Return an image as (h, w, 3) floats in [0, 1].

    Parameters
    ----------
    image : (h, w), (h, w, 1) or (h, w, 3) array
        uint8, uint16 or float in [0, 1]; grey images get three equal channels.
    """
    array = np.asarray(image)
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.ndim not in (2, 3) or (array.ndim == 3 and array.shape[2] != 3):
        raise InvalidInputError(
            f"an image must have shape (height, width) or (height, width, 3), got {array.shape}"
        )
    if array.size == 0:
        raise InvalidInputError(f"the image is empty: its shape is {array.shape}")
    values = _unit_range(array)
    return np.repeat(values[..., None], 3, axis=2) if values.ndim == 2 else values


def _unit_range(array: NDArray[np.generic]) -> FloatArray:
    tops = {np.dtype(kind): np.iinfo(kind).max for kind in (np.uint8, np.uint16)}
    if array.dtype in tops:
        return np.asarray(array.astype(np.float64) / tops[array.dtype])
    if not np.issubdtype(array.dtype, np.floating):
        raise InvalidInputError(
            f"an image must hold uint8, uint16 or float values, got {array.dtype}"
        )
    values = array.astype(np.float64, copy=False)
    if not np.isfinite(values).all():
        raise InvalidInputError("the image holds NaN or infinite pixels; replace them first")
    if values.min() < 0.0 or values.max() > 1.0:
        raise InvalidInputError(
            "a float image must lie in [0, 1], got values from "
            f"{values.min():g} to {values.max():g}; rescale it first"
        )
    return values


def downsample(image: ArrayLike, factor: float) -> FloatArray:
    """Shrink an image by averaging over areas, which also guards against aliasing.

    Parameters
    ----------
    image : array
        As for `as_rgb`.
    factor : float
        At least 1; each side becomes its length divided by this, rounded
        down, and at least one pixel.

    Returns
    -------
    (h // factor, w // factor, 3) float array
    """
    rgb = as_rgb(image)
    if not (np.isfinite(factor) and factor >= 1):
        raise InvalidInputError(f"the downsampling factor must be at least 1, got {factor!r}")
    height, width = (max(1, int(side / factor)) for side in rgb.shape[:2])
    if (height, width) == rgb.shape[:2]:
        return rgb
    from skimage.transform import resize_local_mean

    return np.asarray(resize_local_mean(rgb, (height, width), channel_axis=2))


def enlarge_labels(labels: NDArray[np.integer], shape: tuple[int, int]) -> NDArray[np.int32]:
    """Enlarge a label map to `shape`, each pixel taking the label it lies in."""
    rows, columns = (
        ((np.arange(large) + 0.5) * small / large).astype(np.intp)
        for small, large in zip(labels.shape, shape, strict=True)
    )
    return labels[np.ix_(rows, columns)].astype(np.int32)
