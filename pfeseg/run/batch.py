"""Many images: one task an image, the same function alone or side by side in processes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal

from pfeseg.engines.engine import Call, Engine, Work
from pfeseg.errors import InvalidInputError, PfesegWarning, failure, given_up
from pfeseg.files.georeference import read_band_means
from pfeseg.files.kinds import KINDS, REPORT, Segmented
from pfeseg.files.map_units import describe_place
from pfeseg.files.raster import read_raster
from pfeseg.files.replacing import appearing_together
from pfeseg.files.sizes import peek_size
from pfeseg.run.plan import Task
from pfeseg.run.resume import input_facts, told_files
from pfeseg.run.tiles import OnTile, segment_by_tiles
from pfeseg.run.volumes import segment_and_write_volume
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.segmentation.memory import estimate_memory, refuse_too_large
from pfeseg.segmentation.segment import segment
from pfeseg.segmentation.settings import Settings
from pfeseg.volumes.settings import VolumeSettings

NO_PLACE = "is not georeferenced, as a GeoPackage has to be; save geojson, which then has pixels"


@dataclass(frozen=True)
class Row:
    """What became of one image, or of one file of data.

    Attributes
    ----------
    input : str
    status : {"done", "failed", "skipped"}
    error : str or None
        Why it failed, in one line; arguments are marked in it and in `warnings`, as
        `pfeseg.errors` says.
    regions, clusters : int or None
    pieces : int or None
        Connected pieces in which clusters of pixels lie.
    next_steps : tuple of int
        Other numbers of regions to look at.
    note : str
        What else to say of it, arguments marked.
    results, timings : dict
        Path of each kind of result that was written, and seconds by stage, "read" first and
        "write" last.
    warnings : tuple of str
    seconds : float
        From start to end, files included.
    """

    input: str
    status: Literal["done", "failed", "skipped"]
    error: str | None = None
    regions: int | None = None
    pieces: int | None = None
    next_steps: tuple[int, ...] = ()
    clusters: int | None = None
    note: str = ""
    results: dict[str, str] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, as plain values."""
        values = asdict(self)
        return {name: value for name, value in values.items() if value not in (None, {}, (), "")}


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
    return _told(task, lambda name, caught: _work_on(task, name, threads, on_stage, caught))


def run_tiled_task(
    task: Task, jobs: int = 1, threads: int | None = None, on_tile: OnTile | None = None
) -> Row:
    """Do as `run_task` with an image that is segmented by tiles, in `jobs` processes."""

    def work(name: str, caught: object) -> dict[str, Any]:
        regions, timings = segment_by_tiles(task, jobs, threads, on_tile)
        return {"regions": regions, "timings": timings}

    return _told(task, work)


def _told(
    task: Task, work: Callable[[str, Sequence[warnings.WarningMessage]], dict[str, Any]]
) -> Row:
    """Do the work on an image, which returns what its row tells, and tell how it went.

    The work is given the name of the image, and the warnings that there are so far.
    """
    started = time.perf_counter()
    name = "standard input" if task.content is not None else str(task.source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PfesegWarning)
        try:
            fields = work(name, caught)
        except Exception as error:
            row = Row(str(task.source), "failed", failure(error, name))
        else:
            row = Row(
                str(task.source),
                "done",
                **fields,
                results={kind: str(path) for kind, path in task.results.items()},
            )
    messages = tuple(
        f"{name}: {warning.message.marked}"
        for warning in caught
        if isinstance(warning.message, PfesegWarning)
    )
    return replace(row, warnings=messages, seconds=round(time.perf_counter() - started, 3))


def _work_on(
    task: Task,
    name: str,
    threads: int | None,
    on_stage: OnStage | None,
    caught: Sequence[warnings.WarningMessage],
) -> dict[str, Any]:
    if isinstance(task.settings, VolumeSettings):
        regions, timings = segment_and_write_volume(task, name, threads, on_stage)
        return {"regions": regions, "timings": timings}
    return _segment_and_write(task, task.settings, name, threads, on_stage, caught)


def _segment_and_write(
    task: Task,
    settings: Settings,
    name: str,
    threads: int | None,
    on_stage: OnStage | None,
    caught: Sequence[warnings.WarningMessage],
) -> dict[str, Any]:
    clock, facts = Clock(on_stage), input_facts(task)
    source = task.source if task.content is None else task.content
    with clock("read"):
        image = read_raster(
            source,
            settings.stretch,
            settings.bands,
            page=task.page,
            allow_huge=task.allow_huge,
            mask=task.mask,
            nodata=task.nodata,
            name=name,
        )
    if image.georeference is None and any(KINDS[kind].needs_place for kind in task.results):
        raise InvalidInputError(NO_PLACE)
    wants_tree = any(KINDS[kind].needs_hierarchy for kind in task.results)
    refuse_too_large(
        image.shape,
        settings,
        task.memory_limit,
        wants_tree,
        image=image,
        writing=max(KINDS[kind].bytes_per_pixel for kind in task.results),
    )
    result = segment(image, settings, hierarchy=wants_tree, threads=threads, on_stage=on_stage)

    if caught:
        facts["warnings"] = [str(warning.message) for warning in caught]
    band_means = None
    if image.georeference is not None:
        facts |= describe_place(image.georeference)
        if image.n_bands > len(image.bands):
            band_means = partial(read_band_means, source, page=task.page or 0, name=name)

    def segmented(files: dict[str, float], told: dict[str, Any]) -> Segmented:
        timings = {"read": files["read"]} | result.timings | files  # "write" comes last
        rounded = {stage: round(seconds, 4) for stage, seconds in timings.items()}
        return Segmented(
            task.source,
            image,
            result,
            rounded,
            task.overlay_size,
            threads,
            told,
            band_means,
        )

    with appearing_together(task.replaces) as made:
        with clock("write"):
            unwritten = segmented(clock.seconds, facts)
            for kind, path in task.results.items():
                if kind != REPORT:
                    KINDS[kind].write(path, unwritten)
        done = segmented(clock.seconds, facts | told_files(task, made))
        if REPORT in task.results:  # the last, as it tells how long all took and that all is done
            KINDS[REPORT].write(task.results[REPORT], done)
    return {
        "regions": result.n_regions,
        "pieces": None if result.n_clusters is None else result.n_pieces,
        "next_steps": tuple(result.next_steps),
        "timings": done.timings,
    }


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
        return engine.run(work, [(task, threads or 1) for task in tasks], _give_up)
    told = [on_stage and partial(on_stage, task) for task in tasks]
    calls = [(task, threads, tell) for task, tell in zip(tasks, told, strict=True)]
    return engine.run(Work(run_task), calls, _give_up)


def _memory_of(task: Task, threads: int | None) -> float | None:
    """Return about how many bytes a task needs, where the size of its image can be told."""
    if isinstance(task.settings, VolumeSettings) or (size := peek_size(task.source)) is None:
        return None
    wants_tree = any(KINDS[kind].needs_hierarchy for kind in task.results)
    writing = max(KINDS[kind].bytes_per_pixel for kind in task.results)
    return estimate_memory(size, task.settings, wants_tree, writing=writing)


def _give_up(call: Call, reason: str) -> Row:
    source = str(call[0].source)
    return Row(source, "failed", given_up(source, reason))
