"""The graph of touching regions, and what their merging needs to know of them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.labels.maps import boundary_edges, count_pixels
from pfeseg.regions.appearance import CHANNELS, HISTOGRAMS, Appearance
from pfeseg.regions.cues import Contrasts, EdgeMaps, enlarge_edges, from_first_centre

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
        Sums of each feature over the pixels of each region, (n, c): of channels, or counts of
        classes.
    pairs : (m, 2) int32 array
        Regions that touch.
    lengths : (m,) array
        How long their common boundaries are, in sides of pixels.
    contrasts : dict
        Each contrast, summed along their common boundaries, (m,).
    """

    areas: FloatArray
    sums: dict[str, FloatArray]
    pairs: NDArray[np.int32]
    lengths: FloatArray
    contrasts: dict[str, FloatArray]

    def without_last(self) -> RegionGraph:
        """Return the graph of all regions but the last."""
        inside = (self.pairs < len(self.areas) - 1).all(axis=1)
        return RegionGraph(
            self.areas[:-1],
            {name: part[:-1] for name, part in self.sums.items()},
            self.pairs[inside],
            self.lengths[inside],
            {name: part[inside] for name, part in self.contrasts.items()},
        )


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
    n = int(base.max()) + 1
    embedding = np.asarray(Y, dtype=np.float32)
    pairs, edges, lengths = boundary_edges(base)
    colours = kernels.region_sums(base, n, appearance.lab)

    def along(maps: EdgeMaps) -> FloatArray:
        return kernels.edge_sums(edges, len(pairs), *maps)

    return RegionGraph(
        areas=count_pixels(base).astype(np.float64),
        sums={
            **{name: colours[:, channels] for name, channels in CHANNELS.items()},
            "materials": _region_histograms(appearance.materials, base, n),
            "textons": _region_histograms(appearance.textons, base, n),
            "embedding": kernels.region_sums(base, n, embedding),
            "roughness": kernels.region_sums(base, n, appearance.roughness[..., None]),
        },
        pairs=pairs,
        lengths=lengths,
        contrasts={cue.name: along(maps) for cue, maps in found}
        | {EMBEDDING_STEP: along(embedding_steps(embedding, appearance))},
    )


def embedding_steps(Y: NDArray[np.float32], appearance: Appearance) -> EdgeMaps:
    """Return the jump of the embedding across each pixel edge, looked at where classes are."""
    places = (
        from_first_centre(small, large)
        for small, large in zip(Y.shape, appearance.coarse_shape, strict=False)
    )
    coarse = kernels.interpolate(Y, *places)
    steps = kernels.colour_contrast(coarse, 0, Y.shape[2], np.ones(1), 1)
    return enlarge_edges(steps, appearance.shape)


def _region_histograms(classes: NDArray[np.int32], base: Labels, n: int) -> FloatArray:
    """Count the pixels of each class in each region, (n, classes)."""
    return kernels.class_counts(base, n, classes, int(classes.max()) + 1)
