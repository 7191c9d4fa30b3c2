"""A label map over its image, its boundaries, and the contours of a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import as_rgb
from pfeseg.labels.maps import find_boundaries
from pfeseg.pictures.colours import region_colours

TINT = 0.45
"""Share of the region's colour in an overlay; the rest is the image."""

BOUNDARY = (1.0, 1.0, 1.0)


def draw_overlay(image: ArrayLike, labels: ArrayLike) -> NDArray[np.uint8]:
    """Tint each region of an image with a colour of its own and draw the boundaries.

    Touching regions never share a colour, and a label keeps its colour from
    picture to picture unless that would break this.

    Parameters
    ----------
    image : (h, w) or (h, w, 3) array
    labels : (h, w) integer array
        Of any values.

    Returns
    -------
    (h, w, 3) uint8 array
    """
    rgb, regions = as_rgb(image), np.asarray(labels)
    if regions.dtype == bool:
        regions = regions.astype(np.uint8)
    if not np.issubdtype(regions.dtype, np.integer):
        raise InvalidInputError(f"labels must be integers, got {regions.dtype}")
    if regions.shape != rgb.shape[:2]:
        raise InvalidInputError(
            f"labels of shape {regions.shape} do not fit an image of shape {rgb.shape[:2]}"
        )
    names, compact = np.unique(regions, return_inverse=True)
    compact = compact.reshape(regions.shape)
    colours = region_colours(compact, names)
    picture = (1 - TINT) * rgb + TINT * colours[compact]
    picture[find_boundaries(regions)] = BOUNDARY
    return np.asarray(np.rint(picture * 255), dtype=np.uint8)


def draw_boundaries(labels: ArrayLike) -> NDArray[np.uint8]:
    """Draw the boundaries of a label map white on black, (h, w)."""
    return find_boundaries(np.asarray(labels)).astype(np.uint8) * np.uint8(255)


def draw_contour_map(ucm2: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Draw an ultrametric contour map, (2 h + 1, 2 w + 1), the strongest black, (h, w).

    Weak contours are many and strong ones few, so darkness grows with the cube of the level.
    """
    sides = np.max([ucm2[1::2, 2::2], ucm2[2::2, 1::2], ucm2[2::2, 2::2]], axis=0)
    return np.asarray(np.rint(255 * (1 - (sides / (sides.max() or 1.0)) ** 3)), dtype=np.uint8)
