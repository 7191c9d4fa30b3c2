"""The pieces of all tiles on disk, and the mosaic that they make.

Every tile is cut into pieces on its own. Seams say which tile owns a pixel where several overlap.
What a tile owns of its pieces are patches, each connected; patches of all tiles are numbered one
after the other, and make the mosaic.
"""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.tiling import Tiling, Window, inside, meet
from pfeseg.labels.maps import labels_of, split_regions
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.merges import complete
from pfeseg.regions.seams import Pieces

CHUNK_ROWS = 128
"""Rows of labels that are compressed together."""

OUTSIDE = -1
"""What a mosaic has where the image is masked."""


@dataclass(frozen=True, eq=False)
class Mosaic:
    """An image put together from the patches of its tiles.

    It grows from step to step: pieces, seams, patches, offsets, regions. All is in files, which
    other processes read, perhaps on other machines: which files there are is never told by looking
    for them, as a shared folder may show a new file late.

    Attributes
    ----------
    folder : Path
        Where the files are.
    tiling : Tiling
    """

    folder: Path
    tiling: Tiling

    def __reduce__(self) -> tuple[Any, ...]:
        return Mosaic, (self.folder, self.tiling)  # processes read the rest themselves

    def write_pieces(self, tile: int, tree: Hierarchy) -> None:
        """Keep the finest regions of a hierarchy as the pieces of a tile."""
        n = len(tree.merges) + 1
        shift = np.int32(tree.outside is None)  # 0 is what lies outside, even if nothing does
        merges, levels = tree.merges + shift, tree.levels
        if shift:
            merges, levels = complete(merges, levels, n + 1)
        _write_labels(self._pieces(tile), tree.base + shift, {"merges": merges, "levels": levels})

    def write_cut(self, there: list[bool]) -> None:
        """Keep which tiles have pieces; those have none that are masked all over."""
        np.save(self.folder / "cut.npy", np.array(there))

    @cached_property
    def _there(self) -> NDArray[np.bool_]:
        return np.asarray(np.load(self.folder / "cut.npy"))

    def pieces(self, tile: int, window: Window) -> Pieces | None:
        """Read what a tile has in a window of the image that it covers; None for masked tiles."""
        if not self._there[tile]:
            return None
        part = inside(window, self.tiling.window(tile))
        with np.load(self._pieces(tile)) as stored:
            return Pieces(_read_labels(stored, part), stored["merges"], stored["levels"])

    def write_seams(self, upright: NDArray[np.int32], level: NDArray[np.int32]) -> None:
        """Keep the seams.

        Parameters
        ----------
        upright : (rows of tiles, columns of tiles - 1, height of a tile) array
            First pixel of the tile to the right, in each row of pixels.
        level : (rows of tiles - 1, W) array
            First pixel of the tiles below, in each column of pixels.
        """
        np.savez(self.folder / "seams.npz", upright=upright, level=level)

    @cached_property
    def _seams(self) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        with np.load(self.folder / "seams.npz") as stored:
            return stored["upright"], stored["level"]

    def owners(self, window: Window) -> NDArray[np.int32]:
        """Return the tile that owns each pixel of a window, (h, w)."""
        upright, level = self._seams
        rows, columns = window
        y, x = np.arange(rows.start, rows.stop)[:, None], np.arange(columns.start, columns.stop)
        bands = [k for k, span in enumerate(self.tiling.rows) if _overlap(span, rows)]
        owners = np.empty((len(y), len(x)), dtype=np.int32)
        spans = self.tiling.columns
        first = next(k for k, span in enumerate(spans) if span.stop > columns.start)
        near = [k for k, span in enumerate(spans[1:]) if k >= first and span.start < columns.stop]
        for band in bands:
            of_band = np.full((len(y), len(x)), band * len(spans) + first, dtype=np.int32)
            places = np.clip(y[:, 0] - self.tiling.rows[band].start, 0, upright.shape[2] - 1)
            for column in near:
                of_band += x >= upright[band, column, places][:, None]
            if band == bands[0]:
                owners = of_band
            else:
                np.copyto(owners, of_band, where=y >= level[band - 1, columns])
        return owners

    def write_patches(self, tile: int) -> int:
        """Keep what a tile owns of its pieces, split into connected parts; returns their number."""
        window = self.tiling.window(tile)
        found = self.pieces(tile, window)
        if found is None:
            return 0
        owned = np.where(self.owners(window) == tile, found.labels.astype(np.int32), np.int32(0))
        parts = split_regions(owned)
        piece = labels_of(parts, owned)
        there = piece > 0
        number = np.zeros(len(piece), dtype=np.int32)
        number[there] = np.arange(1, there.sum() + 1)
        _write_labels(self._patches(tile), number[parts], {"piece": piece[there]})
        return int(there.sum())

    def piece_of(self, tile: int) -> NDArray[np.int32]:
        """Return of which piece each patch of a tile is, (patches,)."""
        with np.load(self._patches(tile)) as stored:
            return np.asarray(stored["piece"])

    def write_offsets(self, counts: list[int]) -> None:
        """Keep how many patches each tile has."""
        np.save(self.folder / "offsets.npy", np.cumsum([0, *counts]))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """How many patches there are before those of each tile, and in all."""
        return np.asarray(np.load(self.folder / "offsets.npy"))

    def patches(self, window: Window) -> NDArray[np.int32]:
        """Return the patch at each pixel of a window, (h, w), or `OUTSIDE`."""
        result = np.full(tuple(span.stop - span.start for span in window), OUTSIDE, np.int32)
        for tile in range(len(self.tiling)):
            shared = meet(self.tiling.window(tile), window)
            is_empty = self.offsets[tile] == self.offsets[tile + 1]
            if is_empty or any(span.start >= span.stop for span in shared):
                continue
            with np.load(self._patches(tile)) as stored:
                part = _read_labels(stored, inside(shared, self.tiling.window(tile)))
            before = np.int32(self.offsets[tile] - 1)
            here = result[inside(shared, window)]
            np.copyto(here, part.astype(np.int32) + before, where=part > 0)
        return result

    def write_regions(self, regions: NDArray[np.int32]) -> None:
        """Keep the label of the region that each patch belongs to, (patches,)."""
        np.save(self.folder / "regions.npy", np.append(regions, np.int32(0)))  # last, `OUTSIDE`

    def labels(self, window: Window) -> NDArray[np.int32]:
        """Return the labels of a window, (h, w)."""
        return np.asarray(self._regions[self.patches(window)])

    @cached_property
    def _regions(self) -> NDArray[np.int32]:
        return np.asarray(np.load(self.folder / "regions.npy"))

    def _pieces(self, tile: int) -> Path:
        return self.folder / f"pieces{tile}.npz"

    def _patches(self, tile: int) -> Path:
        return self.folder / f"patches{tile}.npz"


