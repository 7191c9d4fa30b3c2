"""A label map over its image, its boundaries, and the contours of a hierarchy."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.checks import MAX_SIDE, label_map, whole_number
from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import ImageLike, as_raster
from pfeseg.image.neighbours import neighbours_at
from pfeseg.image.resize import enlarge_labels, shrink_to, small_size
from pfeseg.labels.maps import find_boundaries
from pfeseg.pictures.colours import region_colours

TINT = 0.45
"""Share of the region's colour in an overlay; the rest is the image."""

OUTLINE = 1 / 1200
"""Width of the boundaries in an overlay, as a share of its longer side; a pixel at least.

So they are seen where a large picture is shown at the size of a screen.
"""


OUTSIDE = 255
"""Brightness of what a mask leaves out."""

MANY_LABELS = 65536
"""Labels from this one on are numbered anew before they are drawn, as a few may be far apart."""


def draw_overlay(
    image: ImageLike, labels: ArrayLike, overlay_size: int | None = None
) -> NDArray[np.uint8]:
    """Tint each region of an image with a colour of its own and draw the boundaries in white.

    Touching regions never share a colour, and a label keeps its colour from
    picture to picture unless that would break this. One region alone is not tinted. What a mask
    leaves out is white.

    Parameters
    ----------
    image : (h, w) or (h, w, 3) array
        As for `as_raster`.
    labels : (h, w) integer array
        Of any values.
    overlay_size : int, optional
        Longer side of the picture; that of the image unless given, and never more.

    Returns
    -------
    (h, w, 3) uint8 array

    Raises
    ------
    InvalidInputError
        For anything that is not an image or a label map, and where their sizes differ.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image, labels = np.zeros((4, 6)), np.repeat([[0, 0, 0, 1, 1, 1]], 4, axis=0)
    >>> picture = pfeseg.draw_overlay(image, labels)
    >>> picture.shape, picture[0, 2].tolist()  # the boundary
    ((4, 6, 3), [255, 255, 255])
    """
    raster, regions = as_raster(image).picture(), label_map(labels)
    if regions.shape != raster.shape:
        raise InvalidInputError(
            f"labels of shape {regions.shape} do not fit an image of shape {raster.shape}"
        )
    if overlay_size is not None:
        overlay_size = whole_number("overlay_size", overlay_size, 1, MAX_SIDE)
    names = None
    if regions.min() < 0 or regions.max() >= min(regions.size, MANY_LABELS):
        names, numbers = np.unique(regions, return_inverse=True)
        regions = numbers.reshape(raster.shape)
    if overlay_size is not None and overlay_size < max(raster.shape):
        factor = max(raster.shape) / overlay_size
        raster = shrink_to(raster, small_size(raster.shape, factor))
    regions = enlarge_labels(regions, raster.shape)
    tint = TINT if _has_several(regions, raster.mask) else 0.0
    outlines = widen(find_boundaries(regions), max(1, round(OUTLINE * max(raster.shape))))
    picture = kernels.tint_regions(
        raster.values,
        raster.black,
        raster.white,
        (1 - tint) * 255,
        np.ascontiguousarray(regions),
        (tint * 255 * region_colours(regions, names)).astype(np.float32),
        outlines.view(np.uint8),
    )
    if raster.mask is not None:
        picture[~raster.mask] = OUTSIDE
    return picture


def _has_several(regions: NDArray[np.integer[Any]], mask: NDArray[np.bool_] | None) -> bool:
    seen = regions if mask is None or not mask.any() else regions[mask]
    return bool(seen.min() != seen.max())


def widen(marks: NDArray[np.bool_], width: int) -> NDArray[np.bool_]:
    """Draw lines that are one pixel wide, (h, w), with another width."""
    for down, right in ((1, 0), (0, 1)):
        thin, marks = marks, marks.copy()
        for step in range(-(width // 2), width - width // 2):
            here, _ = neighbours_at(marks, step * down, step * right)
            here |= neighbours_at(thin, step * down, step * right)[1]
    return marks


def draw_boundaries(labels: ArrayLike) -> NDArray[np.uint8]:
    """Draw the boundaries of a label map white on black, (h, w)."""
    return find_boundaries(np.asarray(labels)).astype(np.uint8) * np.uint8(255)


def draw_contour_map(ucm2: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Draw an ultrametric contour map, (2 h + 1, 2 w + 1), the strongest black, (h, w)."""
    sides = np.maximum(ucm2[1::2, 2::2], ucm2[2::2, 1::2])
    np.maximum(sides, ucm2[2::2, 2::2], out=sides)
    # In place, as there may be many: 255 (1 - sides / top).
    sides /= sides.max() or 1.0
    np.subtract(1, sides, out=sides)
    sides *= 255
    return np.asarray(np.rint(sides, out=sides), dtype=np.uint8)
