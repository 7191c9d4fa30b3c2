"""The contract of all engines: many calls of one function, and what becomes of them.

A call that raises ends the run. One whose worker died is made again when the others are done,
with nothing else beside it: what ended the worker is then known. If that worker dies too, the
call is given up, and the run goes on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from pfeseg.errors import PfesegError

T = TypeVar("T")

Call = tuple[Any, ...]


class EngineError(PfesegError):
    """An engine cannot go on, whatever the calls."""


@dataclass(frozen=True)
class Work(Generic[T]):
    """What all calls of a run have in common.

    Attributes
    ----------
    function : callable
        Of a module, so that other processes find it.
    shared : object
        What the arguments of all calls refer to; it travels to each worker once.
    memory : callable, optional
        Called with the arguments of a call, tells about how many bytes it needs, or None.
    """

    function: Callable[..., T]
    shared: Any = None
    memory: Callable[..., float | None] | None = None


@dataclass(frozen=True)
class Death:
    """A worker that died of a call, or with it.

    Attributes
    ----------
    reason : str
        How it ended, such as "killed by SIGKILL".
    """

    reason: str


class Engine(ABC):
    """Runs many calls side by side."""

    def run(
        self, work: Work[T], calls: Sequence[Call], give_up: Callable[[Call, str], T]
    ) -> Generator[T, None, None]:
        """Yield the results of calls as they come.

        Parameters
        ----------
        work : Work
        calls : sequence of tuple
            Arguments of the function.
        give_up : callable
            Called with a call of which two workers died, and how the second one did; makes the
            result in its place, or raises.
        """
        again = []
        with closing(self.attempt(work, calls, alone=False)) as attempts:
            for call, outcome in attempts:
                if isinstance(outcome, Death):
                    again.append(call)
                else:
                    yield outcome
        if not again:
            return
        with closing(self.attempt(work, again, alone=True)) as attempts:
            for call, outcome in attempts:
                yield give_up(call, outcome.reason) if isinstance(outcome, Death) else outcome

    @abstractmethod
    def attempt(
        self, work: Work[Any], calls: Sequence[Call], *, alone: bool
    ) -> Generator[tuple[Call, Any], None, None]:
        """Make each call once, and yield it with its result or a `Death`, as they come.

        With `alone`, no other call of the run is near one: where a worker dies, it was this one.
        """

    def for_calls(self, count: int) -> Engine:
        """Return the engine for so many calls: this one, unless it is larger than they need."""
        return self

    @property
    def memory_per_call(self) -> float | None:
        """Bytes that each call may take, where the engine knows."""
        return None

    @property
    @abstractmethod
    def is_elsewhere(self) -> bool:
        """Whether calls run in other processes, to which their arguments must travel."""
