"""Masks: which pixels of an image belong to it.

A mask is an (h, w) array of truth values, True inside. What lies outside is given the values of
the nearest pixel inside, so that no filter sees an edge there, and is then left out wherever pixels
are joined, counted or labelled.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.checks import any_array
from pfeseg.errors import InvalidInputError
from pfeseg.image.places import pixels_below

Mask = NDArray[np.bool_]


def check_mask(mask: ArrayLike, shape: tuple[int, int]) -> Mask | None:
    """Check the mask of an image of some shape, (h, w); None if nothing lies outside."""
    array = any_array(mask, "the mask")
    if array.ndim == 3 and array.shape[2] == 1:
        array = array[..., 0]
    if array.shape != shape:
        raise InvalidInputError(
            f"the mask must have the size of the image, {shape[1]} x {shape[0]} pixels and one "
            f"channel, got an array of shape {array.shape}"
        )
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"a mask must hold truth values or numbers, got {array.dtype}")
    if array.dtype.kind == "f" and np.isnan(array).any():
        raise InvalidInputError("a mask must not hold NaN; give it 0 outside and 1 inside")
    inside = array != 0
    if not inside.any():
        raise InvalidInputError("the mask leaves no pixel of the image: all of it is zero")
    return None if inside.all() else inside


def fill_outside(values: NDArray[Any], inside: Mask) -> NDArray[Any]:
    """Give each pixel outside of a mask the values of the nearest one inside, (h, w, c)."""
    from scipy.ndimage import distance_transform_edt

    nearest = distance_transform_edt(~inside, return_distances=False, return_indices=True)
    rows, columns = nearest[:, ~inside]
    filled = values.copy()
    filled[~inside] = values[rows, columns]
    return filled


def shrink_mask(inside: Mask, shape: tuple[int, int]) -> Mask:
    """Bring a mask to another size; a pixel that covers any part of the inside is inside."""
    if inside.shape == shape:
        return inside
    if shape[0] > inside.shape[0] or shape[1] > inside.shape[1]:
        rows, columns = map(pixels_below, inside.shape, shape)
        return np.asarray(inside[rows][:, columns])
    shares = kernels.average_areas(inside.astype(np.float32)[..., None], -np.inf, np.inf, *shape, 1)
    return np.asarray(shares[..., 0] > 1e-6)


def spread(rows: NDArray[Any], inside: Mask) -> NDArray[Any]:
    """Lay the rows of the pixels inside, (n, ...), out over an image, (h, w, ...), else 0."""
    image = np.zeros((*inside.shape, *rows.shape[1:]), dtype=rows.dtype)
    image[inside] = rows
    return image
