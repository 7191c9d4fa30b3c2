"""Many images: one task an image, the same function alone or side by side in processes."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pfeseg.errors import SolverWarning, failure
from pfeseg.files.kinds import KINDS, Segmented
from pfeseg.files.reading import read_image
from pfeseg.parallel import run_unordered
from pfeseg.run.plan import Task
from pfeseg.segmentation.result import Segmentation
from pfeseg.segmentation.segment import segment
from pfeseg.solver.embedding import OnIteration


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
    results, timings : dict
        Path of each kind of result that was written, and seconds by stage.
    warnings : tuple of str
    seconds : float
        From start to end, files included.
    """

    input: str
    status: Literal["done", "failed", "skipped"]
    error: str | None = None
    regions: int | None = None
    results: dict[str, str] = field(default_factory=dict)
    timings: dict[str, float] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    seconds: float = 0.0

    def to_dict(self) -> dict[str, Any]:
        """Return what is known, as plain values."""
        values = asdict(self)
        return {name: value for name, value in values.items() if value not in (None, {}, ())}


def run_task(
    task: Task, on_iteration: OnIteration | None = None, threads: int | None = None
) -> Row:
    """Segment one image and write its results.

    Never raises: a failure comes back as a row that says why.
    """
    started = time.perf_counter()
    name = "standard input" if task.content is not None else str(task.source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SolverWarning)
        try:
            result = _segment_and_write(task, name, on_iteration, threads)
        except Exception as error:
            row = Row(str(task.source), "failed", failure(error, name))
        else:
            row = Row(
                str(task.source),
                "done",
                regions=result.n_regions,
                results={kind: str(path) for kind, path in task.results.items()},
                timings=result.report()["timings"],
            )
    messages = tuple(
        f"{name}: {warning.message.marked}"
        for warning in caught
        if isinstance(warning.message, SolverWarning)
    )
    return replace(row, warnings=messages, seconds=round(time.perf_counter() - started, 3))


def _segment_and_write(
    task: Task, name: str, on_iteration: OnIteration | None, threads: int | None
) -> Segmentation:
    source = task.source if task.content is None else task.content
    image = read_image(source, page=task.page, allow_huge=task.allow_huge, name=name)
    wants_tree = any(KINDS[kind].needs_hierarchy for kind in task.results)
    result = segment(image, task.settings, on_iteration, hierarchy=wants_tree, threads=threads)
    segmented = Segmented(task.source, image, result, task.overlay_size, threads)
    for kind, path in task.results.items():
        KINDS[kind].write(path, segmented)
    return result


def run_batch(
    tasks: Sequence[Task], jobs: int, threads: int | None = None
) -> Generator[Row, None, None]:
    """Run tasks in `jobs` processes and yield their rows as they are done.

    Each of several processes computes with one thread unless `threads` says otherwise; the
    results do not depend on that.
    """
    if jobs > 1:
        threads = threads or 1
    return run_unordered(run_task, [(task, None, threads) for task in tasks], jobs)
