"""Merging: from the appearance and the embedding of an image to the hierarchy of its regions.

Small regions, the basins between contours, are merged two by two, cheapest pair first. A pair costs

    (area of the smaller / area of the image)^p * (mean contrast of their common boundary
                                                   + differences of the regions themselves)

in which both terms add up colour, texture and the embedding.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.image.resize import interpolate
from pfeseg.image.smoothing import smooth
from pfeseg.labels.maps import boundary_edges, consecutive
from pfeseg.regions.appearance import FEATURES, HISTOGRAMS, Appearance
from pfeseg.regions.cues import EdgeMaps, contour_strength, contrasts, ridges
from pfeseg.regions.hierarchy import Hierarchy

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]

EMBEDDING_STEP_WEIGHT = 8.4
"""Of the jump of the embedding across a boundary."""

REGION_WEIGHTS = {
    "lightness": 0.0028,
    "colour": 0.03,
    "materials": 2.41,
    "textons": 3.5,
    "embedding": 0.7,
}
"""Of the differences between the means, or histograms, of two regions."""

AREA_EXPONENT = 0.1

HALF_COST = 8.6
"""Cost that becomes level 1/2. This and the weights were chosen on the training images of
BSDS500, see benchmarks/quality.md."""

BASIN_BLUR = 1.0
"""Width, in pixels, of the Gaussian that smooths the contours before basins are sought."""


@dataclass(frozen=True, eq=False)
class RegionGraph:
    """Touching regions, and what their merging needs to know.

    Attributes
    ----------
    areas : (n,) array
        In pixels.
    sums : (n, columns) array
        Over the pixels of each region.
    groups : dict
        Number of columns of each feature in `sums`, in their order.
    pairs : (m, 2) int32 array
        Regions that touch.
    lengths, contrasts : (m,) array
        Length of their common boundary in pixel sides, and its strength summed along it.
    """

    areas: FloatArray
    sums: FloatArray
    groups: dict[str, int]
    pairs: NDArray[np.int32]
    lengths: FloatArray
    contrasts: FloatArray


def merge_image(
    appearance: Appearance, Y: NDArray[np.floating[Any]], threads: int = 1
) -> Hierarchy:
    """Merge the basins of an image.

    Parameters
    ----------
    appearance : Appearance
        Of h w pixels.
    Y : (h', w', d) array
        Embedding at its own, lower resolution, scaled as by `unit_rows`.
    threads : int
        Never changes the result.

    Returns
    -------
    Hierarchy
        Of shape (h, w).
    """
    found = contrasts(appearance, threads)
    base = basins(ridges(found))
    graph = region_graph(base, appearance, contour_strength(found), Y)
    return merge_basins(base, graph)


def unit_rows(Y: NDArray[np.floating[Any]], degrees: FloatArray) -> FloatArray:
    """Scale an embedding so that its rows have mean square 1 where Y^T D Y = I.

    So neither the number of pixels nor the dimension changes what a difference means.
    """
    return np.asarray(Y * np.sqrt(degrees.sum() / Y.shape[1]))


def basins(edge_strength: EdgeMaps) -> Labels:
    """Find the basins between ridges by the watershed: connected regions 0, 1, ..., (h, w)."""
    right, down = edge_strength
    height, width = len(right), down.shape[1]
    relief = np.zeros((height, width), dtype=np.float32)
    relief[:, :-1] += right
    relief[:, 1:] += right
    relief[:-1] += down
    relief[1:] += down
    return consecutive(kernels.basins(smooth(relief, BASIN_BLUR)))


def region_graph(
    base: Labels, appearance: Appearance, strength: EdgeMaps, Y: NDArray[np.floating[Any]]
) -> RegionGraph:
    """Sum up regions and their boundaries; arguments as in `merge_image`."""
    n, flat = int(base.max()) + 1, base.ravel()
    embedding = interpolate(np.asarray(Y, dtype=np.float64), appearance.shape)
    sums: dict[str, FloatArray] = {
        name: _region_sums(appearance.channels(name), flat, n) for name in FEATURES
    }
    sums["embedding"] = _region_sums(embedding, flat, n)
    steps = (
        strength[0] + EMBEDDING_STEP_WEIGHT * _norms(np.diff(embedding, axis=1)),
        strength[1] + EMBEDDING_STEP_WEIGHT * _norms(np.diff(embedding, axis=0)),
    )
    pairs, edge = boundary_edges(base)
    crosses = edge >= 0
    step = np.concatenate([np.asarray(s, dtype=np.float64).ravel() for s in steps])[crosses]
    return RegionGraph(
        areas=np.bincount(flat).astype(np.float64),
        sums=np.concatenate(list(sums.values()), axis=1),
        groups={name: part.shape[1] for name, part in sums.items()},
        pairs=pairs,
        lengths=np.bincount(edge[crosses], minlength=len(pairs)).astype(np.float64),
        contrasts=np.bincount(edge[crosses], step, len(pairs)).astype(np.float64),
    )


def merge_basins(base: Labels, graph: RegionGraph) -> Hierarchy:
    """Merge regions until there is one, cheapest pair first."""
    merges, costs = kernels.merge_regions(
        graph.areas,
        graph.sums,
        np.cumsum(list(graph.groups.values()), dtype=np.int32),
        np.array([name in HISTOGRAMS for name in graph.groups], dtype=np.int32),
        np.array([REGION_WEIGHTS[name] for name in graph.groups]),
        graph.pairs,
        graph.lengths,
        graph.contrasts,
        AREA_EXPONENT,
    )
    return Hierarchy(base, merges, costs / (costs + HALF_COST))


def _region_sums(channels: NDArray[np.floating[Any]], flat: Labels, n: int) -> FloatArray:
    values = channels.reshape(len(flat), -1).T
    return np.stack([np.bincount(flat, channel, n) for channel in values], axis=1)


def _norms(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors**2).sum(axis=-1)))
