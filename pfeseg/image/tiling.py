"""A large image as tiles that overlap."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

Window = tuple[slice, slice]
"""Rows and columns of a part of an image."""

OVERLAP = 4
"""Neighbouring tiles share one part in this many of their size."""


@dataclass(frozen=True)
class Tiling:
    """Tiles of about one size that cover an image, row by row.

    Attributes
    ----------
    shape : (H, W)
        The size of the image.
    overlap : int
        Pixels that neighbouring tiles share, at least.
    rows, columns : tuple of slice
        Where the tiles of each row and of each column lie. Only neighbours overlap.
    """

    shape: tuple[int, int]
    overlap: int
    rows: tuple[slice, ...]
    columns: tuple[slice, ...]

    @classmethod
    def of(cls, shape: tuple[int, int], size: int) -> Tiling:
        """Cover an image with tiles of at most `size` pixels a side."""
        overlap = size // OVERLAP
        return cls(shape, overlap, _spans(shape[0], size, overlap), _spans(shape[1], size, overlap))

    def __len__(self) -> int:
        return len(self.rows) * len(self.columns)

    def place(self, tile: int) -> tuple[int, int]:
        """Return the row and the column of a tile."""
        return divmod(tile, len(self.columns))

    def window(self, tile: int) -> Window:
        """Return where a tile lies."""
        row, column = self.place(tile)
        return self.rows[row], self.columns[column]

    def shared(self, one: int, other: int) -> Window:
        """Return where two neighbouring tiles overlap."""
        return meet(self.window(one), self.window(other))


def meet(one: Window, other: Window) -> Window:
    """Return where two windows overlap; of no size where they do not."""
    rows, columns = (
        slice(max(a.start, b.start), max(a.start, b.start, min(a.stop, b.stop)))
        for a, b in zip(one, other, strict=True)
    )
    return rows, columns


def inside(part: Window, whole: Window) -> Window:
    """Return where a window lies as seen from one that it is part of."""
    rows, columns = (
        slice(a.start - b.start, a.stop - b.start) for a, b in zip(part, whole, strict=True)
    )
    return rows, columns


def cells(shape: tuple[int, int], size: int) -> list[Window]:
    """Cut an image into windows of at most `size` pixels a side that do not overlap."""
    rows, columns = ([*_pieces(length, size)] for length in shape)
    return [(row, column) for row in rows for column in columns]


def _pieces(length: int, size: int) -> Iterator[slice]:
    """Cut a length evenly into as few parts as possible."""
    count = math.ceil(length / size)
    ends = [round(k * length / count) for k in range(count + 1)]
    yield from (slice(first, last) for first, last in pairwise(ends))


def _spans(length: int, size: int, overlap: int) -> tuple[slice, ...]:
    """Cover a length evenly with as few spans as possible, all of one size."""
    if length <= size:
        return (slice(0, length),)
    count = math.ceil((length - overlap) / (size - overlap))
    each = math.ceil((length + (count - 1) * overlap) / count)
    starts = (round(k * (length - each) / (count - 1)) for k in range(count))
    return tuple(slice(start, start + each) for start in starts)
