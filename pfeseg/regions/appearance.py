"""What the pixels of an image look like: colours, and classes of colour and of texture.

Colours are described at the size of the hierarchy, as they tell where a boundary runs. Classes
are described at a coarser size, as they tell what lies on its two sides.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.kmeans import quantise
from pfeseg.image.colour import Lab
from pfeseg.image.detail import WORTHWHILE, Detail, working_side
from pfeseg.image.masks import Mask
from pfeseg.image.resize import area_average, small_size
from pfeseg.image.texture import filter_responses

Classes = NDArray[np.int32]

COARSENESS = 2
"""Classes are those of pixels at this many times the resolution of the embedding."""

N_MATERIALS = 24
"""Classes of colour together with local contrast."""

N_TEXTONS = 32
"""Classes of filter responses."""

CONTRAST_WEIGHT = 2.0
"""How much the local contrast counts beside the colour in the classes of materials."""

Feature = Literal["lightness", "colour", "materials"]
"""What is compared across edges."""

CHANNELS: dict[str, slice] = {"lightness": slice(1), "colour": slice(1, None)}
"""Channels of CIELAB, or of what is in its place, of the features that are not classes."""

HISTOGRAMS: frozenset[str] = frozenset({"materials", "textons"})
"""Features that are classes. They are compared by the chi-square distance of their histograms,
the others by the Euclidean distance of their means."""


@dataclass(frozen=True, eq=False)
class Appearance:
    """Description of an image.

    Attributes
    ----------
    lab : (h, w, c) array
        CIELAB, or components of bands, at the size of the hierarchy.
    materials, textons : (h', w') int32 array
        Class of each pixel, of colour with local contrast and of filter responses, at a coarser
        size or the same.
    roughness : (h, w) array
        Local contrast of the lightness at the finest scale.
    mask : (h, w) array of bool or None
        Which pixels belong to the image, if not all do.
    """

    lab: Lab
    materials: Classes
    textons: Classes
    roughness: NDArray[np.float32]
    mask: Mask | None = None

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width of the hierarchy."""
        return self.lab.shape[0], self.lab.shape[1]

    @property
    def coarse_shape(self) -> tuple[int, int]:
        """Height and width at which there are classes."""
        return self.materials.shape[0], self.materials.shape[1]


def describe(
    detail: Detail,
    small_shape: tuple[int, ...],
    full_shape: tuple[int, ...],
    seed: int = 0,
) -> Appearance:
    """Describe an image, whose embedding is coarser than the classes by `COARSENESS`.

    Parameters
    ----------
    detail : Detail
    small_shape, full_shape : tuple
        Sizes of the image that is embedded, and of the image itself.
    seed : int
    """
    factor = max(full_shape[:2]) / working_side(COARSENESS, small_shape, full_shape)
    shape = small_size(full_shape, factor if factor >= WORTHWHILE or factor < 1 else 1)
    lab = area_average(detail.lab, shape)
    contrast = area_average(detail.contrast, shape)
    rng = np.random.default_rng(seed)
    colour_and_contrast = np.concatenate([lab, CONTRAST_WEIGHT * contrast], axis=2)
    materials = quantise(colour_and_contrast, N_MATERIALS, rng)[0]
    textons = quantise(filter_responses(detail.lab[..., 0], shape), N_TEXTONS, rng)[0]
    return Appearance(detail.lab, materials, textons, detail.contrast[..., 0], detail.mask)
