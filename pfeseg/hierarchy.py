"""A hierarchy of regions: from the embedding and the appearance of an image to its contour map.

Small regions, the basins between contours, are merged two by two, cheapest pair first. A pair costs

    (area of the smaller / area of the image)^p * (mean contrast of their common boundary
                                                   + differences of the regions themselves)

in which both terms add up colour, texture and the embedding. Cut at one cost, the hierarchy
gives a segmentation.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import _kernels
from pfeseg.appearance import Appearance
from pfeseg.contours import EdgeMaps, contour_strength, contrasts, ridges
from pfeseg.errors import InvalidInputError
from pfeseg.image import interpolate
from pfeseg.labels import consecutive
from pfeseg.smoothing import smooth

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

DEFAULT_LEVEL = 0.5

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
        Number of columns of each part of `sums`, in their order.
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


@dataclass(frozen=True, eq=False)
class Hierarchy:
    """Nested segmentations of an image.

    Attributes
    ----------
    base : (H, W) int32 array
        The finest segmentation; connected regions 0 ... n - 1.
    merges : (n - 1, 2) int32 array
        Regions (kept, absorbed) in the order of merging.
    levels : (n - 1,) array
        At which they merge; in [0, 1), never falling.
    """

    base: Labels
    merges: NDArray[np.int32]
    levels: FloatArray

    def cut(self, level: float) -> Labels:
        """Return the segmentation, (H, W), in which all regions closer than `level` are merged."""
        if not 0 <= level <= 1:
            raise InvalidInputError(f"the level must lie between 0 and 1, got {level:g}")
        return self._after(int(np.searchsorted(self.levels, level, side="right")))

    def with_regions(self, n_regions: int) -> Labels:
        """Return the segmentation into so many regions, or into all there are if they are fewer."""
        if n_regions < 1:
            raise InvalidInputError(f"the number of regions must be at least 1, got {n_regions}")
        return self._after(max(0, len(self.merges) + 1 - n_regions))

    def choose(self, n_regions: int | None, level: float | None) -> Labels:
        """Cut where there are so many regions, or at a level; at `DEFAULT_LEVEL` with neither."""
        if n_regions is not None:
            return self.with_regions(n_regions)
        return self.cut(DEFAULT_LEVEL if level is None else level)

    def resized(self, base: Labels) -> Hierarchy:
        """Return the hierarchy of the same contours on a base of another size.

        Regions may be missing there, or touch others than before. Regions merge only where they
        touch, at the level of the boundary between them, so that all cuts stay connected.
        """
        pairs, _ = _touching(base)
        levels = self._merge_levels(pairs[:, 0], pairs[:, 1])
        renumbered = consecutive(base)
        number = np.zeros(len(self.merges) + 1, dtype=np.int32)
        number[base.ravel()] = renumbered.ravel()
        ends = number[pairs]
        owner = list(range(int(renumbered.max()) + 1))

        def find(region: int) -> int:
            while owner[region] != region:
                owner[region] = owner[owner[region]]
                region = owner[region]
            return region

        merges, heights = [], []
        for pair in np.argsort(levels, kind="stable"):
            kept, absorbed = sorted((find(int(ends[pair, 0])), find(int(ends[pair, 1]))))
            if kept != absorbed:
                owner[absorbed] = kept
                merges.append((kept, absorbed))
                heights.append(levels[pair])
        return Hierarchy(
            renumbered,
            np.array(merges, dtype=np.int32).reshape(-1, 2),
            np.array(heights, dtype=np.float64),
        )

    def contour_map(self) -> NDArray[np.float32]:
        """Return the level at which each boundary vanishes, as an ultrametric contour map.

        Returns
        -------
        (2 H + 1, 2 W + 1) array
            Pixels at odd places, between them their sides; the layout of the BSDS benchmark's
            'ucm2'.
        """
        height, width = self.base.shape
        levels = np.zeros((2 * height + 1, 2 * width + 1), dtype=np.float32)
        right, down = self.base[:, :-1] != self.base[:, 1:], self.base[:-1] != self.base[1:]
        levels[1:-1:2, 2:-1:2][right] = self._merge_levels(
            self.base[:, :-1][right], self.base[:, 1:][right]
        )
        levels[2:-1:2, 1:-1:2][down] = self._merge_levels(self.base[:-1][down], self.base[1:][down])
        # A corner is as strong as the strongest side that ends in it, or regions would leak.
        sides = np.pad(levels, 1)
        corners = np.max(
            [sides[1:-1, :-2], sides[1:-1, 2:], sides[:-2, 1:-1], sides[2:, 1:-1]], axis=0
        )
        levels[::2, ::2] = corners[::2, ::2]
        return levels

    def _after(self, n_merges: int) -> Labels:
        owner = np.arange(len(self.merges) + 1)
        for kept, absorbed in self.merges[:n_merges][::-1]:
            owner[absorbed] = owner[kept]
        return consecutive(owner)[self.base]

    def _merge_levels(self, first: NDArray[np.int32], second: NDArray[np.int32]) -> FloatArray:
        """Return the level at which two regions of the base come together, for many pairs."""
        n = len(self.merges) + 1
        keys, inverse = np.unique(first.astype(np.int64) * n + second, return_inverse=True)
        a, b = np.divmod(keys, n)
        # Merging order of each region: its parent, and when it is absorbed.
        parent, when = np.arange(n), np.full(n, len(self.merges))
        parent[self.merges[:, 1]] = self.merges[:, 0]
        when[self.merges[:, 1]] = np.arange(len(self.merges))
        last = np.zeros(len(keys), dtype=np.intp)
        while (apart := a != b).any():
            first_to_go = apart & (when[a] < when[b])
            second_to_go = apart & ~first_to_go
            last = np.where(first_to_go, when[a], np.where(second_to_go, when[b], last))
            a, b = np.where(first_to_go, parent[a], a), np.where(second_to_go, parent[b], b)
        return np.asarray(self.levels[last])[inverse]


def build_hierarchy(
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
    return consecutive(_kernels.basins(smooth(relief, BASIN_BLUR)))


def region_graph(
    base: Labels, appearance: Appearance, strength: EdgeMaps, Y: NDArray[np.floating[Any]]
) -> RegionGraph:
    """Sum up regions and their boundaries; arguments as in `build_hierarchy`."""
    n, flat = int(base.max()) + 1, base.ravel()
    embedding = interpolate(np.asarray(Y, dtype=np.float64), appearance.shape)
    sums = {
        "lightness": _region_sums(appearance.lab[..., :1], flat, n),
        "colour": _region_sums(appearance.lab[..., 1:], flat, n),
        "materials": _region_sums(appearance.materials, flat, n),
        "textons": _region_sums(appearance.textons, flat, n),
        "embedding": _region_sums(embedding, flat, n),
    }
    steps = (
        strength[0] + EMBEDDING_STEP_WEIGHT * _norms(np.diff(embedding, axis=1)),
        strength[1] + EMBEDDING_STEP_WEIGHT * _norms(np.diff(embedding, axis=0)),
    )
    pairs, edge = _touching(base)
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
    merges, costs = _kernels.merge_regions(
        graph.areas,
        graph.sums,
        np.cumsum(list(graph.groups.values()), dtype=np.int32),
        np.array([name in ("materials", "textons") for name in graph.groups], dtype=np.int32),
        np.array([REGION_WEIGHTS[name] for name in graph.groups]),
        graph.pairs,
        graph.lengths,
        graph.contrasts,
        AREA_EXPONENT,
    )
    return Hierarchy(base, merges, costs / (costs + HALF_COST))


def _touching(base: Labels) -> tuple[NDArray[np.int32], NDArray[np.intp]]:
    """List the pairs of regions that touch, and of each pixel edge the index of its pair or -1.

    Edges to the right come first, then those downwards, row by row.
    """
    n = int(base.max()) + 1
    one = np.concatenate([base[:, :-1].ravel(), base[:-1].ravel()])
    other = np.concatenate([base[:, 1:].ravel(), base[1:].ravel()])
    crosses = one != other
    low, high = np.minimum(one, other)[crosses], np.maximum(one, other)[crosses]
    keys, inverse = np.unique(low.astype(np.int64) * n + high, return_inverse=True)
    edge = np.full(len(one), -1, dtype=np.intp)
    edge[crosses] = inverse
    return np.stack(np.divmod(keys, n), axis=1).astype(np.int32), edge


def _region_sums(channels: NDArray[np.floating[Any]], flat: Labels, n: int) -> FloatArray:
    values = channels.reshape(len(flat), -1).T
    return np.stack([np.bincount(flat, channel, n) for channel in values], axis=1)


def _norms(vectors: FloatArray) -> FloatArray:
    return np.asarray(np.sqrt((vectors**2).sum(axis=-1)))
