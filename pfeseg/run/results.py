"""The results of one file on disk: they appear together, with a report that tells of them all.

The report is written last. It tells the settings, the version of the method, the size and the time
of change of the input, and the sizes of the results that belong to it; `pfeseg.run.resume` compares
these with what is asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any

from pfeseg.files.kinds import REPORT
from pfeseg.files.replacing import appearing_together
from pfeseg.files.report import FILES, report_text
from pfeseg.files.writing import write_text
from pfeseg.run.task import FileTask
from pfeseg.segmentation.clock import Clock


def input_facts(task: FileTask) -> dict[str, Any]:
    """Return what tells the sources from later ones, and how they are read, for the report."""
    facts: dict[str, Any] = {}
    for name, source in task.sources().items():
        facts |= _facts_of(name, source)
    return facts | {name: value for name, value in task.options().items() if value}


def _facts_of(name: str, source: Path | bytes) -> dict[str, Any]:
    if isinstance(source, bytes):
        digest = hashlib.sha256(source).hexdigest()
        return {f"{name}_bytes": len(source), f"{name}_digest": digest}
    with suppress(OSError):  # what is wrong with it is told when it is read
        status = source.stat()
        return {f"{name}_bytes": status.st_size, f"{name}_modified": status.st_mtime_ns}
    return {}


def write_results(
    task: FileTask,
    facts: Mapping[str, Any],
    clock: Clock,
    write: Callable[[], None],
    report: Callable[[], dict[str, Any]],
    timings: Mapping[str, float] | None = None,
) -> dict[str, float]:
    """Write all results of a file, the report last; returns the seconds of all stages.

    Parameters
    ----------
    task : FileTask
    facts : dict
        As `input_facts` returned them before the file was read.
    clock : Clock
        Of the stages so far, "read" the first.
    write : callable
        Writes all but the report.
    report : callable
        Returns what else there is to tell.
    timings : dict, optional
        Seconds of stages that the clock did not see.
    """
    with appearing_together(task.replaces) as made:
        with clock("write"):
            write()
        read = {"read": clock.seconds["read"]}
        in_order = read | dict(timings or {}) | clock.seconds  # "write" comes last
        rounded = {stage: round(seconds, 4) for stage, seconds in in_order.items()}
        told = {FILES: {**task.kept, **{part.final.name: part.size for part in made}}}
        text = report_text(task.source, report(), rounded, {**facts, **told}, task.method_version)
        if REPORT in task.results:
            write_text(task.results[REPORT], text)
    return rounded


def write_kinds(task: FileTask, of: Any) -> None:
    """Write each kind of result that is asked for, but the report, of what there is to write."""
    for kind, path in task.results.items():
        write = task.kinds[kind].write
        if write is not None:
            write(path, of)
