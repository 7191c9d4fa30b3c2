"""Calls side by side on an existing Dask cluster, or on one made on this machine for a try."""

from __future__ import annotations

import asyncio
import logging
import uuid
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from concurrent import futures
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import Any

from pfeseg.engines import remote
from pfeseg.engines.engine import Call, Death, Engine, Work
from pfeseg.engines.members import LOOK_EVERY, MEMORY, Members, Worker
from pfeseg.engines.messages import pack
from pfeseg.engines.process import not_interrupted
from pfeseg.engines.scheduler import REACHABLE_WITHIN, check_answers, no_answer
from pfeseg.errors import InvalidInputError, argument

END_WITHIN = 1.0
"""Seconds to tell the workers that a run is over."""

AHEAD = 1
"""Calls that wait at a worker beside those that it makes, one in each of its threads."""


@contextmanager
def open_cluster(
    address: str, wait: float, folder: Path, inputs: Sequence[Path]
) -> Iterator[Cluster]:
    """Connect to a cluster, check all that must hold before any work, and let go at the end.

    Parameters
    ----------
    address : str
        Of the scheduler, or ``local:N`` for N processes of this machine.
    wait : float
        Seconds to wait for a worker while there is none.
    folder : Path
        Where results go.
    inputs : sequence of Path
        Some files that all workers must see.
    """
    try:
        import dask
        import distributed
    except ImportError as error:
        raise InvalidInputError(
            f"{argument('dask')} needs dask.distributed: pip install 'pfeseg[dask]'"
        ) from error
    _silence_logs()  # what goes wrong is told once, and by us
    with (
        dask.config.set({"distributed.comm.timeouts.connect": REACHABLE_WITHIN}),
        _local_cluster(address, distributed) as local,
        _ended(_connect(local or address, distributed)) as client,
    ):
        members = Members(client, address, wait, folder, inputs)
        members.await_first()
        yield Cluster(client, members)


def _silence_logs() -> None:
    for name in list(logging.root.manager.loggerDict):
        if name.startswith(("distributed", "tornado")):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)


@contextmanager
def _local_cluster(address: str, distributed: Any) -> Iterator[Any]:
    """Start the cluster that ``local:N`` stands for, if the address is that."""
    kind, _, count = address.partition(":")
    if kind != "local":
        yield None
        return
    if not count.isdecimal() or not 1 <= int(count) <= 1024:
        raise InvalidInputError(
            f"{argument('dask')}: local:N starts N processes of this machine, such as local:4; "
            f"got {address!r}"
        )
    with not_interrupted(), _ignoring_warnings():
        cluster = distributed.LocalCluster(
            n_workers=int(count),
            threads_per_worker=1,
            dashboard_address=":0",  # any free port
            silence_logs=logging.CRITICAL,
        )
    with _ended(cluster):
        yield cluster


@contextmanager
def _ignoring_warnings() -> Iterator[None]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


@contextmanager
def _ended(opened: Any) -> Iterator[Any]:
    """Close a client or a cluster soon after a block, whatever became of it."""
    try:
        yield opened
    finally:
        with suppress(Exception):
            opened.close(timeout=END_WITHIN)


