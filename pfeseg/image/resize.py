"""Changing the size of images and of label maps."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import as_rgb

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]


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
    if not (np.isfinite(factor) and factor >= 1):
        raise InvalidInputError(f"the downsampling factor must be at least 1, got {factor!r}")
    return shrink(as_rgb(image), factor)


def shrink(rgb: FloatArray, factor: float) -> FloatArray:
    """Do as `downsample` with an image that was checked, (h, w, 3) in [0, 1]."""
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
