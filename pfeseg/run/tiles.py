"""A large raster, segmented by tiles: never more than some tiles of it are in memory.

    1  look     how the whole raster is to be seen              (`pfeseg.run.look`)
    2  cut      each tile into pieces, with their hierarchy     (`pfeseg.run.sewing`)
    3  sew      seams between tiles, by what they share; which pieces touch, at which level
    4  link     pieces of all tiles into one hierarchy, which is cut (`pfeseg.regions.linkage`)
    5  write    the labels, block by block; the overlay and the table (`pfeseg.run.tiled_results`)

What lies between is in files beside the results, where all workers see them, and goes at the end.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from pfeseg.engines.engine import Engine
from pfeseg.engines.parts import run_parts
from pfeseg.errors import InvalidInputError, PfesegWarning, argument
from pfeseg.files.georeference import read_georeference
from pfeseg.files.masking import no_pixel_left
from pfeseg.files.pieces import Mosaic
from pfeseg.files.windows import open_windows
from pfeseg.image.tiling import Tiling
from pfeseg.labels.maps import consecutive
from pfeseg.regions.clean import absorb_small, min_pixels, neighbour_sets
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.linkage import Boundaries, link
from pfeseg.regions.merges import APART
from pfeseg.run.look import find_look
from pfeseg.run.plan import Task
from pfeseg.run.sewing import Measured, TiledImage, cut_tile, measure_tile, sew_row, trim_tile
from pfeseg.segmentation.clock import Clock
from pfeseg.segmentation.cuts import Clusters, Level, Regions
from pfeseg.segmentation.memory import refuse_too_large
from pfeseg.segmentation.settings import Settings

FINEST = 0.04
"""Level of the pieces into which tiles are cut at most; at most half that of the result, too."""

MAX_TILES = 1_000_000

OnTile = Callable[[str, int, int], None]
"""Told the stage, how many of its tiles or rows are done, and how many there are."""


@dataclass(frozen=True)
class Sewn:
    """The regions of a raster.

    Attributes
    ----------
    regions : (patches,) int32 array
        Label of each patch of the mosaic.
    n_regions, first_label : int
        As those of a `Segmentation`.
    counts : dict
        For the report: of patches, of regions that lie in several tiles, of masked pixels.
    """

    regions: NDArray[np.int32]
    n_regions: int
    first_label: int
    counts: dict[str, int]


def check_by_tiles(settings: Settings) -> None:
    """Refuse what has no meaning for a raster whose tiles are segmented one by one."""
    if isinstance(settings.resolved_cut, Clusters):
        raise InvalidInputError(
            f"{argument('tile')} cuts a hierarchy of regions, which reaches across tiles, and "
            f"clusters do not; give {argument('level')} or {argument('n_regions')}"
        )
    if settings.n_dims == "auto":
        raise InvalidInputError(
            f"{argument('tile')} takes one dimension for all tiles; give {argument('n_dims')} a "
            "number"
        )


def sew_raster(
    task: Task,
    folder: Path,
    engine: Engine,
    threads: int | None = None,
    on_tile: OnTile | None = None,
    clock: Clock | None = None,
) -> tuple[TiledImage, Sewn]:
    """Segment a raster by tiles, into files in a folder: its labels are those of the mosaic.

    Parameters
    ----------
    task : Task
        With the size of its tiles.
    folder : Path
        Which all workers of the engine see.
    engine : Engine
        Its workers make one tile each at a time; it never changes the results.
    threads : int, optional
        All processors unless given, or one for each of several workers.
    on_tile : callable, optional
    clock : Clock, optional
    """
    assert isinstance(task.settings, Settings)
    check_by_tiles(task.settings)
    threads = threads or (1 if engine.is_elsewhere else None)
    told, clock = on_tile or (lambda stage, done, total: None), clock or Clock()
    with clock("read"):
        of = _open(task, folder, engine)
    with clock("cut"):
        _cut(of, engine, threads, told)
    with clock("sew"):
        _sew(of, engine, told)
        measured = _measure(of, engine, told)
    with clock("link"):
        sewn = _link(of, measured)
        of.mosaic.write_regions(sewn.regions)
    return of, sewn


def _open(task: Task, folder: Path, engine: Engine) -> TiledImage:
    """Open a raster and find how it is to be seen."""
    assert task.tile is not None
    settings = task.settings
    assert isinstance(settings, Settings)
    image = open_windows(
        task.source,
        folder,
        page=task.page or 0,
        allow_huge=task.allow_huge,
        mask=task.mask,
        nodata=task.nodata,
        bands=settings.bands,
    )
    _refuse_too_many(image.shape, task)
    tiling = Tiling.of(image.shape, task.tile)
    rows, columns = tiling.window(0)
    refuse_too_large((rows.stop, columns.stop), settings, task.memory_limit)
    place = read_georeference(task.source, image.shape, page=task.page or 0, name=str(task.source))
    model = replace(find_look(image, settings, task.tile, engine), georeference=place)
    cut = settings.resolved_cut
    finest = min(FINEST, cut.level / 2) if isinstance(cut, Level) else FINEST
    return TiledImage(image, model, Mosaic(folder, tiling), settings, finest)


def _refuse_too_many(shape: tuple[int, int], task: Task) -> None:
    """Refuse what a small file can claim, and nobody has."""
    assert task.tile is not None
    height, width = shape
    count = -(-height // task.tile) * -(-width // task.tile)
    if count > MAX_TILES:
        raise InvalidInputError(
            f"{task.source}: {width} x {height} pixels are at least {count} tiles, more than "
            f"{MAX_TILES}; give larger ones with {argument('tile')} if the size is right"
        )


def _cut(of: TiledImage, engine: Engine, threads: int | None, told: OnTile) -> None:
    """Cut all tiles into pieces."""
    n = len(of.mosaic.tiling)
    there, warned = [False] * n, dict[str, int]()
    calls = [(tile, of, threads) for tile in range(n)]
    told("tiles", 0, n)
    for done, (tile, has_pieces, messages) in enumerate(run_parts(engine, cut_tile, calls, of)):
        there[tile] = has_pieces
        for message in messages:
            warned[message] = warned.get(message, 0) + 1
        told("tiles", done + 1, n)
    if not any(there):
        raise no_pixel_left(str(of.image.pixels.path))
    of.mosaic.write_cut(there)
    for message, times in sorted(warned.items()):
        warnings.warn(PfesegWarning(f"{message} (in {times} of {n} tiles)"), stacklevel=2)


def _sew(of: TiledImage, engine: Engine, told: OnTile) -> None:
    """Find the seams between all tiles."""
    tiling = of.mosaic.tiling
    n_rows, n_columns = len(tiling.rows), len(tiling.columns)
    upright = np.zeros((n_rows, n_columns - 1, tiling.rows[0].stop), dtype=np.int32)
    level = np.zeros((n_rows, tiling.shape[1]), dtype=np.int32)
    calls = [(row, of.mosaic) for row in range(n_rows)]
    for done, (row, found, below) in enumerate(run_parts(engine, sew_row, calls, of.mosaic)):
        upright[row], level[row] = found, below
        told("seams", done + 1, n_rows)
    of.mosaic.write_seams(upright, level[:-1])


def _measure(of: TiledImage, engine: Engine, told: OnTile) -> list[Measured]:
    """Cut all tiles along their seams, and measure the patches and the boundaries between them."""
    n = len(of.mosaic.tiling)
    trims = [(tile, of.mosaic) for tile in range(n)]
    counts = dict(run_parts(engine, trim_tile, trims, of.mosaic))
    of.mosaic.write_offsets([counts[tile] for tile in range(n)])
    calls = [(tile, of) for tile in range(n)]
    found: dict[int, Measured] = {}
    for done, (tile, measured) in enumerate(run_parts(engine, measure_tile, calls, of)):
        found[tile] = measured
        told("regions", done + 1, n)
    return [found[tile] for tile in range(n)]


def _link(of: TiledImage, measured: list[Measured]) -> Sewn:
    """Merge the pieces of all tiles, and number the regions by their first pixels."""
    sizes = np.concatenate([m.sizes for m in measured])
    order = np.argsort(np.concatenate([m.first for m in measured]), kind="stable")
    number = np.empty(len(sizes), dtype=np.int64)
    number[order] = np.arange(len(sizes))
    joined = Boundaries.joined([m.boundaries for m in measured])
    boundaries = Boundaries(number[joined.pairs], joined.lengths, joined.sums)
    owner = _cut_tree(link(boundaries, len(sizes)), of.settings)
    if of.settings.min_region:
        colours = np.concatenate([m.colours for m in measured if len(m.colours)])
        owner = _without_small(of, owner, sizes[order], colours[order], boundaries)
    n_pixels = of.image.shape[0] * of.image.shape[1]
    first_label = int(sizes.sum() < n_pixels)
    regions = (owner + np.int32(first_label))[number]
    tiles = np.repeat(np.arange(len(measured)), [len(m.sizes) for m in measured])
    seen = np.unique(np.stack([regions, tiles], axis=1), axis=0)[:, 0] - first_label
    n_regions = int(owner.max()) + 1
    counts = {
        "patches": len(sizes),
        "regions_across_tiles": int((np.bincount(seen, minlength=n_regions) > 1).sum()),
        "masked_pixels": n_pixels - int(sizes.sum()),
    }
    return Sewn(regions, n_regions, first_label, counts)


def _cut_tree(tree: Hierarchy, settings: Settings) -> NDArray[np.int32]:
    """Return the region that each patch belongs to, (patches,)."""
    cut = settings.resolved_cut
    if isinstance(cut, Regions):
        apart = int((tree.levels >= APART).sum()) + 1  # by the mask
        return tree.grouped(max(cut.n_regions, apart))
    assert isinstance(cut, Level)
    return np.asarray(tree.cut(cut.level)[0])


def _without_small(
    of: TiledImage,
    owner: NDArray[np.int32],
    sizes: NDArray[np.int64],
    colours: NDArray[np.float64],
    boundaries: Boundaries,
) -> NDArray[np.int32]:
    """Absorb small regions as `clean_regions` does; returns the region of each patch."""
    n = int(owner.max()) + 1
    areas = np.bincount(owner, sizes, minlength=n).astype(int).tolist()
    sums = np.zeros((n, colours.shape[1]))
    np.add.at(sums, owner, colours)
    pairs = np.unique(np.sort(owner[boundaries.pairs], axis=1), axis=0)
    neighbours = neighbour_sets(pairs[pairs[:, 0] != pairs[:, 1]], n)
    smallest = min_pixels(of.settings.min_region, of.image.shape[0] * of.image.shape[1])
    return consecutive(absorb_small(areas, sums, neighbours, smallest)[owner])
