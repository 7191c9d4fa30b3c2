"""Many images: one task an image, the same function alone or side by side in processes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import partial
from typing import Any, Literal

from pfeseg.errors import PfesegWarning, failure
from pfeseg.files.kinds import KINDS, REPORT, Segmented
from pfeseg.files.raster import read_raster
from pfeseg.parallel import run_unordered
from pfeseg.run.plan import Task
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.segmentation.memory import refuse_too_large
from pfeseg.segmentation.segment import segment


@dataclass(frozen=True)
class Row:
    """What became of one image.

    Attributes
    ----------
    input : str
    status : {"done", "failed", "skipped"}
    error : str or None
        Why it failed, in one line; arguments are marked in it and in `warnings`, as
        `pfeseg.errors` says.
    regions : int or None
    pieces : int or None
        Connected pieces in which clusters lie.
    next_steps : tuple of int
        Other numbers of regions to look at.
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
    results: dict[str, str] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, as plain values."""
        values = asdict(self)
        return {name: value for name, value in values.items() if value not in (None, {}, ())}


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
    started = time.perf_counter()
    name = "standard input" if task.content is not None else str(task.source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PfesegWarning)
        try:
            done = _segment_and_write(task, name, threads, on_stage, caught)
        except Exception as error:
            row = Row(str(task.source), "failed", failure(error, name))
        else:
            row = Row(
                str(task.source),
                "done",
                regions=done.result.n_regions,
                pieces=None if done.result.n_clusters is None else done.result.n_pieces,
                next_steps=tuple(done.result.next_steps),
                results={kind: str(path) for kind, path in task.results.items()},
                timings=done.timings,
            )
    messages = tuple(
        f"{name}: {warning.message.marked}"
        for warning in caught
        if isinstance(warning.message, PfesegWarning)
    )
    return replace(row, warnings=messages, seconds=round(time.perf_counter() - started, 3))


def _segment_and_write(
    task: Task,
    name: str,
    threads: int | None,
    on_stage: OnStage | None,
    caught: Sequence[warnings.WarningMessage],
) -> Segmented:
    clock = Clock(on_stage)
    source = task.source if task.content is None else task.content
    with clock("read"):
        image = read_raster(
            source,
            task.settings.stretch,
            task.settings.bands,
            page=task.page,
            allow_huge=task.allow_huge,
            mask=task.mask,
            nodata=task.nodata,
            name=name,
        )
    wants_tree = any(KINDS[kind].needs_hierarchy for kind in task.results)
    refuse_too_large(image.shape, task.settings, task.memory_limit, wants_tree)
    result = segment(image, task.settings, hierarchy=wants_tree, threads=threads, on_stage=on_stage)

    told = {
        "mask": task.mask,
        "nodata": [str(value) for value in task.nodata],
        "page": task.page,
        "warnings": [str(warning.message) for warning in caught],
    }
    reading = {name: value for name, value in told.items() if value}

    def segmented(files: dict[str, float]) -> Segmented:
        timings = {"read": files["read"]} | result.timings | files  # "write" comes last
        rounded = {stage: round(seconds, 4) for stage, seconds in timings.items()}
        return Segmented(task.source, image, result, rounded, task.overlay_size, threads, reading)

    with clock("write"):
        unwritten = segmented(clock.seconds)
        for kind, path in task.results.items():
            if kind != REPORT:
                KINDS[kind].write(path, unwritten)
    done = segmented(clock.seconds)
    if REPORT in task.results:  # the last, as it tells how long all took and that all is done
        KINDS[REPORT].write(task.results[REPORT], done)
    return done


def run_batch(
    tasks: Sequence[Task],
    jobs: int,
    threads: int | None = None,
    on_stage: Callable[[Task, str], None] | None = None,
) -> Generator[Row, None, None]:
    """Run tasks in `jobs` processes and yield their rows as they are done.

    Each of several processes computes with one thread unless `threads` says otherwise; the
    results do not depend on that. `on_stage` is told of each task and stage if there is one
    process only.
    """
    if jobs > 1:
        calls = [(task, threads or 1) for task in tasks]
        return run_unordered(run_task, calls, jobs)
    told = [on_stage and partial(on_stage, task) for task in tasks]
    return run_unordered(run_task, [(t, threads, f) for t, f in zip(tasks, told, strict=True)], 1)