def _connect(target: Any, distributed: Any) -> Any:
    if isinstance(target, str):
        check_answers(target, distributed)
    try:
        with _ignoring_warnings():  # of versions, which are compared afterwards
            return distributed.Client(target, timeout=REACHABLE_WITHIN, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        raise no_answer(target) from error


class Cluster(Engine):
    """Runs calls on the workers of a Dask cluster; see `open_cluster`."""

    def __init__(self, client: Any, members: Members) -> None:
        self._client, self._members = client, members

    @property
    def is_elsewhere(self) -> bool:
        """Always: no call runs in this process."""
        return True

    @property
    def memory_per_call(self) -> float | None:
        """Bytes that each call may take, as far as the workers tell."""
        workers = self._members.workers.values()
        declared = [worker.memory for worker in workers if worker.memory is not None]
        shares = [worker.share for worker in workers if worker.share is not None]
        return max(declared) if declared else min(shares, default=None)

    def attempt(
        self, work: Work[Any], calls: Sequence[Call], *, alone: bool
    ) -> Generator[tuple[Call, Any], None, None]:
        """Make each call once, as `Engine.attempt` says; alone is alone at its worker."""
        members = self._members
        with closing(_Run(self._client, members, work, calls, alone)) as run:
            run.begin_at(members.workers)
            while run.hand_out():
                gone, new = members.look_again()
                yield from run.lose(gone)
                run.begin_at(new)
                yield from run.finished()


class _Run:
    """Calls on their way.

    Each is meant for a certain worker, of which few are handed to it at a time: so it is known
    which calls a worker had that is gone, and no worker is used that may not take part.
    """

    def __init__(
        self, client: Any, members: Members, work: Work[Any], calls: Sequence[Call], alone: bool
    ) -> None:
        self._client, self._members, self._work, self._alone = client, members, work, alone
        self._key = uuid.uuid4().hex
        self._calls = iter(calls)
        self._next = next(self._calls, None)
        self._need: float | None = None
        self._begun: set[str] = set()
        self._pending: dict[Any, tuple[Call, str]] = {}
        self._answers: SimpleQueue[tuple[Any, Any]] = SimpleQueue()

    def begin_at(self, workers: Iterable[str]) -> None:
        """Tell workers what all calls have in common."""
        addresses = list(workers)
        if not addresses:
            return
        opening = pack((self._work.function, self._work.shared))
        told = self._members.reached(
            lambda: self._client.run(
                remote.begin_run,
                self._key,
                opening,
                Path.cwd(),
                workers=addresses,
                on_error="ignore",
            )
        )
        self._begun |= set(told)

    def hand_out(self) -> bool:
        """Hand calls to workers that can take more; returns whether any is on its way or left."""
        while self._next is not None and (address := self._choose(self._next)) is not None:
            self._submit(self._next, address)
            self._next, self._need = next(self._calls, None), None
        return bool(self._pending) or self._next is not None

    def finished(self) -> Iterator[tuple[Call, Any]]:
        """Wait a little for answers, and yield what is there."""
        timeout: float | None = LOOK_EVERY
        with suppress(Empty):
            while True:
                future, answer = self._answers.get(timeout=timeout)
                timeout = 0
                if future in self._pending:
                    yield self._drop(future), self._judged(answer)

    def lose(self, workers: Sequence[str]) -> Iterator[tuple[Call, Any]]:
        """Take back the calls of workers that are gone."""
        self._begun.difference_update(workers)
        lost = [future for future, (_, address) in self._pending.items() if address in workers]
        if lost:
            self._members.reached(lambda: self._client.cancel(lost))
        for future in lost:
            yield self._drop(future), Death("their machine or their Dask worker is gone")

    def close(self) -> None:
        """Cancel what is queued, and end what is at work."""

        async def end() -> None:
            await self._client.cancel(list(self._pending))
            await self._client.run(
                remote.end_run, self._key, workers=list(self._begun), on_error="ignore"
            )

        with suppress(Exception):
            asyncio.run_coroutine_threadsafe(end(), self._loop).result(END_WITHIN)

    @property
    def _loop(self) -> Any:
        return self._client.loop.asyncio_loop

    def _choose(self, call: Call) -> str | None:
        """Choose the worker with the least to do that has a place and memory for a call."""
        workers = self._members.workers
        able = {a: workers[a] for a in self._begun if a in workers}
        declared = [worker.memory for worker in able.values() if worker.memory is not None]
        if declared and self._need is None and self._work.memory is not None:
            need = self._work.memory(*call)
            # What fits nowhere is handed out too: the call itself refuses it, and says why.
            self._need = None if need is None or need > max(declared) else need
        free = {a: worker for a, worker in able.items() if self._has_place(worker)}
        return min(free, key=lambda a: free[a].calls / free[a].threads, default=None)

    def _has_place(self, worker: Worker) -> bool:
        if self._need is not None and worker.memory is not None and worker.memory < self._need:
            return False
        return worker.calls < (1 if self._alone else worker.threads + AHEAD)

    def _submit(self, call: Call, address: str) -> None:
        worker = self._members.workers[address]
        resources = {MEMORY: self._need} if worker.memory and self._need else None
        content = pack(call, self._work.shared)
        future = self._members.reached(
            lambda: self._client.submit(
                remote.make_call,
                self._key,
                content,
                key=f"pfeseg-{uuid.uuid4().hex}",
                workers=[address],
                resources=resources,
                pure=False,
            )
        )
        worker.calls += 1
        self._pending[future] = (call, address)
        asyncio.run_coroutine_threadsafe(self._fetch(future), self._loop)

    async def _fetch(self, future: Any) -> None:
        """Put what becomes of a call into the queue; runs in the thread of the client."""
        try:
            answer = await future
        except (Exception, asyncio.CancelledError) as error:
            answer = error
        self._answers.put((future, answer))

    def _drop(self, future: Any) -> Call:
        call, address = self._pending.pop(future)
        if address in self._members.workers:
            self._members.workers[address].calls -= 1
        return call

    def _judged(self, answer: Any) -> Any:
        """Return the result of a call or a `Death`, or raise what it raised."""
        if not isinstance(answer, BaseException):
            return answer
        if type(answer).__name__ == "KilledWorker":
            return Death("the Dask worker died again and again")
        cancelled = isinstance(answer, asyncio.CancelledError | futures.CancelledError)
        if cancelled or self._client.status != "running":
            raise self._members.lost()
        raise answer
