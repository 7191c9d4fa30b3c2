"""The tasks of ``pfeseg segment`` at work, under a progress bar."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING

from pfeseg.cli.engines import Machines
from pfeseg.cli.progress import batch_bar, stage_bar, tile_bar

if TYPE_CHECKING:
    from pfeseg.run.batch import Row
    from pfeseg.run.plan import Task


def run_tasks(
    tasks: Sequence[Task], machines: Machines, limited: bool, threads: int | None, quiet: bool
) -> Generator[Row, None, None]:
    """Run the tasks under one progress bar: of stages for one image, else of images.

    With `limited`, a cluster's own memory limits the tasks, in place of that of this machine.
    """
    from pfeseg.run.batch import run_batch, run_task

    if not tasks:
        return
    if tasks[0].tile is not None:
        yield from _run_tiled(tasks, machines, threads, quiet)
        return
    folder = list(tasks[0].results.values())[-1].parent
    with machines.open(len(tasks), folder, [tasks[0].source]) as engine:
        if len(tasks) == 1 and not engine.is_elsewhere:
            with stage_bar(tasks[0].name, quiet) as on_stage:
                row = run_task(tasks[0], threads, on_stage)
            yield row
            return
        if machines.dask and limited:
            tasks = [replace(task, memory_limit=engine.memory_per_call) for task in tasks]
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


def _run_tiled(
    tasks: Sequence[Task], machines: Machines, threads: int | None, quiet: bool
) -> Generator[Row, None, None]:
    """Run one task after the other, and the tiles of each side by side."""
    from pfeseg.run.batch import run_tiled_task

    for task in tasks:
        with tile_bar(task.name, quiet) as on_tile:
            row = run_tiled_task(task, machines.jobs, threads, on_tile)
        yield row
