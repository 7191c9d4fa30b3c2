"""Where a command makes its calls: options, and the engine that they stand for."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from pfeseg.cli.help import F, Heading, option
from pfeseg.cli.options import jobs_option

if TYPE_CHECKING:
    from pfeseg.engines.engine import Engine


@dataclass(frozen=True)
class Machines:
    """What ``--jobs`` or ``--dask`` ask for.

    Attributes
    ----------
    jobs : int
    dask : str or None
        Address of a scheduler.
    wait : float
        Seconds to wait for a worker of it.
    """

    jobs: int
    dask: str | None
    wait: float

    @contextmanager
    def open(self, calls: int | None, folder: Path, inputs: Sequence[Path]) -> Iterator[Engine]:
        """Open an engine for calls, perhaps of unknown number, that read and write these."""
        if self.dask is None or calls == 0:
            from pfeseg.engines.local import Local

            yield Local(self.jobs) if calls is None else Local(self.jobs).for_calls(calls)
            return
        from pfeseg.engines.cluster import open_cluster

        paths = [path.absolute() for path in inputs]
        with open_cluster(self.dask, self.wait, folder.absolute(), paths) as cluster:
            yield cluster


def engine_options(text: str) -> Callable[[F], F]:
    """Add ``--jobs``, ``--dask`` and ``--dask-wait``, which come as one argument, `machines`.

    `text` says what runs side by side.
    """

    def add(command: Any) -> Any:
        @wraps(command)
        def packed(jobs: int, dask: str | None, dask_wait: float, **others: Any) -> Any:
            source = click.get_current_context().get_parameter_source("jobs")
            if dask is not None and source != ParameterSource.DEFAULT:
                raise click.UsageError("give --jobs or --dask, not both")
            return command(machines=Machines(jobs, dask, dask_wait), **others)

        for add_option in (
            option(
                "--dask-wait", type=click.FloatRange(min=0), default=60.0, metavar="SECONDS",
                heading=Heading.RUN,
                help="How long to wait while the cluster has no workers.  [default: 60]",
            ),
            option(
                "--dask", metavar="ADDRESS", heading=Heading.RUN,
                help="Use the Dask cluster with this scheduler, such as tcp://host:8786. The "
                     "results are the same. local:4 starts a cluster of 4 processes on this "
                     "machine.",
            ),
            jobs_option(text),
        ):  # fmt: skip
            packed = add_option(packed)
        return packed

    return add
