"""Changing the size of images and of label maps."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.checks import label_map, real_number, shown, two_sides
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.masks import shrink_mask
from pfeseg.image.places import pixel_centres, pixels_below

FloatArray = NDArray[np.float64]
Floats = NDArray[np.floating[Any]]


def downsample(image: ImageLike, factor: float) -> FloatArray | Raster:
    """Shrink an image by averaging over areas, which also guards against aliasing.

    Parameters
    ----------
    image : array
        As for `as_raster`.
    factor : float
        At least 1; each side becomes its length divided by this, rounded
        down, and at least one pixel.

    Returns
    -------
    (h // factor, w // factor, 3) float array, or Raster
        RGB in [0, 1]; a `Raster` of that size where the bands of the image are no colours.

    Raises
    ------
    InvalidInputError
        For what is no image, and for a factor that is no number or less than 1.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> pfeseg.downsample(np.eye(4), 2)[..., 0]
    array([[0.5, 0. ],
           [0. , 0.5]])
    """
    number = real_number(factor)
    if not 1 <= number < np.inf:
        raise InvalidInputError(f"{argument('factor')} must be at least 1, got {shown(factor)}")
    small = shrink(as_raster(image), number)
    return small.rgb() if small.kind == "colours" else small


def shrink(image: Raster, factor: float) -> Raster:
    """Do as `downsample` with an image that was checked, its channels as they are."""
    return shrink_to(image, small_size(image.shape, factor))


def shrink_to(image: Raster, shape: tuple[int, int], threads: int = 1) -> Raster:
    """Shrink an image to height and width `shape`, its channels as they are."""
    if image.shape == shape:
        return image
    small = kernels.average_areas(image.values, image.black, image.white, *shape, threads)
    np.clip(small, image.black, image.white, out=small)  # as rounding may go beyond
    mask = None if image.mask is None else shrink_mask(image.mask, shape)
    return replace(image, values=small, layers=None, mask=mask)


def area_average(array: Floats, shape: tuple[int, int]) -> Floats:
    """Shrink an array (h, w, c) to `shape` by averaging over areas."""
    if array.shape[:2] == shape:
        return array
    return kernels.average_areas(array, -np.inf, np.inf, *shape, 1)


def interpolate(array: Floats, shape: tuple[int, int]) -> Floats:
    """Enlarge an array (h, w, c) to `shape` by linear interpolation between pixel centres.

    Beyond the outermost centres their values hold.
    """
    result = array
    for axis, large in enumerate(shape):
        small = result.shape[axis]
        place = np.clip(pixel_centres(small, large) - 0.5, 0, small - 1)
        before = np.minimum(place.astype(np.intp), max(small - 2, 0))
        share = (place - before).reshape([-1 if k == axis else 1 for k in range(3)])
        after = np.minimum(before + 1, small - 1)
        result = (1 - share) * result.take(before, axis) + share * result.take(after, axis)
    return result


def small_size(shape: tuple[int, ...], factor: float) -> tuple[int, int]:
    """Return height and width of an image of shape (h, w, ...) after `downsample`."""
    # Rounding leaves 600 / (600 / 204) a little below 204; the addition makes up for that.
    height, width = (max(1, int(side / factor + 1e-9)) for side in shape[:2])
    return height, width


def enlarge_labels(labels: ArrayLike, shape: tuple[int, int]) -> NDArray[np.int32]:
    """Bring a label map to another size, each pixel taking the label that its centre lies in.

    Parameters
    ----------
    labels : (h, w) integer array
    shape : (H, W)
        The size that is wanted.

    Returns
    -------
    (H, W) int32 array

    Raises
    ------
    InvalidInputError
        For what is no label map or no size.

    Examples
    --------
    >>> import pfeseg
    >>> pfeseg.enlarge_labels([[0, 1]], (2, 4))
    array([[0, 0, 1, 1],
           [0, 0, 1, 1]], dtype=int32)
    """
    labels, shape = label_map(labels), two_sides("shape", shape)
    if not -(2**31) <= labels.min() <= labels.max() < 2**31:
        raise InvalidInputError(
            f"labels must fit into 32 bits, found {labels.min()} to {labels.max()}; renumber them"
        )
    if labels.shape == shape:
        return labels.astype(np.int32, copy=False)
    rows, columns = map(pixels_below, labels.shape, shape)
    wide = labels.take(columns, axis=1).astype(np.int32, copy=False)
    return np.asarray(wide.take(rows, axis=0))