def _write_labels(path: Path, labels: NDArray[np.int32], others: dict[str, NDArray[Any]]) -> None:
    """Write labels, (h, w), of which rows can be read, and other arrays beside them."""
    small = labels.astype(np.uint16) if labels.max() < 2**16 else labels
    chunks = {
        str(k): small[first : first + CHUNK_ROWS]
        for k, first in enumerate(range(0, len(small), CHUNK_ROWS))
    }
    # Two processes may write it, if one of them was taken for dead: each a whole file.
    own = path.with_name(f"{path.stem}-{uuid.uuid4().hex}.npz")
    np.savez_compressed(own, **others, **chunks)  # type: ignore[arg-type]
    own.replace(path)


def _read_labels(stored: Mapping[str, NDArray[Any]], window: Window) -> NDArray[Any]:
    """Read a window of labels that `_write_labels` wrote."""
    rows, columns = window
    first, last = rows.start // CHUNK_ROWS, -(-rows.stop // CHUNK_ROWS)
    top = first * CHUNK_ROWS
    chunks = [stored[str(k)][:, columns] for k in range(first, last)]
    return np.concatenate(chunks)[rows.start - top : rows.stop - top]


def _overlap(one: slice, other: slice) -> bool:
    return bool(max(one.start, other.start) < min(one.stop, other.stop))
