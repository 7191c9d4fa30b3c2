"""An image at the resolution from which texture is taken, finer than that of the embedding."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import two_sides
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.colour import Lab
from pfeseg.image.masks import Mask, shrink_mask
from pfeseg.image.resize import area_average, interpolate, shrink, small_size
from pfeseg.image.texture import local_contrast

FloatArray = NDArray[np.floating[Any]]

DETAIL = 4
"""Texture is looked at from this many times the resolution of the embedding."""

WORKING_SIDE = 120
"""Longer side of the embedding for which the scales of the cues are made.

Where the image itself has less detail than belongs to that, it is enlarged.
"""

WORTHWHILE = 1.5
"""The smallest factor by which it is worth shrinking the image."""


@dataclass(frozen=True, eq=False)
class Detail:
    """The colours and the local contrast of an image, (h', w').

    Attributes
    ----------
    lab : (h', w', c) float32 array
        CIELAB, or components of bands in its units.
    mask : (h', w') array of bool or None
        Which pixels belong to the image, if not all do.
    """

    lab: Lab
    mask: Mask | None = None

    @cached_property
    def contrast(self) -> NDArray[np.float32]:
        """The `local_contrast` of the lightness, (h', w', 2)."""
        return local_contrast(self.lab[..., 0])


def look_closely(image: Raster, small_shape: tuple[int, ...]) -> Detail:
    """Return the detail of an image that is embedded at `small_shape`, (h, w, ...)."""
    factor = max(image.shape) / working_side(DETAIL, small_shape, image.shape)
    if factor >= WORTHWHILE:
        small = shrink(image, factor)
        return Detail(small.lab(), small.mask)
    lab, mask = image.lab(), image.mask
    if factor < 1:
        shape = small_size(lab.shape, factor)
        lab = interpolate(lab, shape).astype(np.float32)
        mask = None if mask is None else shrink_mask(mask, shape)
    return Detail(lab, mask)


def measure_contrast(detail: Detail, small_shape: tuple[int, ...]) -> FloatArray:
    """Average the local contrast over the pixels of the image that is embedded, (h, w, 2)."""
    return area_average(detail.contrast, (small_shape[0], small_shape[1]))


def measure_texture(image: ImageLike, shape: tuple[int, int]) -> FloatArray:
    """Measure the local contrast of an image for the pixels of a smaller one.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        As for `as_raster`.
    shape : (h, w)
        Size of the image that is embedded.

    Returns
    -------
    (h, w, 2) array
        In units of CIELAB; times a weight, what `build_pixel_graph` and `gmm_initial_embedding`
        take as texture.

    Raises
    ------
    InvalidInputError
        For what is no image or no size, and for a size larger than the image.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60))
    >>> image[:, 30::2] = 1  # stripes, on the right half
    >>> texture = pfeseg.measure_texture(image, (20, 30))
    >>> bool(texture[:, 20:].min() > 10 * texture[:, :10].max())
    True
    """
    raster, size = as_raster(image), two_sides("shape", shape)
    if size[0] > raster.shape[0] or size[1] > raster.shape[1]:
        raise InvalidInputError(
            f"{argument('shape')} is {size}, larger than the image of {raster.shape}"
        )
    return measure_contrast(look_closely(raster, size), size)


def working_side(multiple: int, small_shape: tuple[int, ...], full_shape: tuple[int, ...]) -> int:
    """Return the longer side of an image at a multiple of the embedding's resolution."""
    side = min(multiple * max(small_shape[:2]), max(full_shape[:2]))
    return max(side, multiple * WORKING_SIDE)
