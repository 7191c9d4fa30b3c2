"""Files at work: what is done is left out, the rest runs under a progress bar, and all is told."""

from __future__ import annotations

import sys
from collections.abc import Callable, Generator, Iterable, Sequence
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from pfeseg.cli.engines import Machines
from pfeseg.cli.progress import batch_bar, count_bar, stage_bar, tile_bar
from pfeseg.cli.reporter import Reporter

if TYPE_CHECKING:
    from pfeseg.engines.engine import Engine
    from pfeseg.files.inputs import Input
    from pfeseg.run.data import DataTask
    from pfeseg.run.plan import Task
    from pfeseg.run.rows import Row
    from pfeseg.run.task import FileTask

T = TypeVar("T", bound="FileTask")

Rows = Generator["Row", None, None]


def leave_out_done(
    tasks: Sequence[T], reporter: Reporter, *, skips: bool, replaces: bool
) -> Sequence[T]:
    """Return the tasks that are to do, and tell of those that are done."""
    from pfeseg.run.resume import choose_undone
    from pfeseg.run.rows import Row

    todo, done = choose_undone(tasks, skips=skips, replaces=replaces)
    for task in done:
        reporter.add(Row(str(task.source), "skipped"))
    return todo


def run_all(
    found: Iterable[Input],
    tasks: Sequence[T],
    run: Callable[[Sequence[T]], Rows],
    reporter: Reporter,
) -> int:
    """Tell what became of all inputs, those first that cannot be read; returns the exit code.

    `run` yields the rows of the tasks. What killed runs left half written is cleared first, and
    what killed workers leave at the end.
    """
    from pfeseg.engines.engine import EngineError
    from pfeseg.files.temporaries import clear_strays
    from pfeseg.run.rows import Row

    folders = {task.results.folder for task in tasks}
    clear_strays(folders)
    for item in found:
        if item.problem and reporter.wants_more:
            reporter.add(Row(str(item.path), "failed", item.problem))
    if tasks and reporter.wants_more:
        try:
            with closing(run(tasks)) as rows:
                for row in rows:
                    reporter.add(row)
                    if not reporter.wants_more:
                        break
        except EngineError as error:
            reporter.break_off(error.marked)
    if len(tasks) > 1:
        clear_strays(folders)
    return reporter.finish()


def run_images(
    tasks: Sequence[Task], machines: Machines, limited: bool, threads: int | None, quiet: bool
) -> Rows:
    """Run the tasks under one progress bar: of stages for one image, else of images.

    With `limited`, a cluster's own memory limits the tasks, in place of that of this machine.
    """
    from pfeseg.run.batch import run_batch, run_task

    with machines.open(len(tasks), *_places(tasks)) as engine:
        if len(tasks) == 1 and not engine.is_elsewhere:
            with stage_bar(tasks[0].name, quiet) as on_stage:
                row = run_task(tasks[0], threads, on_stage)
            yield row
            return
        tasks = _limited_by(engine, tasks) if limited and machines.dask else tasks
        with (
            batch_bar(len(tasks), quiet) as (bar, tell),
            closing(
                run_batch(tasks, engine, threads, lambda task, stage: tell(task.name, stage))
            ) as rows,
        ):
            for row in rows:
                bar.update()
                with bar.external_write_mode(file=sys.stderr):
                    yield row


def run_rasters(
    tasks: Sequence[Task], machines: Machines, limited: bool, threads: int | None, quiet: bool
) -> Rows:
    """Run one task after the other, and the tiles of each side by side."""
    from pfeseg.run.batch import run_tiled_task

    with machines.open(None, *_places(tasks)) as engine:
        for task in _limited_by(engine, tasks) if limited and machines.dask else tasks:
            with tile_bar(task.name, quiet) as on_tile:
                row = run_tiled_task(task, engine, threads, on_tile)
            yield row


def run_tables(
    tasks: Sequence[DataTask], machines: Machines, threads: int | None, quiet: bool
) -> Rows:
    """Run the tasks on files of data under a progress bar, if there are several."""
    from pfeseg.run.data import run_data

    with (
        machines.open(len(tasks), *_places(tasks)) as engine,
        count_bar(len(tasks), "file", quiet or len(tasks) == 1) as bar,
        closing(run_data(tasks, engine, threads)) as rows,
    ):
        for row in rows:
            bar.update()
            with bar.external_write_mode(file=sys.stderr):
                yield row


def _places(tasks: Sequence[FileTask]) -> tuple[Path, list[Path]]:
    """Return a folder of results, and an input, which all machines at work must see."""
    return tasks[0].results.folder, [tasks[0].source]


def _limited_by(engine: Engine, tasks: Sequence[Task]) -> Sequence[Task]:
    """Let each task take the memory that an engine has for a call."""
    return [replace(task, memory_limit=engine.memory_per_call) for task in tasks]
