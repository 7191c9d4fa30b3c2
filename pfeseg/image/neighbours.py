"""Pixels and those near them: views of an image, shifted."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray


def neighbours_at(array: NDArray[Any], dy: int, dx: int) -> tuple[NDArray[Any], NDArray[Any]]:
    """Return the pixels that have a neighbour dy rows below and dx columns right, and these.

    Both are views of the array, (h, w) or (h, w, c), and of the same shape.
    """
    height, width = array.shape[:2]
    rows, columns = max(height - abs(dy), 0), max(width - abs(dx), 0)
    y, x = max(-dy, 0), max(-dx, 0)
    here = array[y : y + rows, x : x + columns]
    return here, array[y + dy : y + dy + rows, x + dx : x + dx + columns]


def steps_within(radius2: float, longest_side: int) -> list[tuple[int, int]]:
    """List the steps (dy, dx) to the later half of the pixels within a squared radius.

    Steps longer than the longest side of an image lead out of it and are left out.
    """
    most = min(int(radius2**0.5), longest_side)
    reach = range(-most, most + 1)
    return [
        (dy, dx)
        for dy in reach
        for dx in reach
        if (dy, dx) > (0, 0) and dy * dy + dx * dx <= radius2
    ]
