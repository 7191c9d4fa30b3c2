"""Many images: one task an image, the same function alone or side by side in processes."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from functools import partial
from typing import Any

from pfeseg.engines.engine import Engine, Work
from pfeseg.errors import InvalidInputError
from pfeseg.files.georeference import read_band_means
from pfeseg.files.kinds import KINDS, Segmented
from pfeseg.files.map_units import describe_place
from pfeseg.files.raster import read_raster
from pfeseg.files.sizes import peek_size
from pfeseg.image.arrays import Raster
from pfeseg.run.plan import Task
from pfeseg.run.results import input_facts, write_kinds, write_results
from pfeseg.run.rows import Caught, Row, attempt, give_up
from pfeseg.run.tiled_results import segment_by_tiles
from pfeseg.run.tiles import OnTile
from pfeseg.run.volumes import segment_and_write_volume
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.segmentation.memory import estimate_memory, refuse_too_large
from pfeseg.segmentation.segment import segment
from pfeseg.segmentation.settings import Settings
from pfeseg.volumes.settings import VolumeSettings

NO_PLACE = "is not georeferenced, as a GeoPackage has to be; save geojson, which then has pixels"


def run_task(task: Task, threads: int | None = None, on_stage: OnStage | None = None) -> Row:
    """Segment one image and write its results.

    Never raises: a failure comes back as a row that says why.

    Parameters
    ----------
    task : Task
    threads : int, optional
        All processors unless given; never changes the results.
    on_stage : callable, optional
        Called with the name of each stage when it begins, "read" and "write" among them.
    """
    return attempt(task, lambda caught: _work_on(task, threads, on_stage, caught))


def run_tiled_task(
    task: Task, engine: Engine, threads: int | None = None, on_tile: OnTile | None = None
) -> Row:
    """Do as `run_task` with an image that is segmented by tiles, on an engine."""

    def work(caught: object) -> dict[str, Any]:
        regions, timings = segment_by_tiles(task, engine, threads, on_tile)
        return {"regions": regions, "timings": timings}

    return attempt(task, work)


def _work_on(
    task: Task, threads: int | None, on_stage: OnStage | None, caught: Caught
) -> dict[str, Any]:
    if isinstance(task.settings, VolumeSettings):
        regions, timings = segment_and_write_volume(task, threads, on_stage)
        return {"regions": regions, "timings": timings}
    return _segment_and_write(task, task.settings, threads, on_stage, caught)


def _segment_and_write(
    task: Task,
    settings: Settings,
    threads: int | None,
    on_stage: OnStage | None,
    caught: Caught,
) -> dict[str, Any]:
    clock, facts = Clock(on_stage), input_facts(task)
    source = task.source if task.content is None else task.content
    with clock("read"):
        image = _read(task, settings)
    result = segment(
        image, settings, hierarchy=task.needs_hierarchy, threads=threads, on_stage=on_stage
    )
    if caught:
        facts["warnings"] = [str(warning.message) for warning in caught]
    band_means = None
    if image.georeference is not None:
        facts |= describe_place(image.georeference)
        if image.n_bands > len(image.bands):
            band_means = partial(read_band_means, source, page=task.page or 0, name=task.full_name)
    of = Segmented(task.source, image, result, task.overlay_size, threads, band_means)
    timings = write_results(
        task, facts, clock, partial(write_kinds, task, of), result.report, result.timings
    )
    return {
        "regions": result.n_regions,
        "pieces": None if result.n_clusters is None else result.n_pieces,
        "next_steps": tuple(result.next_steps),
        "timings": timings,
    }


def _read(task: Task, settings: Settings) -> Raster:
    """Read an image, and refuse one whose segmentation would take too much memory."""
    image = read_raster(
        task.source if task.content is None else task.content,
        settings.stretch,
        settings.bands,
        page=task.page,
        allow_huge=task.allow_huge,
        mask=task.mask,
        nodata=task.nodata,
        name=task.full_name,
    )
    if image.georeference is None and any(KINDS[kind].needs_place for kind in task.results):
        raise InvalidInputError(NO_PLACE)
    refuse_too_large(
        image.shape,
        settings,
        task.memory_limit,
        task.needs_hierarchy,
        image=image,
        writing=task.bytes_to_write,
    )
    return image


def run_batch(
    tasks: Sequence[Task],
    engine: Engine,
    threads: int | None = None,
    on_stage: Callable[[Task, str], None] | None = None,
) -> Generator[Row, None, None]:
    """Run tasks on an engine and yield their rows as they are done.

    Where tasks run side by side, each computes with one thread unless `threads` says otherwise;
    the results do not depend on that. `on_stage` is told of each task and stage if all run in
    this process.
    """
    if engine.is_elsewhere:
        shared = tasks[0].settings if tasks else None
        work = Work(run_task, shared=shared, memory=_memory_of)
        return engine.run(work, [(task, threads or 1) for task in tasks], give_up)
    told = [on_stage and partial(on_stage, task) for task in tasks]
    calls = [(task, threads, tell) for task, tell in zip(tasks, told, strict=True)]
    return engine.run(Work(run_task), calls, give_up)


def _memory_of(task: Task, threads: int | None) -> float | None:
    """Return about how many bytes a task needs, where the size of its image can be told."""
    if isinstance(task.settings, VolumeSettings) or (size := peek_size(task.source)) is None:
        return None
    return estimate_memory(size, task.settings, task.needs_hierarchy, writing=task.bytes_to_write)
