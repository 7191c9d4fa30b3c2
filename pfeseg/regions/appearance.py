"""What the pixels of an image look like: colours, and classes of colour and of texture."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.kmeans import quantise
from pfeseg.image.detail import WORTHWHILE, Detail, working_side
from pfeseg.image.resize import area_average, small_size
from pfeseg.image.texture import filter_responses

FloatArray = NDArray[np.float64]

FINENESS = 2
"""Appearance is described at this many times the resolution of the embedding."""

N_MATERIALS = 24
"""Classes of colour together with local contrast."""

N_TEXTONS = 32
"""Classes of filter responses."""

CONTRAST_WEIGHT = 2.0
"""Of the local contrast beside the colour in the classes of materials."""

Feature = Literal["lightness", "colour", "materials", "textons"]
FEATURES: tuple[Feature, ...] = get_args(Feature)

HISTOGRAMS: frozenset[str] = frozenset({"materials", "textons"})
"""Features that are memberships in classes. Their means are histograms, which are compared by
their chi-square distance; the means of the others by their Euclidean distance."""


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
        return self.lab.shape[0], self.lab.shape[1]

    def channels(self, feature: Feature) -> NDArray[np.floating[Any]]:
        """Return the channels of one feature, (h, w, c)."""
        match feature:
            case "lightness":
                return self.lab[..., :1]
            case "colour":
                return self.lab[..., 1:]
            case "materials":
                return self.materials
            case "textons":
                return self.textons


def describe(
    detail: Detail,
    small_shape: tuple[int, ...],
    full_shape: tuple[int, ...],
    seed: int = 0,
) -> Appearance:
    """Describe an image at `FINENESS` times the resolution of its embedding.

    Parameters
    ----------
    detail : Detail
    small_shape, full_shape : tuple
        Of the image that is embedded, and of the image itself.
    seed : int
    """
    from threadpoolctl import threadpool_limits

    factor = max(full_shape[:2]) / working_side(FINENESS, small_shape, full_shape)
    shape = small_size(full_shape, factor if factor >= WORTHWHILE or factor < 1 else 1)
    lab = area_average(detail.lab, shape)
    contrast = area_average(detail.contrast, shape)
    rng = np.random.default_rng(seed)
    with threadpool_limits(1):  # more threads may change the bytes
        colour_and_contrast = np.concatenate([lab, CONTRAST_WEIGHT * contrast], axis=2)
        materials = _classes(colour_and_contrast, N_MATERIALS, rng)
        textons = _classes(filter_responses(detail.lab[..., 0], shape), N_TEXTONS, rng)
    return Appearance(lab, materials, textons)


def _classes(
    features: NDArray[np.floating[Any]], n_classes: int, rng: np.random.Generator
) -> NDArray[np.float32]:
    """Cluster pixels; returns their memberships, (h, w, classes)."""
    classes, centres = quantise(features, n_classes, rng)
    return np.eye(len(centres), dtype=np.float32)[classes]
