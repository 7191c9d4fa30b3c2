"""Regions as polygons, along the borders of their pixels."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.labels.maps import labels_of, split_regions

Labels = NDArray[np.integer[Any]]
Ring = list[list[int]]
Polygon = list[Any]
"""Closed rings of points, the outer one first."""


def pixel_polygons(labels: Labels) -> dict[int, list[list[Ring]]]:
    """Return the polygons of each label, in pixels: x to the right, y down from the upper left."""
    parts = split_regions(labels)
    polygons: dict[int, list[list[Ring]]] = {}
    for label, rings in zip(labels_of(parts, labels).tolist(), trace_parts(parts), strict=True):
        polygons.setdefault(label, []).append(rings)
    return polygons


def trace_parts(parts: Labels) -> list[list[Ring]]:
    """Trace the border of each connected part: closed rings of corners of pixels.

    The part is on the right of each ring. The outer one comes first, then its holes.
    """
    padded = np.pad(parts, 1, constant_values=-1)
    inside = padded[1:-1, 1:-1]
    # Pixel borders as directed steps from corner to corner, by the side they lie on.
    sides = (
        (padded[:-2, 1:-1], (0, 0), (1, 0)),  # above: to the right
        (padded[1:-1, 2:], (1, 0), (0, 1)),  # right: down
        (padded[2:, 1:-1], (1, 1), (-1, 0)),  # below: to the left
        (padded[1:-1, :-2], (0, 1), (0, -1)),  # left: up
    )
    steps: list[dict[tuple[int, int], list[tuple[int, int]]]] = [
        {} for _ in range(int(parts.max()) + 1)
    ]
    for other, corner, step in sides:
        for y, x in np.argwhere(inside != other).tolist():
            start = (x + corner[0], y + corner[1])
            steps[inside[y, x]].setdefault(start, []).append(step)
    # The outer ring is the one that winds the other way from the holes.
    return [sorted(_link(outgoing), key=signed_area, reverse=True) for outgoing in steps]


def _link(outgoing: dict[tuple[int, int], list[tuple[int, int]]]) -> list[Ring]:
    """Join the steps of one part into closed rings, keeping only the corners where they turn.

    Where two pixels of the part meet at a corner only, a ring turns left, on to the other
    pixel. As the two are connected elsewhere, what lies between them is a hole with a ring of its
    own: rings may touch at a corner, but none comes to a corner twice, which would be invalid.
    """
    rings = []
    while outgoing:
        start = corner = next(iter(outgoing))
        step = outgoing[start][0]
        ring: Ring = []
        previous = None
        while True:
            outgoing[corner].remove(step)
            if not outgoing[corner]:
                del outgoing[corner]
            if step != previous:
                ring.append(list(corner))
            corner, previous = (corner[0] + step[0], corner[1] + step[1]), step
            if corner == start:
                break
            choices, left = outgoing[corner], (step[1], -step[0])
            step = left if left in choices else choices[0]
        rings.append([*ring, ring[0]])
    return rings


def signed_area(ring: ArrayLike) -> float:
    """Return the area that a closed ring goes round, negative if it does the other way."""
    x, y = np.array(ring, dtype=float).T
    return float((x[:-1] * y[1:] - x[1:] * y[:-1]).sum() / 2)
