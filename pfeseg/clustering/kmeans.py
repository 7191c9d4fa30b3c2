"""k-means clustering.

The same algorithm as ``sklearn.cluster.KMeans``, against which the tests hold
it. Importing scikit-learn would take longer than segmenting a photograph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

FloatArray = NDArray[np.floating[Any]]
Labels = NDArray[np.int32]

MAX_ITERATIONS = 300
TOLERANCE = 1e-4
"""Lloyd's iterations end when the centres' squared shift is at most this part of the variance."""

QUANTISE_PIXELS = 4_000
"""Classes of pixels are fitted to a random sample of this size where there are more."""

QUANTISE_ITERATIONS = 20
"""Classes need not be the best to describe an image."""


def kmeans(
    rows: FloatArray,
    n_clusters: int,
    rng: np.random.Generator,
    n_starts: int,
    max_iterations: int = MAX_ITERATIONS,
    weights: FloatArray | None = None,
) -> tuple[Labels, FloatArray]:
    """Cluster rows by the best of several runs.

    Parameters
    ----------
    rows : (n, d) array
    n_clusters : int
        Number k, at most n.
    rng : Generator
    n_starts, max_iterations : int
    weights : (n,) array, optional
        Above 0: how many times each row counts. All count once unless given.

    Returns
    -------
    labels : (n,) int32 array
    centres : (k, d) array
        Equal ones where there are fewer distinct rows than clusters.
    """
    rows = np.ascontiguousarray(rows)
    enough = TOLERANCE * float(rows.var(axis=0, dtype=np.float64).mean())
    shares = np.ones(len(rows)) if weights is None else np.asarray(weights, dtype=np.float64)
    least, best = np.inf, None
    for _ in range(n_starts):
        first = rng.integers(len(rows)) if weights is None else _draw(shares, rng)
        draws = rng.random((n_clusters - 1, 2 + int(np.log(n_clusters))))
        start = kernels.spread_starts(rows, shares, int(first), draws)
        labels, distances, centres = kernels.improve_centres(
            rows, shares, rows[start], max_iterations, enough
        )
        spread = float((shares * distances).sum())  # BLAS might sum by threads
        if best is None or spread < least:
            least, best = spread, (labels, centres)
    assert best is not None
    return best


def quantise(
    features: NDArray[np.floating[Any]], n_classes: int, rng: np.random.Generator
) -> tuple[Labels, FloatArray]:
    """Sort the pixels of an image into classes, fitted to a sample of them by a short run.

    Parameters
    ----------
    features : (h, w, c) array
    n_classes : int
        Fewer come back where the image has fewer pixels.
    rng : numpy Generator

    Returns
    -------
    (h, w) int32 array
        Class of each pixel.
    (classes, c) float32 array
        Their centres.
    """
    rows = features.reshape(-1, features.shape[2]).astype(np.float32, copy=False)
    sample = rows
    if len(rows) > QUANTISE_PIXELS:
        sample = rows[np.sort(rng.choice(len(rows), QUANTISE_PIXELS, replace=False))]
    n_classes = min(n_classes, len(sample))
    _, centres = kmeans(sample, n_classes, rng, 1, QUANTISE_ITERATIONS)
    return assign(rows, centres)[0].reshape(features.shape[:2]), centres


def assign(rows: FloatArray, centres: FloatArray) -> tuple[Labels, FloatArray]:
    """Return the nearest centre of each row, and its squared distance."""
    return kernels.nearest_centres(np.ascontiguousarray(rows), centres)


def _draw(shares: FloatArray, rng: np.random.Generator) -> int:
    """Draw an index, each as often as its share says."""
    reach = np.cumsum(shares)
    return min(int(np.searchsorted(reach, rng.random() * reach[-1])), len(shares) - 1)
