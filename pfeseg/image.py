"""Images as arrays: checking, and changing their size."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError

if TYPE_CHECKING:
    from scipy.sparse import csr_array

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
    if values.ndim == 2:
        return np.repeat(values[..., None], 3, axis=2)
    return np.ascontiguousarray(values)


def as_lab(image: ArrayLike) -> FloatArray:
    """Return the colours of an image in CIELAB, (h, w, 3), L from 0 to 100."""
    from skimage.color import rgb2lab

    return np.asarray(rgb2lab(as_rgb(image)), dtype=np.float64)


def with_texture(lab: FloatArray, texture: NDArray[np.floating[Any]] | None) -> FloatArray:
    """Return CIELAB colours, (h, w, 3), with further channels of texture, (h, w, c), if any."""
    if texture is None:
        return lab
    if texture.ndim != 3 or texture.shape[:2] != lab.shape[:2] or not np.isfinite(texture).all():
        raise InvalidInputError(
            f"texture must hold finite numbers and have shape ({lab.shape[0]}, {lab.shape[1]}, c), "
            f"as the image, got {texture.shape}"
        )
    return np.concatenate([lab, texture], axis=2)


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
    small = area_average(rgb, small_size(rgb.shape, factor))
    return np.clip(small, 0.0, 1.0)  # as rounding may leave [0, 1]


def area_average(array: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Shrink an array (h, w, c) to `shape` by averaging over areas."""
    (height, width), (small_height, small_width) = array.shape[:2], shape
    if (height, width) == shape:
        return array
    # The same as skimage.transform.resize_local_mean, whose import alone takes
    # longer than all this package's own work on a photograph.
    channels = array.shape[2]
    rows = _area_weights(height, small_height) @ array.reshape(height, -1)
    columns = rows.reshape(small_height, -1, channels).transpose(1, 0, 2).reshape(width, -1)
    small = _area_weights(width, small_width) @ columns
    small = small.reshape(small_width, small_height, channels)
    return np.ascontiguousarray(small.transpose(1, 0, 2))


def interpolate(array: FloatArray, shape: tuple[int, int]) -> FloatArray:
    """Enlarge an array (h, w, c) to `shape` by linear interpolation between pixel centres.

    Beyond the outermost centres their values hold.
    """
    result = array
    for axis, large in enumerate(shape):
        small = result.shape[axis]
        place = np.clip((np.arange(large) + 0.5) * small / large - 0.5, 0, small - 1)
        before = np.minimum(place.astype(np.intp), max(small - 2, 0))
        share = (place - before).reshape([-1 if k == axis else 1 for k in range(3)])
        after = np.minimum(before + 1, small - 1)
        result = (1 - share) * result.take(before, axis) + share * result.take(after, axis)
    return result


def small_size(shape: tuple[int, ...], factor: float) -> tuple[int, int]:
    """Return height and width of an image of shape (h, w, ...) after `downsample`."""
    # The addition keeps 600 / (600 / 204) at 204, which falls short of it by rounding.
    height, width = (max(1, int(side / factor + 1e-9)) for side in shape[:2])
    return height, width


def _area_weights(large: int, small: int) -> csr_array:
    """Share of each of `large` pixels in each of `small` ones along a line, (small, large)."""
    from scipy.sparse import csr_array

    edges = np.arange(small + 1) * (large / small)
    first = np.floor(edges[:-1]).astype(int)
    last = np.minimum(np.ceil(edges[1:]).astype(int), large)
    rows = np.repeat(np.arange(small), last - first)
    columns = np.concatenate([np.arange(a, b) for a, b in zip(first, last, strict=True)])
    overlap = np.minimum(columns + 1, edges[rows + 1]) - np.maximum(columns, edges[rows])
    weights = csr_array((overlap, (rows, columns)), shape=(small, large))
    return weights * (small / large)


def enlarge_labels(labels: NDArray[np.integer], shape: tuple[int, int]) -> NDArray[np.int32]:
    """Enlarge a label map to `shape`, each pixel taking the label it lies in."""
    rows, columns = (
        ((np.arange(large) + 0.5) * small / large).astype(np.intp)
        for small, large in zip(labels.shape, shape, strict=True)
    )
    return labels[np.ix_(rows, columns)].astype(np.int32)
