"""The graph of touching regions, and what their merging needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.resize import enlarge_labels, interpolate
from pfeseg.labels.maps import boundary_edges
from pfeseg.regions.appearance import HISTOGRAMS, Appearance
from pfeseg.regions.cues import Contrasts, EdgeMaps, enlarge_edges

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]


class Comparison(IntEnum):
    """How two regions are compared by one feature, as the kernel numbers it."""

    EUCLIDEAN = 0
    """By the distance of their means."""
    CHI_SQUARE = 1
    """By the distance of their histograms."""
    SMALLER = 2
    """Not at all: the smaller of their means counts."""


EMBEDDING_STEP = "step of the embedding"
"""Name of the contrast that is the jump of the embedding across a boundary."""


def compared_by(feature: str) -> Comparison:
    """Tell how regions are compared by a feature of `RegionGraph.sums`."""
    if feature == "roughness":
        return Comparison.SMALLER
    return Comparison.CHI_SQUARE if feature in HISTOGRAMS else Comparison.EUCLIDEAN


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """Touching regions and their boundaries.

    Attributes
    ----------
    areas : (n,) array
        In pixels.
    sums : dict
        Of each feature over the pixels of each region, (n, c): of channels, or counts of classes.
    pairs : (m, 2) int32 array
        Regions that touch.
    lengths : (m,) array
        Of their common boundaries, in pixel sides.
    contrasts : dict
        Each contrast, summed along their common boundaries, (m,).
    """

    areas: FloatArray
    sums: dict[str, FloatArray]
    pairs: NDArray[np.int32]
    lengths: FloatArray
    contrasts: dict[str, FloatArray]


def region_graph(
    base: Labels, appearance: Appearance, found: Contrasts, Y: NDArray[np.floating[Any]]
) -> RegionGraph:
    """Sum up regions and their boundaries.

    Parameters
    ----------
    base : (h, w) int32 array
        Regions 0, 1, ...
    appearance : Appearance
        Of h w pixels.
    found : Contrasts
        Of h w pixels.
    Y : (h', w', d) array
        Embedding at its own, lower resolution.
    """
    n, flat = int(base.max()) + 1, base.ravel()
    embedding = np.asarray(Y, dtype=np.float64)
    pairs, edge = boundary_edges(base)
    crosses = edge >= 0

    def along(maps: EdgeMaps) -> FloatArray:
        values = np.concatenate([values.ravel() for values in maps])[crosses]
        return np.bincount(edge[crosses], values, len(pairs)).astype(np.float64)

    return RegionGraph(
        areas=np.bincount(flat).astype(np.float64),
        sums={
            "lightness": _region_sums(appearance.lab[..., :1], flat, n),
            "colour": _region_sums(appearance.lab[..., 1:], flat, n),
            "materials": _region_histograms(appearance.materials, base, n),
            "textons": _region_histograms(appearance.textons, base, n),
            "embedding": _region_sums(interpolate(embedding, appearance.shape), flat, n),
            "roughness": _region_sums(appearance.roughness, flat, n),
        },
        pairs=pairs,
        lengths=np.bincount(edge[crosses], minlength=len(pairs)).astype(np.float64),
        contrasts={cue.name: along(maps) for cue, maps in found}
        | {EMBEDDING_STEP: along(embedding_steps(embedding, appearance))},
    )


def embedding_steps(Y: FloatArray, appearance: Appearance) -> EdgeMaps:
    """Return the jump of the embedding across each pixel edge, looked at where classes are."""
    coarse = interpolate(Y, appearance.coarse_shape)
    jumps = (_norms(np.diff(coarse, axis=1)), _norms(np.diff(coarse, axis=0)))
    return enlarge_edges(jumps, appearance.shape)


def _region_sums(channels: NDArray[np.floating[Any]], flat: Labels, n: int) -> FloatArray:
    values = channels.reshape(len(flat), -1).T
    return np.stack([np.bincount(flat, channel, n) for channel in values], axis=1)


def _region_histograms(classes: NDArray[np.int32], base: Labels, n: int) -> FloatArray:
    """Count the pixels of each class in each region, (n, classes)."""
    n_classes = int(classes.max()) + 1
    keys = base.ravel() * n_classes + enlarge_labels(classes, base.shape).ravel()
    return np.bincount(keys, minlength=n * n_classes).reshape(n, n_classes).astype(np.float64)


def _norms(vectors: FloatArray) -> NDArray[np.float32]:
    return np.asarray(np.sqrt((vectors**2).sum(axis=-1)), dtype=np.float32)
