"""Merging: from the appearance and the embedding of an image to the hierarchy of its regions.

Small regions, the basins between contours, are merged two by two, the pair that is least likely to
be apart first. Logistic regression (`pfeseg.regions.chance`) tells how likely people are to draw a
boundary between two regions, from the contrasts along their common boundary, the differences of the
regions themselves in colour, texture and embedding, and their areas.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.image.smoothing import smooth
from pfeseg.labels.maps import consecutive, labels_of, split_inside
from pfeseg.regions.appearance import Appearance
from pfeseg.regions.chance import CHANCE, Chance
from pfeseg.regions.cues import Contrasts, EdgeMaps, contrasts, ridges
from pfeseg.regions.graph import RegionGraph, compared_by, region_graph
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.levels import to_levels
from pfeseg.regions.merges import complete
from pfeseg.regions.refine import redraw_boundaries

Labels = NDArray[np.int32]
FloatArray = NDArray[np.float64]

SPECK = 0.0015
"""Share of the image below which a region has no better odds than even to be apart: it is gone
at level 1/2. Specks where contours cross are no things, and people draw few things that small."""

COARSE_WEIGHT, TYPICAL = 0.3, 0.05
"""Beyond level 1/2, the logarithm of the smaller area counts by so much more, as a share of the
typical one: where fewer regions are left than there are things, they are the large ones."""

BASIN_BLUR = 1.0
"""Width, in pixels, of the Gaussian that smooths the contours before basins are sought."""

REDRAW = 2
"""Pixels by which the lines between basins may move to the edges that the blur has hidden."""


@dataclass(frozen=True, eq=False)
class Outlines:
    """What merging knows of an image before it looks at an embedding.

    Attributes
    ----------
    appearance : Appearance
        Of h w pixels.
    base : (h, w) int32 array
        The finest regions, 0, 1, ...
    found : Contrasts
        Across each pixel edge.
    outside : int or None
        The last region, if it does not belong to the image.
    """

    appearance: Appearance
    base: Labels
    found: Contrasts
    outside: int | None = None


@dataclass(frozen=True, eq=False)
class MergedImage:
    """A hierarchy, and what its finest regions hold.

    Attributes
    ----------
    hierarchy : Hierarchy
        With n regions in its base.
    areas : (n,) array
        Pixels of these regions.
    sums : dict
        Sums of each feature over the pixels of each region, (n, c): of channels, or counts of
        classes.
    """

    hierarchy: Hierarchy
    areas: FloatArray
    sums: dict[str, FloatArray]

    def resized(self, base: Labels) -> MergedImage:
        """Return what is left of it on a base of another size; the regions hold what they held."""
        tree = self.hierarchy.resized(base)
        left = labels_of(tree.base, base)
        sums = {name: part[left] for name, part in self.sums.items()}
        return MergedImage(tree, self.areas[left], sums)


def find_outlines(appearance: Appearance, threads: int = 1) -> Outlines:
    """Find the contours of an image and the basins between them; threads never change them."""
    found = contrasts(appearance, threads)
    base = find_base(found, appearance)
    if appearance.mask is None:
        return Outlines(appearance, base, found)
    pieces, owners = split_inside(base, appearance.mask, -1)
    return Outlines(appearance, pieces, found, len(owners) - 1)


def merge_image(outlines: Outlines, Y: NDArray[np.floating[Any]]) -> MergedImage:
    """Merge the basins of an image.

    Parameters
    ----------
    outlines : Outlines
        What is known of an image of h w pixels.
    Y : (h', w', d) array
        Embedding at its own, lower resolution, scaled as by `unit_rows`.

    Returns
    -------
    MergedImage
        At the size of the outlines, (h, w).
    """
    graph = region_graph(outlines.base, outlines.appearance, outlines.found, Y)
    if outlines.outside is None:
        return MergedImage(merge_basins(outlines.base, graph, CHANCE), graph.areas, graph.sums)
    inside = merge_basins(outlines.base, graph.without_last(), CHANCE)
    merges, levels = complete(inside.merges, inside.levels, len(graph.areas))
    tree = Hierarchy(outlines.base, merges, levels, outlines.outside)
    return MergedImage(tree, graph.areas, graph.sums)


def unit_rows(Y: NDArray[np.floating[Any]], degrees: FloatArray) -> FloatArray:
    """Scale an embedding so that its rows have mean square 1 where Y^T D Y = I.

    So neither the number of pixels nor the dimension changes what a difference means.
    """
    return np.asarray(Y * np.sqrt(degrees.sum() / Y.shape[1]))


def find_base(found: Contrasts, appearance: Appearance) -> Labels:
    """Find the finest regions: basins between ridges, their lines redrawn along the edges."""
    lines = basins(ridges(found))
    return consecutive(redraw_boundaries(lines, appearance.lab, REDRAW))


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


def merge_basins(base: Labels, graph: RegionGraph, chance: Chance) -> Hierarchy:
    """Merge regions until there is one, the pair least likely to be apart first."""
    columns = [part.shape[1] for part in graph.sums.values()]
    curves = np.array(
        [
            *(chance.contrasts[name] for name in graph.contrasts),
            *(chance.regions[name] for name in graph.sums),
            chance.perimeter,
            chance.width,
        ]
    ).T.copy()
    merges, log_odds = kernels.merge_regions(
        graph.areas,
        np.concatenate(list(graph.sums.values()), axis=1),
        np.cumsum(columns, dtype=np.int32),
        np.array([compared_by(name) for name in graph.sums], dtype=np.int32),
        graph.pairs,
        graph.lengths,
        np.stack(list(graph.contrasts.values()), axis=1),
        curves[0],
        curves[1],
        curves[2],
        chance.smaller,
        chance.larger,
        chance.bias,
        SPECK,
        COARSE_WEIGHT,
        TYPICAL,
    )
    return Hierarchy(base, merges, to_levels(log_odds))
