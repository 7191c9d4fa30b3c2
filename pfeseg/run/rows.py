"""What became of one file: done or failed, told as a row, whatever happens to it."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any, Literal

from pfeseg.engines.engine import Call, EngineError
from pfeseg.errors import PfesegWarning, failure, given_up
from pfeseg.run.task import FileTask

Caught = Sequence[warnings.WarningMessage]


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


def attempt(task: FileTask, work: Callable[[Caught], dict[str, Any]]) -> Row:
    """Do the work on a file, which returns what its row tells, and tell how it went.

    The work is given the list of warnings, which grows as they come. An engine that cannot go on
    raises; whatever else happens comes back as a row that says why.
    """
    started, name = time.perf_counter(), task.full_name
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PfesegWarning)
        try:
            results = {kind: str(path) for kind, path in task.results.items()}
            row = Row(str(task.source), "done", **work(caught), results=results)
        except EngineError:
            raise
        except Exception as error:
            row = Row(str(task.source), "failed", failure(error, name, task.for_less_memory))
    messages = tuple(
        f"{name}: {warning.message.marked}"
        for warning in caught
        if isinstance(warning.message, PfesegWarning)
    )
    return replace(row, warnings=messages, seconds=round(time.perf_counter() - started, 3))


def give_up(call: Call, reason: str) -> Row:
    """Make the row of a call whose first argument is a task of which two workers died."""
    task: FileTask = call[0]
    error = given_up(task.full_name, reason, task.for_less_memory)
    return Row(str(task.source), "failed", error)
