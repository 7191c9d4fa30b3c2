"""Labels from an embedding: k-means on its rows."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.checks import check_seed, is_whole, number_array, shown
from pfeseg.clustering.kmeans import assign, kmeans
from pfeseg.errors import InvalidInputError
from pfeseg.labels.maps import consecutive

N_STARTS = 10
"""Runs of k-means from different centres; the best is kept."""

MAX_FIT_ROWS = 50_000
"""The centres are fitted to a random sample of this size where there are more rows."""

SAME_CENTRE = 1e-4
"""Centres closer than this, in units of the root mean square row, are one.

Smaller differences are rounding errors of the solver.
"""


def cluster_embedding(Y: ArrayLike, n_segments: int, seed: int = 0) -> NDArray[np.int32]:
    """Cluster the rows of an embedding.

    Parameters
    ----------
    Y : (n, d) array
        Finite numbers, such as `Embedding.Y`.
    n_segments : int
        Number k of clusters; fewer come out where the embedding has fewer
        distinct values, to within `SAME_CENTRE`.
    seed : int
        For k-means.

    Returns
    -------
    (n,) int32 array
        Labels 0, 1, ... in order of first appearance, none left out.

    Raises
    ------
    InvalidInputError
        For what is no such array, and for fewer rows than clusters.

    Examples
    --------
    >>> import pfeseg
    >>> pfeseg.cluster_embedding([[0.0], [0.1], [5.0], [5.1]], 2).tolist()
    [0, 0, 1, 1]
    """
    seed = check_seed(seed)
    with np.errstate(over="ignore"):
        rows = number_array(Y, "Y").astype(np.float32)
    if rows.ndim != 2 or not rows.shape[1] or not np.isfinite(rows).all():
        raise InvalidInputError(
            f"Y must be an (n, d) array of finite numbers, got shape {rows.shape}"
        )
    if not is_whole(n_segments) or not 1 <= n_segments <= len(rows):
        raise InvalidInputError(
            f"the number of segments k must lie between 1 and the number of pixels, {len(rows)}; "
            f"got {shown(n_segments)}"
        )
    scale = float(np.sqrt(np.square(rows, dtype=np.float64).sum(axis=1).mean())) or 1.0
    rows = rows / np.float32(scale)
    rng = np.random.default_rng(seed)
    if len(rows) > MAX_FIT_ROWS:
        sample = rng.choice(len(rows), MAX_FIT_ROWS, replace=False)
        _, centres = kmeans(rows[np.sort(sample)], n_segments, rng, N_STARTS)
        labels, _ = assign(rows, centres)
    else:
        labels, centres = kmeans(rows, n_segments, rng, N_STARTS)
    return consecutive(_merge_equal(centres)[labels])


def _merge_equal(centres: NDArray[np.floating[Any]]) -> NDArray[np.intp]:
    """Give each centre the index of the first centre that it equals."""
    group = np.arange(len(centres))
    for k, centre in enumerate(centres):
        if group[k] == k:
            squared = ((centres[k + 1 :] - centre) ** 2).sum(axis=1)
            later = k + 1 + np.flatnonzero(squared < SAME_CENTRE**2)
            group[later] = np.minimum(group[later], k)
    return group
