"""Odd graphs, images, label maps and region graphs, given to every compiled kernel as they are.

``kernels.py [SECONDS [SEED [NAME...]]]``. Each argument may be as it should be, or odd: what is
refused is well, what is read or written outside an array ends the process, at the latest under
AddressSanitizer (``make sanitize``).
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from running import Try, allowed, run_all

from pfeseg import kernels

Rng = np.random.Generator
ODD = (-(2**31), -5, -1, 0, 1, 2, 3, 7, 63, 2**29, 2**31 - 1)
ODD_NUMBERS = (np.nan, np.inf, -np.inf, 1e300, -1e300, 1e-310, -1.0, 0.0, 1.0, 2.5)


def whole(rng: Rng, low: int, high: int) -> int:
    """Return a number in a range, or seldom an odd one."""
    return int(rng.choice(ODD)) if rng.random() < 0.05 else int(rng.integers(low, high + 1))


def number(rng: Rng) -> float:
    """Return a number, or seldom an odd one."""
    return float(rng.choice(ODD_NUMBERS)) if rng.random() < 0.1 else float(rng.normal())


def integers(rng: Rng, shape: tuple[int, ...], end: int, kind: type = np.int32) -> np.ndarray:
    """Return 0, 1, ... below `end`, seldom with an odd one or of another shape."""
    made = rng.integers(0, max(end, 1), _shape(rng, shape)).astype(kind)
    if made.size and rng.random() < 0.1:
        made.flat[rng.integers(made.size)] = rng.choice(ODD)
    return made


def reals(rng: Rng, shape: tuple[int, ...], kind: type = np.float64) -> np.ndarray:
    """Return positive numbers, seldom with an odd one or of another shape."""
    with np.errstate(over="ignore"):
        made = rng.random(_shape(rng, shape)).astype(kind)
        if made.size and rng.random() < 0.15:
            made.flat[rng.integers(made.size)] = rng.choice(ODD_NUMBERS)
    return made


def _shape(rng: Rng, shape: tuple[int, ...]) -> tuple[int, ...]:
    if rng.random() < 0.02:  # no numbers, but a long side
        sides = rng.permutation([0, 2 ** int(rng.integers(24, 41)), *shape])
        return tuple(sides[: len(shape)].tolist()) if 0 in sides[: len(shape)] else shape
    if rng.random() < 0.05:
        at = int(rng.integers(len(shape)))
        shape = (*shape[:at], int(rng.integers(0, 5)), *shape[at + 1 :])
    return shape


def _sides(rng: Rng) -> tuple[int, int]:
    return int(rng.integers(1, 14)), int(rng.integers(1, 14))


def _graph(rng: Rng) -> tuple[int, np.ndarray]:
    n = int(rng.integers(1, 30)) if rng.random() < 0.9 else 300  # which is cut into parts
    pairs = np.stack(np.triu_indices(n, 1), axis=1).astype(np.int32)
    edges = pairs[rng.random(len(pairs)) < rng.random() * min(1, 30 / n)]
    if len(edges) and rng.random() < 0.2:  # an edge twice, or from a node to itself
        edges[rng.integers(len(edges))] = edges[rng.integers(len(edges))][::-1]
    if edges.size and rng.random() < 0.1:
        edges.flat[rng.integers(edges.size)] = rng.choice([*ODD, n, n - 1])
    return n, edges


def _loop(rng: Rng, loop: Any, n: int, kind: type) -> None:
    """Start a loop, go on with it and look at what it has found, in any order."""
    for _ in range(3):
        match rng.integers(0, 4):
            case 0 | 1:
                loop.start(reals(rng, (n, int(rng.integers(1, 20))), kind), whole(rng, 1, 3))
            case 2:
                loop.advance(min(whole(rng, 0, 3), 100), whole(rng, 1, 3))
            case 3:
                loop.solution()


def direct(rng: Rng) -> None:
    """Eliminate a graph and solve on it."""
    n, edges = _graph(rng)
    positions = integers(rng, (n, int(rng.integers(0, 3))), 9)
    if 2**20 < len(positions) < 2**31:
        return  # as many nodes without an edge, which may take a minute
    found = kernels.eliminate_graph(edges, positions, whole(rng, 1, 10**6))
    if not found.fits:
        raise ValueError(f"{found.entries} entries are too many")
    kind = np.float32 if rng.random() < 0.5 else np.float64
    make = kernels.CholeskyLoopSingle if kind == np.float32 else kernels.CholeskyLoopDouble
    loop = make(found, reals(rng, (len(edges),)), reals(rng, (n,)) + 1, 1.0, number(rng),
                whole(rng, 1, 3), kernels.variant())  # fmt: skip
    _loop(rng, loop, n, kind)


def iterative(rng: Rng) -> None:
    """Make a matrix by rows and solve with it."""
    n = int(rng.integers(1, 20))
    dense = np.tril(rng.random((n, n)) < rng.random(), -1)
    dense = (dense | dense.T) * -0.1 + np.eye(n) * n
    rows, indices = np.nonzero(dense)
    data = dense[rows, indices]
    indptr = np.searchsorted(rows, np.arange(n + 1)).astype(np.int32)
    indices = indices.astype(np.int32)
    for array in (indptr, indices):
        if rng.random() < 0.1:
            array[rng.integers(len(array))] = rng.choice([*ODD, n])
    if rng.random() < 0.1:
        indices = indices[: rng.integers(len(indices) + 1)]
    kernels.incomplete_cholesky(indptr, indices, data, number(rng))
    kind = np.float32 if rng.random() < 0.5 else np.float64
    make = kernels.PcgLoopSingle if kind == np.float32 else kernels.PcgLoopDouble
    upper = int((np.triu(dense, 1) != 0).sum())
    loop = make(indptr, indices, data, reals(rng, (upper,)), reals(rng, (n,)) + 1, 1.0, 1.0, 0.5,
                number(rng), min(whole(rng, 1, 50), 1000), kernels.variant())  # fmt: skip
    _loop(rng, loop, n, kind)


def embeddings(rng: Rng) -> None:
    """Do what the solver does with an embedding, a row for each node."""
    n, edges = _graph(rng)
    d, kind = int(rng.integers(1, 20)), rng.choice([np.float32, np.float64])
    Y, more, target = (reals(rng, (n, d), kind) for _ in range(3))
    scale, threads = reals(rng, (n,), kind), whole(rng, 1, 3)
    match rng.integers(0, 4):
        case 0:
            kernels.gram_matrix(Y, scale if rng.random() < 0.5 else None, threads)
        case 1:
            kernels.add_scaled(Y, more, scale, threads)
        case 2:
            kernels.split_off(Y, reals(rng, (d, d), kind), target, threads)
        case 3:
            kernels.edge_energy(edges, reals(rng, (len(edges),)), Y)


def images(rng: Rng) -> None:
    """Shrink, tint, redraw and sum an image of some type."""
    (height, width), channels = _sides(rng), int(rng.choice([1, 3, 4]))
    kind = rng.choice([np.uint8, np.uint16, np.uint32, np.int16, np.int32, np.float32, np.float64])
    image = reals(rng, (height, width, channels), kind) if kind in (np.float32, np.float64) else (
        rng.integers(0, 200, (height, width, channels)).astype(kind)
    )  # fmt: skip
    black, white = (number(rng) * 100 for _ in range(2))
    labels, n = integers(rng, (height, width), 5), min(whole(rng, 5, 5), 2**24)
    match rng.integers(0, 4):
        case 0:
            kernels.average_areas(image, black, white, abs(whole(rng, 1, height)),
                                  abs(whole(rng, 1, width)), whole(rng, 1, 3))  # fmt: skip
        case 1:
            kernels.tint_regions(image, black, white, number(rng), labels,
                                 reals(rng, (5, 3), np.float32) * 99,
                                 integers(rng, (height, width), 2, np.uint8))  # fmt: skip
        case 2:
            size = int(rng.choice([3, 5]))
            weights = [reals(rng, (size,), np.float32) for _ in range(2)]
            kernels.redraw_boundaries(labels, image, black, white, whole(rng, 1, 4), *weights,
                                      whole(rng, 1, 3))  # fmt: skip
        case 3:
            kernels.lab_sums(labels, n, image, black, white)


def filters(rng: Rng) -> None:
    """Filter, interpolate and compare the pixels of an image."""
    height, width = _sides(rng)
    kind = rng.choice([np.float32, np.float64])
    image = reals(rng, (height, width, int(rng.integers(1, 4))), kind)
    window = reals(rng, (int(rng.choice([1, 3, 5, 2])),))
    match rng.integers(0, 7):
        case 0:
            kernels.correlate(image, window, reals(rng, (3,)))
        case 1:
            bank = [(window, reals(rng, (3,))) for _ in range(rng.integers(0, 3))]
            kernels.filter_responses(
                reals(rng, (height, width), np.float32), bank, integers(rng, (4,), height),
                integers(rng, (5,), width), number(rng),
            )  # fmt: skip
        case 2:
            kernels.interpolate(image, reals(rng, (6,)) * height, reals(rng, (7,)) * width)
        case 3:
            kernels.lab(image)
        case 4:
            kernels.colour_contrast(image.astype(np.float32), whole(rng, 0, 1), whole(rng, 1, 2),
                                    window, whole(rng, 1, 9))  # fmt: skip
        case 5:
            kernels.class_contrast(integers(rng, (height, width), 4), min(whole(rng, 4, 6), 2**16),
                                   window, whole(rng, 1, 9))  # fmt: skip
        case 6:
            pixel = 2**64 - 5 if rng.random() < 0.05 else abs(whole(rng, 1, 4))
            rows = integers(rng, (height, width), 256, np.uint8)
            if len(rows) < 2**24:  # of each row, were it empty, the number of its filter is left
                kernels.filter_rows(rows, pixel)


def clouds(rng: Rng) -> None:
    """Cluster rows."""
    n, d, k = (int(rng.integers(1, 12)) for _ in range(3))
    kind = rng.choice([np.float32, np.float64])
    rows, weights = reals(rng, (n, d), kind), reals(rng, (n,))
    match rng.integers(0, 4):
        case 0:
            kernels.nearest_centres(rows, reals(rng, (k, d), kind))
        case 1:
            kernels.spread_starts(rows, weights, whole(rng, 0, n - 1), reals(rng, (k, 3)))
        case 2:
            # With weights below 0 it may go round in circles, as long as it is told to.
            kernels.improve_centres(rows, weights, reals(rng, (k, d), kind),
                                    min(whole(rng, 0, 9), 1000), number(rng))  # fmt: skip
        case 3:
            kernels.expectation(reals(rng, (d, n)), reals(rng, (k, d)))


def maps(rng: Rng) -> None:
    """Do all that is done with label maps."""
    height, width = _sides(rng)
    kind = rng.choice([np.int32, np.int64])
    labels, regions = integers(rng, (height, width), 4, kind), integers(rng, (height, width), 6)
    relief, n = reals(rng, (height, width), np.float32), min(whole(rng, 6, 6), 2**20)
    marks = [integers(rng, (height, width), 2, np.uint8) for _ in range(2)]
    calls: list[Callable[[], object]] = [
        lambda: kernels.number_by_appearance(labels.ravel()),
        lambda: kernels.split_regions(labels),
        lambda: kernels.basins(relief),
        lambda: kernels.watershed(relief, regions - 1),
        lambda: kernels.meetings(regions, integers(rng, (3, 2), 4)),
        lambda: kernels.region_sums(regions, n, reals(rng, (*_sides(rng), 2))),
        lambda: kernels.class_counts(regions, n, integers(rng, _sides(rng), 3),
                                     min(whole(rng, 3, 5), 2**6)),
        lambda: kernels.edge_sums(
            integers(rng, (7, 2), 6), n, reals(rng, (height, width - 1), np.float32),
            reals(rng, (height - 1, width), np.float32),
        ),
        lambda: kernels.match_boundaries(*marks, integers(rng, (6, 2), 5) - 2),
    ]  # fmt: skip
    calls[rng.integers(len(calls))]()


def trees(rng: Rng) -> None:
    """Merge region graphs, and ask for what was merged."""
    n, pairs = _graph(rng)
    m, columns, contrasts = len(pairs), int(rng.integers(1, 6)), int(rng.integers(0, 3))
    ends = np.sort(integers(rng, (2,), columns + 1))
    features = contrasts + len(ends) + 2
    odds = [number(rng) for _ in range(6)]
    weights = [reals(rng, (features,)) for _ in range(3)]
    match rng.integers(0, 4):
        case 0 | 1:
            kernels.merge_regions(
                reals(rng, (n,)) + 1e-3, reals(rng, (n, columns)), ends, integers(rng, (2,), 3),
                pairs, reals(rng, (m,)), reals(rng, (m, contrasts)), *weights, *odds,
            )  # fmt: skip
        case 2:
            kernels.join_pairs(pairs, min(whole(rng, n, n), 2**24))
        case 3:
            merges, _ = kernels.join_pairs(np.stack([np.zeros(n - 1), np.arange(1, n)], 1)
                                           .astype(np.int32), n)  # fmt: skip
            if merges.size and rng.random() < 0.5:
                merges.flat[rng.integers(merges.size)] = rng.choice([*ODD, n - 1])
            kernels.joining_merges(merges, integers(rng, (5,), n), integers(rng, (5,), n))


def _attempt(call: Callable[[Rng], None], rng: Rng, path: Path) -> None:
    with allowed(ValueError, TypeError, RuntimeError, MemoryError), np.errstate(all="ignore"):
        call(rng)


_CALLS = (direct, iterative, embeddings, images, filters, clouds, maps, trees)

TARGETS: dict[str, Try] = {call.__name__: partial(_attempt, call) for call in _CALLS}

if __name__ == "__main__":
    sys.exit(run_all(__file__, TARGETS, sys.argv[1:]))
