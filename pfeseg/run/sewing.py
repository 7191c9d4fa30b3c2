"""What is done with each tile of a raster: cut it, sew it to its neighbours, measure its patches.

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
from pfeseg.files.pieces import OUTSIDE, Mosaic
from pfeseg.files.windows import WindowedImage
from pfeseg.image.arrays import Raster
from pfeseg.image.neighbours import neighbours_at
from pfeseg.image.tiling import Window
from pfeseg.labels.maps import SIDES
from pfeseg.regions.linkage import Boundaries
from pfeseg.regions.merges import merge_levels
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
        Those between its patches and others, across seams too; each pixel edge belongs to the tile
        of its left or upper pixel.
    sizes : (patches,) array
        Pixels of each patch of the tile.
    first : (patches,) array
        Number of the first of them in the raster, row by row.
    colours : (patches, c) array
        Sums of the colours, in units of CIELAB; of no columns unless asked for.
    """

    boundaries: Boundaries
    sizes: IntArray
    first: IntArray
    colours: FloatArray


def cut_tile(tile: int, of: TiledImage, threads: int | None) -> tuple[int, bool, tuple[str, ...]]:
    """Cut a tile into pieces; returns it, whether it has any, and what was warned of."""
    window = of.mosaic.tiling.window(tile)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PfesegWarning)
        try:
            raster = of.image.raster(window, of.model)
            if raster is None:
                return tile, False, ()
            tree = segment(raster, of.settings, hierarchy=True, threads=threads).hierarchy
        except InvalidInputError as error:
            raise InvalidInputError(f"{_place(window)}: {error.marked}") from error
    assert tree is not None
    messages = tuple(w.message.marked for w in caught if isinstance(w.message, PfesegWarning))
    of.mosaic.write_pieces(tile, tree.pruned(of.piece_level))
    return tile, True, messages


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


def trim_tile(tile: int, mosaic: Mosaic) -> tuple[int, int]:
    """Cut a tile along its seams; returns it, and how many patches are left."""
    return tile, mosaic.write_patches(tile)


def measure_tile(tile: int, of: TiledImage) -> tuple[int, Measured]:
    """Measure the patches of a tile and all boundaries that begin in it."""
    mosaic, window = of.mosaic, of.mosaic.tiling.window(tile)
    first, last = mosaic.offsets[tile : tile + 2].tolist()
    n = last - first
    if not n:
        nothing = np.zeros(0, dtype=np.int64)
        no_boundaries = Boundaries(np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))
        return tile, Measured(no_boundaries, nothing, nothing, np.zeros((0, 0)))
    patches = mosaic.patches(window)
    mine = (first <= patches) & (patches < last)
    numbers = np.where(mine, patches - np.int32(first), np.int32(n))
    places = np.flatnonzero(mine)[::-1]
    y, x = np.divmod(places, mine.shape[1])
    earliest = np.zeros(n, dtype=np.int64)
    # Of several values, the last stays.
    earliest[numbers.ravel()[places]] = (
        (window[0].start + y) * mosaic.tiling.shape[1] + window[1].start + x
    )
    colours = np.zeros((n, 0))
    if of.settings.min_region:
        colours = _sum_colours(of, window, numbers, n)
    return tile, Measured(
        _find_boundaries(mosaic, tile, patches, mine),
        np.bincount(numbers.ravel(), minlength=n + 1)[:n],
        earliest,
        colours,
    )


def _find_boundaries(
    mosaic: Mosaic, tile: int, patches: NDArray[np.int32], mine: NDArray[np.bool_]
) -> Boundaries:
    """Find the boundaries between the patches of a tile, and between them and others."""
    edges = []
    for step in SIDES:
        here, there = neighbours_at(patches, *step)
        counted = neighbours_at(mine, *step)[0] & (here != there) & (there != OUTSIDE)
        edges.append(np.stack([here[counted], there[counted]], axis=1))
    pairs, counts = np.unique(np.concatenate(edges), axis=0, return_counts=True)
    pairs = pairs.astype(np.int64)
    tiles = np.searchsorted(mosaic.offsets, pairs[:, 1], side="right") - 1
    levels = np.zeros(len(pairs))
    for other in np.unique(tiles).tolist():
        theirs = tiles == other
        a, b = (
            mosaic.piece_of(owner)[pairs[theirs, k] - mosaic.offsets[owner]]
            for k, owner in enumerate((tile, other))
        )
        levels[theirs] = _levels_between(mosaic, tile, other, a, b)
    return Boundaries(np.sort(pairs, axis=1), counts.astype(float), counts * levels)


def _levels_between(
    mosaic: Mosaic, tile: int, other: int, first: NDArray[np.int32], second: NDArray[np.int32]
) -> FloatArray:
    """Return the levels between some pieces of a tile and of the same or another."""
    if tile == other:
        own = mosaic.pieces(tile, mosaic.tiling.window(tile))
        assert own is not None
        return merge_levels(own.merges, own.levels, first, second)
    overlap = _overlap(mosaic, tile, other)
    assert overlap is not None
    return overlap.apart(first, second)


def _overlap(mosaic: Mosaic, one: int, other: int) -> Overlap | None:
    """Return what two neighbouring tiles say of what they share; None if one is masked."""
    shared = mosaic.tiling.shared(one, other)
    first, second = mosaic.pieces(one, shared), mosaic.pieces(other, shared)
    return None if first is None or second is None else Overlap(first, second)


def _disagreement(mosaic: Mosaic, one: int, other: int) -> FloatArray:
    """Tell how two neighbouring tiles disagree in what they share, (h, w)."""
    overlap = _overlap(mosaic, one, other)
    if overlap is None:
        rows, columns = mosaic.tiling.shared(one, other)
        return np.zeros((rows.stop - rows.start, columns.stop - columns.start))
    return overlap.disagreement()


def _sum_colours(of: TiledImage, window: Window, numbers: NDArray[np.int32], n: int) -> FloatArray:
    """Sum the colours of the patches 0 ... n - 1 of a tile; n stands for all else."""
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
