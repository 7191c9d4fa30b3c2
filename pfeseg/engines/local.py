"""Calls side by side in processes of this machine."""

from __future__ import annotations

import threading
import time
from collections.abc import Generator, Sequence
from queue import SimpleQueue
from typing import Any

from pfeseg.engines.engine import Call, Death, Engine, Work
from pfeseg.engines.messages import pack
from pfeseg.engines.process import WorkerDeathError, WorkerProcess, WorkerStartError
from pfeseg.engines.worker import GRACE

STARTS = 3
"""How often a process that ends as it starts is started again."""


class Local(Engine):
    """Runs calls in processes of this machine, or in this one.

    Parameters
    ----------
    jobs : int
        Number of processes, each with one thread for BLAS; with 1, all runs here, in order.
    """

    def __init__(self, jobs: int = 1) -> None:
        self.jobs = jobs

    @property
    def is_elsewhere(self) -> bool:
        """Whether there are several processes."""
        return self.jobs > 1

    def for_calls(self, count: int) -> Local:
        """Return an engine of no more processes than there are calls."""
        return Local(min(self.jobs, max(count, 1)))

    def attempt(
        self, work: Work[Any], calls: Sequence[Call], *, alone: bool
    ) -> Generator[tuple[Call, Any], None, None]:
        """Make each call once, as `Engine.attempt` says."""
        if not self.is_elsewhere:
            yield from ((call, work.function(*call)) for call in calls)
            return
        crew = _Crew(work, calls, 1 if alone else self.jobs)
        try:
            for _ in calls:
                yield crew.next_result()
        finally:
            crew.dismiss()


class _Crew:
    """Some processes, each led by a thread that hands it one call after another."""

    def __init__(self, work: Work[Any], calls: Sequence[Call], size: int) -> None:
        self._opening, self._shared = pack((work.function, work.shared)), work.shared
        self._calls = iter(calls)
        self._results: SimpleQueue[tuple[Call, Any] | Exception] = SimpleQueue()
        self._lock = threading.Lock()
        self._is_dismissed = False
        self._workers: set[WorkerProcess] = set()
        count = min(size, len(calls))
        self._leaders = [threading.Thread(target=self._lead, daemon=True) for _ in range(count)]
        for leader in self._leaders:
            leader.start()

    def next_result(self) -> tuple[Call, Any]:
        """Wait for a call to be done, and return it with its result or the death of its worker.

        Raises
        ------
        Exception
            What the call itself raised.
        """
        result = self._results.get()
        if isinstance(result, Exception):
            raise result
        return result

    def dismiss(self) -> None:
        """End all processes, whatever they are doing."""
        with self._lock:
            self._is_dismissed = True
            for worker in self._workers:
                worker.dismiss()
        end = time.monotonic() + GRACE
        for leader in self._leaders:
            leader.join(max(0.0, end - time.monotonic()))
        with self._lock:  # what is stopped, or deaf in foreign code, would be waited for for ever
            for worker in self._workers:
                worker.kill()
        for leader in self._leaders:
            leader.join()

    def _lead(self) -> None:
        """Hand calls to a process, and to another one when that dies; runs in a thread."""
        worker = None
        try:
            while (call := self._take_call()) is not None:
                worker = worker or self._hire()
                try:
                    self._results.put((call, worker.call(pack(call, self._shared))))
                except WorkerDeathError as death:
                    self._let_go(worker)
                    worker = None
                    self._results.put((call, Death(str(death))))
        except Exception as error:
            self._results.put(error)
        finally:
            if worker is not None:
                self._let_go(worker)

    def _take_call(self) -> Call | None:
        with self._lock:
            return None if self._is_dismissed else next(self._calls, None)

    def _hire(self) -> WorkerProcess:
        """Start a process; one that something ends as it starts is started anew."""
        for attempt in range(STARTS):
            with self._lock:
                if self._is_dismissed:
                    break
                worker = WorkerProcess(self._opening)
                self._workers.add(worker)
            try:
                worker.begin()
                return worker
            except Exception as error:
                self._let_go(worker)
                if attempt == STARTS - 1 or not isinstance(error, WorkerStartError):
                    raise
        raise WorkerStartError("the batch ended before a worker process was started")

    def _let_go(self, worker: WorkerProcess) -> None:
        worker.end()
        with self._lock:
            self._workers.remove(worker)
