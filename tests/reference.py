"""Slow, plain versions of the method, for the fast ones to be compared with."""

from __future__ import annotations

import heapq

import numpy as np
from scipy import ndimage
from scipy.sparse import csc_array, diags_array, eye_array, kron
from scipy.sparse.linalg import spsolve
from skimage.segmentation import watershed

from pfeseg import Graph, SolverSettings, kernels
from pfeseg.image.smoothing import gaussian
from pfeseg.regions.hierarchy import Hierarchy


def thin_svd_polar(X: np.ndarray) -> np.ndarray:
    U, _, Vt = np.linalg.svd(X, full_matrices=False)
    return U @ Vt


class KroneckerForm:
    """Yu et al.'s formulation: L = I_d (x) M, and one dn x dn system (eq. 6), solved afresh."""

    def __init__(self, graph: Graph, n_dims: int, settings: SolverSettings) -> None:
        self.settings, self.graph = settings, graph
        self.shape = (graph.n_nodes, n_dims)
        identity = eye_array(n_dims)
        self.L = kron(identity, graph.M, format="csr")
        self.D = kron(identity, diags_array(graph.degrees), format="csr")
        self.sqrt_degrees = np.tile(np.sqrt(graph.degrees), n_dims)

    def solve(self, F_v: np.ndarray, q1: np.ndarray, r: float) -> np.ndarray:
        lam, L = self.settings.lam, self.L
        A = lam / 2 * (L.T @ L) + r / 2 * self.D
        return spsolve(csc_array(A), lam / 2 * (L.T @ q1) + r / 2 * self.sqrt_degrees * F_v)

    def split_bregman(self, F_v: np.ndarray, r: float, iterations: int) -> np.ndarray:
        d_l = b_l = np.zeros(self.L.shape[0])
        for _ in range(iterations):
            Y_v = self.solve(F_v, d_l - b_l, r)
            t = self.L @ Y_v + b_l
            d_l = np.sign(t) * np.maximum(np.abs(t) - 1 / self.settings.lam, 0)
            b_l = t - d_l
        return Y_v

    def embed(self, Y0: np.ndarray) -> np.ndarray:
        settings = self.settings

        def matrix(v: np.ndarray) -> np.ndarray:
            return v.reshape(self.shape, order="F")

        def vector(X: np.ndarray) -> np.ndarray:
            return X.ravel(order="F")

        P = vector(thin_svd_polar(matrix(self.sqrt_degrees * vector(Y0))))
        B = np.zeros_like(P)
        for _ in range(settings.soc_iterations):
            Y_v = self.split_bregman(P - B, settings.r, settings.split_iterations)
            X = self.sqrt_degrees * Y_v + B
            P = vector(thin_svd_polar(matrix(X)))
            B = X - P
        return matrix(self.split_bregman(P - B, settings.r_relaxed, settings.relaxed_iterations))


def dense_incomplete_cholesky(A: np.ndarray, relaxation: float) -> tuple[np.ndarray, np.ndarray]:
    """Textbook elimination that drops what falls outside the pattern of A."""
    A, pattern = A.astype(float).copy(), A != 0
    n = len(A)
    L, pivots = np.eye(n), np.zeros(n)
    for k in range(n):
        pivots[k] = A[k, k]
        L[k + 1 :, k] = A[k + 1 :, k] / A[k, k]
        update = np.outer(A[k + 1 :, k], A[k, k + 1 :]) / A[k, k]
        rest, kept = A[k + 1 :, k + 1 :], pattern[k + 1 :, k + 1 :]
        rest -= np.where(kept, update, 0)
        dropped = np.where(kept, 0, update)
        rest[np.diag_indices_from(rest)] -= relaxation * dropped.sum(axis=1)
    return np.where(pattern, L, 0), pivots


def redrawn(pieces: np.ndarray, image: np.ndarray, reach: int) -> np.ndarray:
    """Boundaries drawn anew: markers inside each piece, and a watershed of the whole image."""
    cross = ndimage.generate_binary_structure(2, 1)
    near = np.zeros(pieces.shape, dtype=bool)
    for piece in np.unique(pieces):
        edge = ndimage.binary_dilation(pieces != piece, cross) & (pieces == piece)
        near |= edge
    if reach > 1:
        near = ndimage.binary_dilation(near, np.ones((3, 3)), iterations=reach - 1)
    markers = np.zeros(pieces.shape, dtype=np.int32)
    for piece in np.unique(pieces):
        spots, count = ndimage.label((pieces == piece) & ~near, cross)
        sizes = np.bincount(spots.ravel(), minlength=count + 1)[1:]
        if not count:
            markers[pieces == piece] = piece + 1
        else:  # of equal ones the last
            markers[spots == count - sizes[::-1].argmax()] = piece + 1
    blur, slope = gaussian(1.0, 0), gaussian(1.0, 1)
    down, right = (
        kernels.correlate(image.astype(np.float32), *filters)
        for filters in ((slope, blur), (blur, slope))
    )
    return watershed(np.sqrt(down**2 + right**2).sum(axis=2), markers) - 1


