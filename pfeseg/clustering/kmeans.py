"""k-means clustering.

The same algorithm as ``sklearn.cluster.KMeans``, against which the tests hold
it. Importing scikit-learn would take longer than segmenting a photograph.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]
Labels = NDArray[np.int32]

MAX_ITERATIONS = 300
TOLERANCE = 1e-4
"""Lloyd's iterations end when the centres' squared shift is at most this part of the variance."""

QUANTISE_PIXELS = 4_000
"""Classes of pixels are fitted to a random sample of this size where there are more."""

QUANTISE_ITERATIONS = 20
"""Classes need not be the best to describe an image."""

_CHUNK_ROWS = 1 << 16


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
    best: tuple[float, Labels, FloatArray] | None = None
    for _ in range(n_starts):
        start = _plus_plus(rows, n_clusters, rng, weights)
        run = _lloyd(rows, start, max_iterations, weights)
        if best is None or run[0] < best[0]:
            best = run
    assert best is not None
    return best[1], best[2]


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
    rows = features.reshape(-1, features.shape[2]).astype(np.float32)
    sample = rows
    if len(rows) > QUANTISE_PIXELS:
        sample = rows[np.sort(rng.choice(len(rows), QUANTISE_PIXELS, replace=False))]
    n_classes = min(n_classes, len(sample))
    _, centres = kmeans(sample, n_classes, rng, 1, QUANTISE_ITERATIONS)
    return assign(rows, centres)[0].reshape(features.shape[:2]), centres


def assign(rows: FloatArray, centres: FloatArray) -> tuple[Labels, FloatArray]:
    """Return the nearest centre of each row, and its squared distance."""
    norms = np.einsum("ij,ij->i", centres, centres)
    labels = np.empty(len(rows), dtype=np.int32)
    distances = np.empty(len(rows), dtype=rows.dtype)
    for begin in range(0, len(rows), _CHUNK_ROWS):
        part = rows[begin : begin + _CHUNK_ROWS]
        partial = norms - 2 * (part @ centres.T)  # short of the row's own norm
        nearest = partial.argmin(axis=1)
        labels[begin : begin + len(part)] = nearest
        own = np.einsum("ij,ij->i", part, part)
        closest = np.take_along_axis(partial, nearest[:, None], axis=1)[:, 0]
        distances[begin : begin + len(part)] = np.maximum(closest + own, 0)
    return labels, distances


def _lloyd(
    rows: FloatArray, centres: FloatArray, max_iterations: int, weights: FloatArray | None
) -> tuple[float, Labels, FloatArray]:
    """Improve centres until they rest; returns the weighted sum of squared distances too."""
    enough = TOLERANCE * float(rows.var(axis=0, dtype=np.float64).mean())
    labels, distances = assign(rows, centres)
    exact = rows.astype(np.float64)
    for _ in range(max_iterations):
        moved = _means(exact, labels, distances, len(centres), weights).astype(rows.dtype)
        shift = float(((moved - centres) ** 2).sum())
        centres = moved
        old_labels = labels
        labels, distances = assign(rows, centres)
        if shift <= enough or (labels == old_labels).all():
            break
    return float(_times(distances, weights).sum(dtype=np.float64)), labels, centres


def _means(
    rows: FloatArray,
    labels: Labels,
    distances: FloatArray,
    n_clusters: int,
    weights: FloatArray | None,
) -> FloatArray:
    from scipy.sparse import csr_array

    n = len(rows)
    counts = np.bincount(labels, weights, n_clusters)
    shares = np.ones(n) if weights is None else weights
    indicators = csr_array((shares, labels, np.arange(n + 1)), shape=(n, n_clusters))
    sums = indicators.T @ rows
    empty = np.flatnonzero(counts == 0)
    if empty.size:  # a lost centre starts anew at the row that fits worst
        farthest = np.argsort(distances, kind="stable")[::-1][: empty.size]
        sums[empty], counts[empty] = rows[farthest], 1
    return np.asarray(sums / counts[:, None])


def _plus_plus(
    rows: FloatArray, n_clusters: int, rng: np.random.Generator, weights: FloatArray | None
) -> FloatArray:
    """Choose starting centres among the rows, each far from those before (greedy k-means++)."""
    n_trials = 2 + int(np.log(n_clusters))
    norms = np.einsum("ij,ij->i", rows, rows)
    first = rng.integers(len(rows)) if weights is None else _draw(weights, 1, rng)[0]
    chosen = [int(first)]
    nearest = _squared_distances(rows, norms, chosen)[0]
    for _ in range(1, n_clusters):
        candidates = _draw(_times(nearest, weights), n_trials, rng)
        reduced = np.minimum(nearest, _squared_distances(rows, norms, candidates))
        best = int(_times(reduced, weights).sum(axis=1, dtype=np.float64).argmin())
        chosen.append(int(candidates[best]))
        nearest = reduced[best]
    return rows[chosen]


def _draw(shares: FloatArray, count: int, rng: np.random.Generator) -> NDArray[np.intp]:
    """Draw indices, each as often as its share says."""
    reach = np.cumsum(shares, dtype=np.float64)
    drawn = np.searchsorted(reach, rng.random(count) * reach[-1])
    return np.asarray(np.minimum(drawn, len(shares) - 1))


def _times(values: FloatArray, weights: FloatArray | None) -> FloatArray:
    return values if weights is None else values * weights


def _squared_distances(rows: FloatArray, norms: FloatArray, chosen: Any) -> FloatArray:
    """Return the squared distance of every row from the chosen ones, (chosen, n)."""
    cross = rows[chosen] @ rows.T
    return np.asarray(np.maximum(norms[chosen][:, None] - 2 * cross + norms, 0))
