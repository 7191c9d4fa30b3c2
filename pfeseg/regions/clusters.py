"""Clusters of regions: what looks alike is one, wherever it lies.

The hierarchy is cut into somewhat more regions than clusters are asked for, and these are grouped
by k-means. A region is described by its mean embedding and by its histograms of materials and
textons, and counts by its squared area: so large regions that look alike come together, and small
ones do not decide.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.embedding import N_STARTS
from pfeseg.clustering.kmeans import kmeans
from pfeseg.labels.maps import consecutive
from pfeseg.regions.appearance import HISTOGRAMS
from pfeseg.regions.merging import MergedImage

FloatArray = NDArray[np.float64]
Labels = NDArray[np.int32]

REGIONS_PER_CLUSTER = 1.2
"""Regions that are clustered, for each cluster."""

CLUSTER_WEIGHTS = {"embedding": 1.0, "materials": 1.0, "textons": 1.0}
"""How the mean embedding and the square roots of histograms count in the description of a
region."""


def group_regions(merged: MergedImage, n_clusters: int, seed: int = 0) -> Labels:
    """Cluster regions of an image.

    Parameters
    ----------
    merged : MergedImage
        Of h w pixels.
    n_clusters : int
        Number k; fewer come out only where the hierarchy has fewer regions.
    seed : int

    Returns
    -------
    (h, w) int32 array
        Labels 0, 1, ... in order of first appearance, none left out. With a mask they begin with 1,
        and 0 is outside.
    """
    tree = merged.hierarchy
    region = tree.grouped(math.ceil(REGIONS_PER_CLUSTER * n_clusters))
    first = 0 if tree.outside is None else 1
    n_regions = int(region.max()) + 1
    if n_regions - first <= n_clusters:
        return region[tree.base]
    rows, areas = (part[first:] for part in _describe(merged, region, n_regions))
    weights = (areas / areas.sum()) ** 2
    rng = np.random.default_rng(seed)
    clusters, centres = kmeans(rows, n_clusters, rng, N_STARTS, weights=weights)
    misfits = weights * ((rows - centres[clusters]) ** 2).sum(axis=1)
    numbers = consecutive(_fill(clusters, misfits, n_clusters)) + np.int32(first)
    return np.concatenate([np.zeros(first, np.int32), numbers])[region][tree.base]


def _describe(merged: MergedImage, region: Labels, n_regions: int) -> tuple[FloatArray, FloatArray]:
    """Describe groups of base regions, one row for each, (regions, c); returns their areas too."""
    areas = np.bincount(region, merged.areas).astype(np.float64)
    parts = []
    for name, weight in CLUSTER_WEIGHTS.items():
        sums = np.zeros((n_regions, merged.sums[name].shape[1]))
        np.add.at(sums, region, merged.sums[name])
        means = sums / areas[:, None]
        # Euclidean distances of square roots are Hellinger's of histograms.
        parts.append(weight * (np.sqrt(means) if name in HISTOGRAMS else means))
    return np.concatenate(parts, axis=1), areas


def _fill(clusters: Labels, misfits: FloatArray, n_clusters: int) -> Labels:
    """Give each empty cluster, which equal regions leave, the region that fits its own least."""
    filled = clusters.copy()
    for empty in np.setdiff1d(np.arange(n_clusters), clusters):
        crowded = np.bincount(filled, minlength=n_clusters)[filled] > 1
        filled[np.where(crowded, misfits, -1).argmax()] = empty
    return filled
