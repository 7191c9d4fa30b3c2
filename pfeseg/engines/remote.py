"""What a worker of a Dask cluster runs for us.

Each call is made in a process beside the Dask worker, as the local engine makes it: the worker
goes on answering its scheduler, a call that is killed takes no other with it, and the memory of a
run is given back at its end.
"""

from __future__ import annotations

import asyncio
import platform
import threading
import time
import uuid
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfeseg.engines.engine import Death
from pfeseg.engines.process import WorkerDeathError, WorkerProcess

IDLE = 60.0
"""Seconds without a call after which a process ends, if nobody dismissed it."""


def versions() -> dict[str, str]:
    """Return the versions on which results may depend."""
    import numpy

    from pfeseg import __version__

    return {
        "Python": platform.python_version(),
        "NumPy": numpy.__version__,
        "pfeseg": __version__,
    }


async def first_unseen(paths: Sequence[Path], seconds: float) -> Path | None:
    """Return a path that cannot be seen here within some seconds, or None."""
    end = time.monotonic() + seconds
    for path in paths:
        while not path.exists():
            if time.monotonic() > end:
                return path
            await asyncio.sleep(0.1)
    return None


def leave_file(probe: Path) -> Path:
    """Write a file beside a probe, for the client to see, and return its path."""
    path = probe.with_name(f"{probe.name}-{uuid.uuid4().hex}")
    path.touch(exist_ok=False)
    return path


def remove_files(probe: Path) -> None:
    """Remove what `leave_file` wrote here, where the client does not see it."""
    for path in probe.parent.glob(f"{probe.name}-*"):
        path.unlink(missing_ok=True)


class Run:
    """What all calls of a run have in common, and the processes that make them.

    Parameters
    ----------
    opening : bytes
        As for `WorkerProcess`.
    folder : Path
        From which paths that are not absolute begin, as they do at the client.
    """

    def __init__(self, opening: bytes, folder: Path) -> None:
        self._opening, self._folder = opening, folder
        self._lock = threading.Lock()
        self._idle: list[WorkerProcess] = []
        self._busy: list[WorkerProcess] = []
        self._is_over = False

    def make_call(self, content: bytes) -> Any:
        """Make a call in a process that is idle, or in a new one; returns a result or a `Death`."""
        process = self._take()
        if process is None:
            return Death("the run is over")
        try:
            result = process.call(content)
        except WorkerDeathError as death:
            self._put_back(process, ended=True)
            return Death(str(death))
        except BaseException:
            self._put_back(process, ended=False)
            raise
        self._put_back(process, ended=False)
        return result

    def end(self) -> None:
        """End all processes, whatever they do."""
        with self._lock:
            self._is_over = True
            for process in self._idle + self._busy:
                process.dismiss()
            for process in self._idle:
                process.end()

    def _take(self) -> WorkerProcess | None:
        with self._lock:
            if self._is_over:
                return None
            while self._idle:
                process = self._idle.pop()
                if not process.has_ended:
                    self._busy.append(process)
                    return process
                process.end()
            process = WorkerProcess(self._opening, IDLE, self._folder)
            self._busy.append(process)
        try:
            process.begin()
        except BaseException:
            self._put_back(process, ended=True)
            raise
        return process

    def _put_back(self, process: WorkerProcess, *, ended: bool) -> None:
        with self._lock:
            self._busy.remove(process)
            if not ended and not self._is_over:
                self._idle.append(process)
                return
        process.end()


_runs: dict[str, Run] = {}


def begin_run(key: str, opening: bytes, folder: Path) -> None:
    """Take what all calls of a run have in common; it travels once."""
    _runs.setdefault(key, Run(opening, folder))


def make_call(key: str, content: bytes) -> Any:
    """Make one call of a run, and return its result or a `Death`."""
    run = _runs.get(key)
    return Death("its Dask worker was started anew") if run is None else run.make_call(content)


def end_run(key: str) -> None:
    """Forget a run, and end its processes."""
    run = _runs.pop(key, None)
    if run is not None:
        run.end()