def area_weights(large: int, small: int) -> np.ndarray:
    """Share of each of `large` pixels in each of `small` ones along a line, (small, large)."""
    edges = np.arange(small + 1) * large / small
    pixels = np.arange(large)
    overlap = np.minimum(pixels + 1, edges[1:, None]) - np.maximum(pixels, edges[:-1, None])
    return np.maximum(overlap, 0) * small / large


def nearest_centres(rows: np.ndarray, centres: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    squared = ((rows[:, None] - centres) ** 2).sum(axis=2)
    return squared.argmin(axis=1), squared.min(axis=1)


def spread_starts(rows: np.ndarray, weights: np.ndarray, first: int, draws: np.ndarray) -> list:
    """Greedy k-means++: of the rows drawn for a centre, the one that leaves the least is taken."""
    chosen = [first]
    for drawn in draws:
        nearest = nearest_centres(rows, rows[chosen])[1]
        reach = np.cumsum(weights * nearest)
        candidates = np.minimum(np.searchsorted(reach, drawn * reach[-1]), len(rows) - 1)
        left = [weights @ nearest_centres(rows, rows[[*chosen, c]])[1] for c in candidates]
        chosen.append(int(candidates[np.argmin(left)]))
    return chosen


def improve_centres(
    rows: np.ndarray, weights: np.ndarray, centres: np.ndarray, max_iterations: int, enough: float
) -> tuple[np.ndarray, np.ndarray]:
    """Lloyd's iterations; a centre without rows starts anew at the row that fits worst."""
    labels, distances = nearest_centres(rows, centres)
    for _ in range(max_iterations):
        moved, worst = np.empty_like(centres), np.argsort(distances, kind="stable").tolist()
        for k in range(len(centres)):
            own = labels == k
            moved[k] = (
                np.average(rows[own], axis=0, weights=weights[own])
                if own.any()
                else rows[worst.pop()]
            )
        shift, centres, old = ((moved - centres) ** 2).sum(), moved, labels
        labels, distances = nearest_centres(rows, centres)
        if shift <= enough or (labels == old).all():
            break
    return labels, centres


def flood(relief: np.ndarray, markers: np.ndarray) -> np.ndarray:
    """Take the lowest pixel beside the floods, of equal ones that which waits longest."""
    marks, waiting = markers.copy(), []
    height, width = marks.shape

    def neighbours(y: int, x: int) -> list[tuple[int, int]]:
        around = ((y - 1, x), (y, x - 1), (y, x + 1), (y + 1, x))
        return [(v, u) for v, u in around if 0 <= v < height and 0 <= u < width]

    def wait(pixel: tuple[int, int]) -> None:
        heapq.heappush(waiting, (relief[pixel], turns.pop(), pixel))

    turns = list(range(2 * marks.size, 0, -1))
    for pixel in np.argwhere(marks).tolist():
        if any(not marks[other] for other in neighbours(*pixel)):
            wait(tuple(pixel))
    while waiting:
        pixel = heapq.heappop(waiting)[2]
        for other in neighbours(*pixel):
            if not marks[other]:
                marks[other] = marks[pixel]
                wait(other)
    return marks


def bilinear(values: np.ndarray, y: np.ndarray, x: np.ndarray) -> np.ndarray:
    """Take the values of (h, w, c) at places along y and x; beyond the ends those of the ends."""
    for axis, places in enumerate((y, x)):
        grid = np.arange(values.shape[axis])
        values = np.apply_along_axis(
            lambda line, at=places, grid=grid: np.interp(at, grid, line), axis, values
        )
    return values


def resize_hierarchy(tree: Hierarchy, base: np.ndarray) -> list[tuple[float, frozenset]]:
    """Join touching regions of a base in the order of their levels; returns the regions made."""
    content = {k: {k} for k in range(len(tree.merges) + 1)}
    level_of = {}
    for (kept, absorbed), level in zip(tree.merges.tolist(), tree.levels, strict=True):
        for a in content[kept]:
            for b in content[absorbed]:
                level_of[min(a, b), max(a, b)] = level
        content[kept] |= content.pop(absorbed)
    sides = ((base[:, 1:], base[:, :-1]), (base[1:], base[:-1]))
    pairs = {
        (min(a, b), max(a, b))
        for one, other in sides
        for a, b in zip(one.ravel().tolist(), other.ravel().tolist(), strict=True)
        if a != b
    }
    owner = {k: frozenset([k]) for k in np.unique(base).tolist()}
    made = []
    for a, b in sorted(pairs, key=lambda pair: (level_of[pair], pair)):
        if owner[a] != owner[b]:
            joined = owner[a] | owner[b]
            owner |= dict.fromkeys(joined, joined)
            made.append((level_of[a, b], joined))
    return made
