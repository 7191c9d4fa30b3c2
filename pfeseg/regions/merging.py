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
from pfeseg.image.resize import enlarge_labels, interpolate
from pfeseg.image.smoothing import smooth
from pfeseg.labels.maps import boundary_edges, consecutive
from pfeseg.regions.appearance import HISTOGRAMS, Appearance
from pfeseg.regions.cues import (
    Contrasts,
    EdgeMaps,
    contour_strength,
    contrasts,
    enlarge_edges,
    ridges,
)
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.refine import redraw_boundaries

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]

EMBEDDING_STEP_WEIGHT = 13.4
"""Of the jump of the embedding across a boundary."""

REGION_WEIGHTS = {
    "lightness": 0.002,
    "colour": 0.048,
    "materials": 2.41,
    "textons": 3.5,
    "embedding": 0.44,
}
"""Of the differences between the means, or histograms, of two regions."""

AREA_EXPONENT = 0.1

HALF_COST = 7.63
"""Cost that becomes level 1/2. This and the weights were chosen on the training images of
BSDS500, see benchmarks/quality.md."""

BASIN_BLUR = 2.0
"""Width, in pixels, of the Gaussian that smooths the contours before basins are sought: less
leaves slivers along strong edges."""

REDRAW = 2
"""Pixels by which the lines between basins may move to the edges that the blur has hidden."""


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

    @property
    def parts(self) -> dict[str, FloatArray]:
        """The columns of `sums` by their features."""
        ends = np.cumsum(list(self.groups.values()))[:-1]
        return dict(zip(self.groups, np.split(self.sums, ends, axis=1), strict=True))


@dataclass(frozen=True, eq=False)
class Outlines:
    """What merging knows of an image before it looks at an embedding.

    Attributes
    ----------
    appearance : Appearance
        Of h w pixels.
    base : (h, w) int32 array
        The finest regions, 0, 1, ...
    strength : EdgeMaps
        Of the contours across each pixel edge.
    """

    appearance: Appearance
    base: Labels
    strength: EdgeMaps


@dataclass(frozen=True, eq=False)
class MergedImage:
    """A hierarchy, and what its finest regions hold.

    Attributes
    ----------
    hierarchy : Hierarchy
        With n regions in its base.
    areas : (n,) array
        Of these regions, in pixels.
    sums : dict
        Of each feature over the pixels of each region, (n, c): of channels, or counts of classes.
    """

    hierarchy: Hierarchy
    areas: FloatArray
    sums: dict[str, FloatArray]

    def resized(self, base: Labels) -> MergedImage:
        """Return what is left of it on a base of another size; the regions hold what they held."""
        tree = self.hierarchy.resized(base)
        left = np.zeros(len(tree.merges) + 1, dtype=np.intp)
        left[tree.base.ravel()] = base.ravel()
        sums = {name: part[left] for name, part in self.sums.items()}
        return MergedImage(tree, self.areas[left], sums)


def find_outlines(appearance: Appearance, threads: int = 1) -> Outlines:
    """Find the contours of an image and the basins between them; threads never change them."""
    found = contrasts(appearance, threads)
    return Outlines(appearance, find_base(found, appearance), contour_strength(found))


def merge_image(outlines: Outlines, Y: NDArray[np.floating[Any]]) -> MergedImage:
    """Merge the basins of an image.

    Parameters
    ----------
    outlines : Outlines
        Of an image of h w pixels.
    Y : (h', w', d) array
        Embedding at its own, lower resolution, scaled as by `unit_rows`.

    Returns
    -------
    MergedImage
        Of shape (h, w).
    """
    graph = region_graph(outlines.base, outlines.appearance, outlines.strength, Y)
    return MergedImage(merge_basins(outlines.base, graph), graph.areas, graph.parts)


def unit_rows(Y: NDArray[np.floating[Any]], degrees: FloatArray) -> FloatArray:
    """Scale an embedding so that its rows have mean square 1 where Y^T D Y = I.

    So neither the number of pixels nor the dimension changes what a difference means.
    """
    return np.asarray(Y * np.sqrt(degrees.sum() / Y.shape[1]))


def find_base(found: Contrasts, appearance: Appearance) -> Labels:
    """Find the finest regions: basins between ridges, their lines redrawn along the edges."""
    lines = basins(ridges(found))
    return consecutive(redraw_boundaries(lines, appearance.fine_lab, REDRAW))


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
    """Sum up regions and their boundaries; arguments as in `Outlines` and `merge_image`."""
    n, flat = int(base.max()) + 1, base.ravel()
    embedding = np.asarray(Y, dtype=np.float64)
    sums = {
        "lightness": _region_sums(appearance.fine_lab[..., :1], flat, n),
        "colour": _region_sums(appearance.fine_lab[..., 1:], flat, n),
        "materials": _region_histograms(appearance.materials, base, n),
        "textons": _region_histograms(appearance.textons, base, n),
        "embedding": _region_sums(interpolate(embedding, appearance.shape), flat, n),
    }
    steps = embedding_steps(embedding, appearance)
    pairs, edge = boundary_edges(base)
    crosses = edge >= 0
    step = np.concatenate(
        [
            (contrast + np.float32(EMBEDDING_STEP_WEIGHT) * jump).ravel()
            for contrast, jump in zip(strength, steps, strict=True)
        ]
    )[crosses]
    return RegionGraph(
        areas=np.bincount(flat).astype(np.float64),
        sums=np.concatenate(list(sums.values()), axis=1),
        groups={name: part.shape[1] for name, part in sums.items()},
        pairs=pairs,
        lengths=np.bincount(edge[crosses], minlength=len(pairs)).astype(np.float64),
        contrasts=np.bincount(edge[crosses], step, len(pairs)).astype(np.float64),
    )


def embedding_steps(Y: FloatArray, appearance: Appearance) -> EdgeMaps:
    """Return the jump of the embedding across each pixel edge, looked at where classes are."""
    coarse = interpolate(Y, appearance.coarse_shape)
    jumps = (_norms(np.diff(coarse, axis=1)), _norms(np.diff(coarse, axis=0)))
    return enlarge_edges(jumps, appearance.shape)


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


def _region_histograms(classes: NDArray[np.int32], base: Labels, n: int) -> FloatArray:
    """Count the pixels of each class in each region, (n, classes)."""
    n_classes = int(classes.max()) + 1
    keys = base.ravel() * n_classes + enlarge_labels(classes, base.shape).ravel()
    return np.bincount(keys, minlength=n * n_classes).reshape(n, n_classes).astype(np.float64)


def _norms(vectors: FloatArray) -> NDArray[np.float32]:
    return np.asarray(np.sqrt((vectors**2).sum(axis=-1)), dtype=np.float32)
