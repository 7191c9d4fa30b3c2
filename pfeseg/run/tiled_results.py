"""The results of a raster that is segmented by tiles: never all of it is in memory."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.engines.engine import Engine
from pfeseg.files.beside import style_of
from pfeseg.files.kinds import REPORT
from pfeseg.files.labels import BLOCK, write_label_blocks
from pfeseg.files.map_units import describe_place, map_areas, map_columns
from pfeseg.files.regions import regions_csv
from pfeseg.files.replacing import scratch_folder
from pfeseg.files.style import qgis_style
from pfeseg.files.writing import write_picture, write_text
from pfeseg.image.georeference import Georeference
from pfeseg.run.plan import Task
from pfeseg.run.results import input_facts, write_results
from pfeseg.run.sewing import TiledImage
from pfeseg.run.survey import look_again
from pfeseg.run.tiles import OnTile, Sewn, sew_raster
from pfeseg.segmentation.clock import Clock
from pfeseg.segmentation.cuts import Level

AT_A_TIME = 4096
"""Columns of the label map that are put together at a time."""


def segment_by_tiles(
    task: Task, engine: Engine, threads: int | None = None, on_tile: OnTile | None = None
) -> tuple[int, dict[str, float]]:
    """Segment a raster by tiles and write its results; returns its regions, and seconds by stage.

    The parameters are those of `sew_raster`.
    """
    beside = task.results[REPORT].parent
    beside.mkdir(parents=True, exist_ok=True)
    clock, facts = Clock(), input_facts(task)
    with scratch_folder(beside) as folder:
        of, sewn = sew_raster(task, folder, engine, threads, on_tile, clock)
        timings = write_results(
            task, facts, clock, partial(_write, task, of, sewn, engine), partial(_report, of, sewn)
        )
    return sewn.n_regions, timings


def _write(task: Task, of: TiledImage, sewn: Sewn, engine: Engine) -> None:
    """Write all results but the report."""
    place = of.model.georeference
    is_styled = place is not None and "labels" in task.results
    if "labels" in task.results:
        shape, largest = of.image.shape, sewn.n_regions - 1 + sewn.first_label
        blocks = (block.astype(np.uint32) for _, block in _blocks(of))
        # Whether anything lies outside is known of the whole only now.
        whole = replace(of.model, mask=np.zeros((1, 1), dtype=bool) if sewn.first_label else None)
        write_label_blocks(task.results["labels"], shape, blocks, largest, whole)
    if not (is_styled or {"overlay", "regions"} & set(task.results)):
        return
    assert task.tile is not None
    seen = look_again(of, task.tile, task.overlay_size, "regions" in task.results, engine)
    if is_styled:
        style = qgis_style(seen.labels, sewn.first_label)
        write_text(style_of(task.results["labels"]), style)
    if "overlay" in task.results:
        write_picture(task.results["overlay"], seen.picture)
    if seen.sums is not None:
        rows = seen.sums.rows(of.model, sewn.first_label)
        if place is not None:
            columns = map_columns(rows, _map_areas(of, place, sewn), place)
            rows = [row | added for row, added in zip(rows, columns, strict=True)]
        write_text(task.results["regions"], regions_csv(rows))


def _blocks(of: TiledImage) -> Iterator[tuple[int, NDArray[np.int32]]]:
    """Yield the labels of the raster by blocks of rows, and where they begin."""
    height, width = of.image.shape
    for first in range(0, height, BLOCK):
        rows = slice(first, min(first + BLOCK, height))
        strip = np.empty((rows.stop - first, width), dtype=np.int32)
        for left in range(0, width, AT_A_TIME):
            columns = slice(left, min(left + AT_A_TIME, width))
            strip[:, columns] = of.mosaic.labels((rows, columns))
        yield first, strip


def _map_areas(of: TiledImage, place: Georeference, sewn: Sewn) -> NDArray[np.float64]:
    """Measure the area of each label in units of the map."""
    areas = np.zeros(sewn.n_regions + sewn.first_label)
    for first, block in _blocks(of):
        found = map_areas(block, place.from_row(first))
        areas[: len(found)] += found
    return areas


def _report(of: TiledImage, sewn: Sewn) -> dict[str, Any]:
    """Return what the report tells of the result."""
    (black, white), tiling = of.model.ends, of.mosaic.tiling
    cut = of.settings.resolved_cut
    counts = dict(sewn.counts)
    masked = counts.pop("masked_pixels")
    rows, columns = tiling.window(0)
    return {
        "settings": of.settings.to_dict(),
        "image_size": [int(side) for side in tiling.shape[::-1]],
        "black": black,
        "white": white,
        "bands": list(of.model.bands),
        "bands_in_image": of.model.n_bands,
        **({"masked_pixels": masked} if masked else {}),
        "first_label": sewn.first_label,
        **(describe_place(of.model.georeference) if of.model.georeference else {}),
        "tiles": {
            "overlap": tiling.overlap,
            "tile_size": [columns.stop, rows.stop],
            "columns": len(tiling.columns),
            "rows": len(tiling.rows),
            **counts,
        },
        "level": cut.level if isinstance(cut, Level) else None,
        "regions": sewn.n_regions,
    }
