"""What the pixels of an image look like: colours, and classes of colour and of texture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image import area_average, as_lab, downsample, interpolate, small_size
from pfeseg.kmeans import quantise
from pfeseg.texture import filter_responses

FloatArray = NDArray[np.float64]

FINENESS = 2
"""Appearance is described at this many times the resolution of the embedding."""

DETAIL = 4
"""Texture is looked at from this many times the resolution of the embedding."""

WORKING_SIDE = 120
"""Longer side of the embedding for which the scales of the cues are made.

Where the image itself has less detail than belongs to that, it is enlarged.
"""

WORTHWHILE = 1.5
"""The image is not shrunk at all by less than this."""

N_MATERIALS = 24
"""Classes of colour together with local contrast."""

N_TEXTONS = 32
"""Classes of filter responses."""

CONTRAST_WEIGHT = 2.0
"""Of the local contrast beside the colour in the classes of materials."""


@dataclass(frozen=True, eq=False)
class Appearance:
    """Description of an image of h w pixels.

    Attributes
    ----------
    lab : (h, w, 3) array
        CIELAB.
    materials, textons : (h, w, classes) float32 array
        Membership of each pixel in classes of colour with local contrast, and in classes of
        filter responses: 1 in its own class, else 0.
    """

    lab: FloatArray
    materials: NDArray[np.float32]
    textons: NDArray[np.float32]

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.materials.shape[0], self.materials.shape[1]


def detailed_lab(image: FloatArray, small_shape: tuple[int, ...]) -> FloatArray:
    """Return the colours of an image at the resolution from which texture is taken.

    Parameters
    ----------
    image : (H, W, 3) array
        RGB in [0, 1].
    small_shape : tuple
        Of the image that is embedded, (h, w, ...).
    """
    factor = max(image.shape[:2]) / _side(DETAIL, small_shape, image.shape)
    if factor >= WORTHWHILE:
        return as_lab(downsample(image, factor))
    lab = as_lab(image)
    return interpolate(lab, small_size(lab.shape, factor)) if factor < 1 else lab


def describe(
    detailed: FloatArray,
    contrast: FloatArray,
    small_shape: tuple[int, ...],
    full_shape: tuple[int, ...],
    seed: int = 0,
) -> Appearance:
    """Describe an image at `FINENESS` times the resolution of its embedding.

    Parameters
    ----------
    detailed : (h', w', 3) array
        From `detailed_lab`.
    contrast : (h', w', 2) array
        The `local_contrast` of its lightness.
    small_shape, full_shape : tuple
        Of the image that is embedded, and of the image itself.
    seed : int
    """
    from threadpoolctl import threadpool_limits

    factor = max(full_shape[:2]) / _side(FINENESS, small_shape, full_shape)
    shape = small_size(full_shape, factor if factor >= WORTHWHILE or factor < 1 else 1)
    lightness = detailed[..., 0]
    lab = area_average(detailed, shape)
    contrast = area_average(contrast, shape)
    rng = np.random.default_rng(seed)
    with threadpool_limits(1):  # more threads may change the bytes
        colour_and_contrast = np.concatenate([lab, CONTRAST_WEIGHT * contrast], axis=2)
        materials = _classes(colour_and_contrast, N_MATERIALS, rng)
        textons = _classes(filter_responses(lightness, shape), N_TEXTONS, rng)
    return Appearance(lab, materials, textons)


def _side(multiple: int, small_shape: tuple[int, ...], full_shape: tuple[int, ...]) -> int:
    """Return the longer side of an image at a multiple of the embedding's resolution."""
    side = min(multiple * max(small_shape[:2]), max(full_shape[:2]))
    return max(side, multiple * WORKING_SIDE)


def _classes(
    features: NDArray[np.floating[Any]], n_classes: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Cluster pixels; returns their memberships, (h, w, classes)."""
    classes, centres = quantise(features, n_classes, rng)
    return np.eye(len(centres), dtype=np.float32)[classes]
