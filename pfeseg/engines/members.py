"""The workers of a Dask cluster that take part."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

from pfeseg.engines.admission import find_objections
from pfeseg.engines.engine import EngineError
from pfeseg.errors import PfesegWarning, argument

T = TypeVar("T")

LOOK_EVERY = 0.5
"""Seconds between two looks at which workers there are."""

MEMORY = "MEMORY"
"""Name of the resource by which a worker declares its bytes."""


@dataclass
class Worker:
    """A worker that takes part.

    Attributes
    ----------
    threads : int
    memory : float or None
        Bytes that it declares as its resource `MEMORY`.
    share : float or None
        Bytes that each of its threads may take.
    calls : int
        How many it has at hand.
    """

    threads: int
    memory: float | None = None
    share: float | None = None
    calls: int = 0


class Members:
    """Keeps account of the workers that there are, and looks at each before it takes part.

    Parameters
    ----------
    client : distributed.Client
    address : str
        What the cluster is called in messages.
    wait : float
        Seconds to wait for a worker while there is none.
    folder : Path
    inputs : sequence of Path
        As for `find_objections`.
    """

    def __init__(
        self, client: Any, address: str, wait: float, folder: Path, inputs: Sequence[Path]
    ) -> None:
        self._client, self._address, self._wait = client, address, wait
        self._folder, self._inputs = folder, inputs
        self._refused: set[str] = set()
        self._looked = self._had_some = time.monotonic()
        self.workers: dict[str, Worker] = {}

    def await_first(self) -> None:
        """Wait for a first worker; a cluster of which one may not take part is refused."""
        while not (present := self._present()):
            self._check_wait()
            time.sleep(0.1)
        for worker, objection in self._admit(present).items():
            raise EngineError(f"the Dask worker {worker} {objection}")

    def look_again(self) -> tuple[list[str], list[str]]:
        """Return which workers are gone and which are new, if it is time to look again."""
        if time.monotonic() < self._looked + LOOK_EVERY:
            return [], []
        present = self._present()
        gone = [address for address in self.workers if address not in present]
        for address in gone:
            del self.workers[address]
        self._refused.intersection_update(present)
        before = set(self.workers)
        new = present - before - self._refused
        for worker, objection in self._admit(new).items() if new else ():
            message = f"the Dask worker {worker} takes no part: it {objection}"
            warnings.warn(message, PfesegWarning, stacklevel=2)
            self._refused.add(worker)
        if self.workers:
            self._had_some = time.monotonic()
        self._check_wait()
        self._looked = time.monotonic()
        return gone, [address for address in self.workers if address not in before]

    def reached(self, function: Callable[[], T]) -> T:
        """Return what a function of the client returns; an error unless the scheduler answers."""
        error: Exception | None = None
        if self._is_connected():
            try:
                return function()
            except Exception as caught:
                if self._is_connected() and not isinstance(caught, OSError):
                    raise
                error = caught
        raise self.lost() from error

    def _is_connected(self) -> bool:
        return bool(self._client.status == "running")

    def lost(self) -> EngineError:
        """Make the error of a scheduler that is gone."""
        return EngineError(f"the Dask scheduler at {self._address} is gone; what is done is kept")

    def _present(self) -> set[str]:
        return set(self.reached(self._client.nthreads))

    def _check_wait(self) -> None:
        if not self.workers and time.monotonic() > self._had_some + self._wait:
            raise EngineError(
                f"no Dask worker came to {self._address} within {self._wait:g} s; start some with "
                f"'dask worker ADDRESS', or raise {argument('dask_wait')}"
            )

    def _admit(self, addresses: Iterable[str]) -> dict[str, str]:
        """Let workers take part that may; says of the others why not."""
        addresses = list(addresses)
        objections = self.reached(
            lambda: find_objections(self._client, addresses, self._folder, self._inputs)
        )
        about = self.reached(lambda: self._client.scheduler_info(n_workers=-1)["workers"])
        for address in addresses:
            if address in about and address not in objections:
                self.workers[address] = _described(about[address])
        return objections


def _described(about: dict[str, Any]) -> Worker:
    """Make a worker of what the scheduler tells about it."""
    threads = about["nthreads"]
    resources = {name.upper(): value for name, value in about.get("resources", {}).items()}
    limit = about.get("memory_limit")
    return Worker(threads, resources.get(MEMORY), limit / threads if limit else None)
