"""The pieces of all tiles on disk, and the mosaic that they make.

Every tile is cut into pieces on its own. Seams say which tile owns a pixel where several overlap;
what a window of the whole image looks like is put together from the tiles that own some of it.
Pieces of all tiles are numbered one after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.tiling import Tiling, Window, inside, meet
from pfeseg.regions.hierarchy import Hierarchy, complete
from pfeseg.regions.seams import Pieces

CHUNK_ROWS = 128
"""Rows of labels that are compressed together."""

OUTSIDE = -1
"""What a mosaic has where the image is masked."""


def write_pieces(folder: Path, tile: int, tree: Hierarchy) -> int:
    """Write the finest regions of a hierarchy as the pieces of a tile; returns their number."""
    n = len(tree.merges) + 1
    shift = np.int32(tree.outside is None)  # 0 is what lies outside, even if nothing does
    merges, levels = tree.merges + shift, tree.levels
    if shift:
        merges, levels = complete(merges, levels, n + 1)
    labels = (tree.base + shift).astype(np.uint16 if n < 2**16 else np.int32)
    chunks = {
        str(k): labels[first : first + CHUNK_ROWS]
        for k, first in enumerate(range(0, len(labels), CHUNK_ROWS))
    }
    path = _tile_path(folder, tile)
    np.savez_compressed(path, merges=merges, levels=levels, **chunks)  # type: ignore[arg-type]
    return len(merges)


@dataclass(frozen=True, eq=False)
class Mosaic:
    """An image put together from the pieces of its tiles.

    Attributes
    ----------
    folder : Path
        Where `write_pieces` wrote them.
    tiling : Tiling
    """

    folder: Path
    tiling: Tiling

    def __reduce__(self) -> tuple[Any, ...]:
        return Mosaic, (self.folder, self.tiling)  # processes read the rest themselves

    def pieces(self, tile: int, window: Window) -> Pieces | None:
        """Read what a tile has in a window of the image that it covers; None for masked tiles."""
        path = _tile_path(self.folder, tile)
        if not path.exists():
            return None
        rows, columns = inside(window, self.tiling.window(tile))
        first = rows.start // CHUNK_ROWS
        with np.load(path) as stored:
            chunks = [stored[str(k)][:, columns] for k in range(first, -(-rows.stop // CHUNK_ROWS))]
            top = first * CHUNK_ROWS
            labels = np.concatenate(chunks)[rows.start - top : rows.stop - top]
            return Pieces(labels, stored["merges"], stored["levels"])

    def write_offsets(self, counts: list[int]) -> None:
        """Keep how many pieces each tile has."""
        np.save(self.folder / "offsets.npy", np.cumsum([0, *counts]))

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

    def write_regions(self, regions: NDArray[np.int32]) -> None:
        """Keep the label of the region that each piece belongs to, (pieces,)."""
        np.save(self.folder / "regions.npy", np.append(regions, np.int32(0)))  # last, `OUTSIDE`

    def labels(self, window: Window) -> NDArray[np.int32]:
        """Return the labels of a window, (h, w)."""
        return np.asarray(self._regions[self.compose(window)])

    @cached_property
    def _regions(self) -> NDArray[np.int32]:
        return np.asarray(np.load(self.folder / "regions.npy"))

    @cached_property
    def offsets(self) -> NDArray[np.int64]:
        """How many pieces there are before those of each tile, and in all."""
        return np.asarray(np.load(self.folder / "offsets.npy"))

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

    def compose(self, window: Window, owners: NDArray[np.int32] | None = None) -> NDArray[np.int32]:
        """Return the piece at each pixel of a window, (h, w), or `OUTSIDE`."""
        owners = self.owners(window) if owners is None else owners
        result = np.full(owners.shape, OUTSIDE, dtype=np.int32)
        for tile in np.flatnonzero(np.bincount(owners.ravel())).tolist():
            shared = meet(self.tiling.window(tile), window)
            here = inside(shared, window)
            found = self.pieces(tile, shared)
            if found is not None:
                counted = found.labels.astype(np.int32) + np.int32(self.offsets[tile] - 1)
                mine = (owners[here] == tile) & (found.labels > 0)
                np.copyto(result[here], counted, where=mine)
        return result


def _overlap(one: slice, other: slice) -> bool:
    return bool(max(one.start, other.start) < min(one.stop, other.stop))


def _tile_path(folder: Path, tile: int) -> Path:
    return folder / f"tile{tile}.npz"
