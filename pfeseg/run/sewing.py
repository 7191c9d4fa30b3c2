"""What is done with each tile of a raster: cut it, sew it to its neighbours, measure its pieces.

All are functions of a module, of small arguments, so that other processes can call them; what is
large lies in files between them.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.errors import InvalidInputError, PfesegWarning
from pfeseg.files.pieces import OUTSIDE, Mosaic, write_pieces
from pfeseg.files.windows import WindowedImage
from pfeseg.image.arrays import Raster, neighbours_at
from pfeseg.image.tiling import Window, inside
from pfeseg.labels.maps import SIDES
from pfeseg.regions.hierarchy import merge_levels
from pfeseg.regions.linkage import Boundaries
from pfeseg.regions.seams import Overlap, find_seam
from pfeseg.segmentation.segment import segment
from pfeseg.segmentation.settings import Settings

FloatArray = NDArray[np.float64]
IntArray = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class TiledImage:
    """A raster, how it is seen, and its tiles.

    Attributes
    ----------
    image : WindowedImage
    model : Raster
        What each tile is like.
    mosaic : Mosaic
    settings : Settings
    piece_level : float
        Of the hierarchies of tiles: what is finer is settled by each tile for itself.
    """

    image: WindowedImage
    model: Raster
    mosaic: Mosaic
    settings: Settings
    piece_level: float


@dataclass(frozen=True, eq=False)
class Measured:
    """What is known of the pixels that one tile owns.

    Attributes
    ----------
    boundaries : Boundaries
        Those between its pieces and others, across seams too; each pixel edge belongs to the tile
        of its left or upper pixel.
    sizes : (pieces,) array
        Pixels of each piece of the tile.
    first : (pieces,) array
        Number of the first of them in the raster, row by row.
    colours : (pieces, c) array
        Sums of the colours, in units of CIELAB; of no columns unless asked for.
    """

    boundaries: Boundaries
    sizes: IntArray
    first: IntArray
    colours: FloatArray


def cut_tile(tile: int, of: TiledImage, threads: int | None) -> tuple[int, int, tuple[str, ...]]:
    """Segment a tile and write its pieces; returns it, their number, and what was warned of."""
    window = of.mosaic.tiling.window(tile)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PfesegWarning)
        try:
            raster = of.image.raster(window, of.model)
            if raster is None:
                return tile, 0, ()
            tree = segment(raster, of.settings, hierarchy=True, threads=threads).hierarchy
        except InvalidInputError as error:
            raise InvalidInputError(f"{_place(window)}: {error.marked}") from error
    assert tree is not None
    messages = tuple(w.message.marked for w in caught if isinstance(w.message, PfesegWarning))
    return tile, write_pieces(of.mosaic.folder, tile, tree.pruned(of.piece_level)), messages


def sew_row(row: int, mosaic: Mosaic) -> tuple[int, NDArray[np.int32], NDArray[np.int32]]:
    """Find the seams between the tiles of a row, and those between them and the next row.

    Returns
    -------
    int
        The row.
    (columns - 1, height) int32 array, (W,) int32 array
        As `Mosaic.write_seams` takes them, of this row; no level seams below the last.
    """
    tiling = mosaic.tiling
    columns = len(tiling.columns)
    height = tiling.rows[row].stop - tiling.rows[row].start
    upright = np.zeros((columns - 1, height), dtype=np.int32)
    level = np.zeros(tiling.shape[1], dtype=np.int32)
    for column in range(columns):
        tile = row * columns + column
        if column + 1 < columns:
            shared = tiling.shared(tile, tile + 1)
            upright[column] = shared[1].start + find_seam(_disagreement(mosaic, tile, tile + 1))
        if row + 1 < len(tiling.rows):
            below = tile + columns
            rows, across = tiling.shared(tile, below)
            start = None
            if column:  # goes on from the middle of what is shared with the tile to the left
                left = tiling.columns[column - 1].stop
                across = slice((across.start + left) // 2, across.stop)
                start = int(level[across.start - 1]) - rows.start
            found = _disagreement(mosaic, tile, below)[:, across.start - across.stop :]
            level[across] = rows.start + find_seam(found.T, start)
    return row, upright, level


def measure_tile(tile: int, of: TiledImage) -> tuple[int, Measured]:
    """Measure the pieces of a tile and all boundaries that begin in it."""
    mosaic, window = of.mosaic, of.mosaic.tiling.window(tile)
    first, last = mosaic.offsets[tile : tile + 2].tolist()
    owners = mosaic.owners(window)
    pieces = mosaic.compose(window, owners)
    mine = (owners == tile) & (pieces != OUTSIDE)
    if not mine.any():
        nothing = np.zeros(last - first, dtype=np.int64)
        empty = Boundaries(np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))
        return tile, Measured(empty, nothing, nothing, np.zeros((last - first, 0)))
    boundaries = _find_boundaries(mosaic, tile, owners, pieces, mine)

    local = pieces[mine] - first
    sizes = np.bincount(local, minlength=last - first)
    places = np.flatnonzero(mine)[::-1]
    y, x = np.divmod(places, mine.shape[1])
    numbers = (window[0].start + y) * mosaic.tiling.shape[1] + window[1].start + x
    earliest = np.zeros(last - first, dtype=np.int64)
    earliest[local[::-1]] = numbers  # of several values, the last stays
    colours = np.zeros((last - first, 0))
    if of.settings.min_region:
        numbers = np.where(mine, pieces - first, last - first).astype(np.int32)
        colours = _sum_colours(of, window, numbers, last - first)
    return tile, Measured(boundaries, sizes, earliest, colours)


def _find_boundaries(
    mosaic: Mosaic,
    tile: int,
    owners: NDArray[np.int32],
    pieces: NDArray[np.int32],
    mine: NDArray[np.bool_],
) -> Boundaries:
    """Find the boundaries between the pieces of a tile, and between them and others."""
    edges = []
    for step in SIDES:
        here, there = neighbours_at(pieces, *step)
        counted = neighbours_at(mine, *step)[0] & (here != there) & (there != OUTSIDE)
        edges.append(
            np.stack(
                [here[counted], there[counted], neighbours_at(owners, *step)[1][counted]], axis=1
            )
        )
    kinds, counts = np.unique(np.concatenate(edges), axis=0, return_counts=True)
    kinds = kinds.astype(np.int64)
    levels = np.zeros(len(kinds))
    window, tiling = mosaic.tiling.window(tile), mosaic.tiling
    for other in np.unique(kinds[:, 2]).tolist():
        shared = window if other == tile else tiling.shared(tile, other)
        theirs = kinds[:, 2] == other
        a = kinds[theirs, 0] - mosaic.offsets[tile] + 1
        b = kinds[theirs, 1] - mosaic.offsets[other] + 1
        one = mosaic.pieces(tile, shared)
        assert one is not None
        if other == tile:
            levels[theirs] = merge_levels(one.merges, one.levels, a, b)
        else:
            two = mosaic.pieces(other, shared)
            assert two is not None
            levels[theirs] = Overlap(one, two).apart(a, b)
    return Boundaries(np.sort(kinds[:, :2], axis=1), counts.astype(float), counts * levels)


def _disagreement(mosaic: Mosaic, one: int, other: int) -> FloatArray:
    """Tell how two neighbouring tiles disagree in what they share, (h, w)."""
    shared = mosaic.tiling.shared(one, other)
    first, second = mosaic.pieces(one, shared), mosaic.pieces(other, shared)
    if first is None or second is None:
        rows, columns = inside(shared, shared)
        return np.zeros((rows.stop, columns.stop))
    return Overlap(first, second).disagreement()


def _sum_colours(of: TiledImage, window: Window, numbers: NDArray[np.int32], n: int) -> FloatArray:
    """Sum the colours of the pieces 0 ... n - 1 of a tile; n stands for all else."""
    raster = of.image.raster(window, of.model)
    assert raster is not None
    if raster.kind == "components":
        sums = kernels.region_sums(numbers, n + 1, raster.lab())
    else:
        sums = kernels.lab_sums(numbers, n + 1, raster.values, raster.black, raster.white)
    return sums[:n]


def _place(window: Window) -> str:
    rows, columns = window
    return (
        f"the tile at rows {rows.start} to {rows.stop - 1}, columns {columns.start} to "
        f"{columns.stop - 1}"
    )
