"""Calls that make one thing together, such as the tiles of a raster: one that is lost ends all."""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import Any, NoReturn, TypeVar

from pfeseg.engines.engine import Call, Engine, Work
from pfeseg.errors import PfesegError, argument

T = TypeVar("T")


class LostPartError(PfesegError):
    """One part of a thing was given up, and with it the whole."""


def run_parts(
    engine: Engine, function: Callable[..., T], calls: Sequence[Call], shared: Any = None
) -> Generator[T, None, None]:
    """Yield the results of calls that make one thing, as they come.

    `shared` is what all calls refer to. One of which two workers died ends them all.
    """
    return engine.for_calls(len(calls)).run(Work(function, shared=shared), calls, _fail)


def _fail(call: Call, reason: str) -> NoReturn:
    raise LostPartError(
        f"given up, as two worker processes died while they had one part of it ({reason}); "
        f"if memory is short, choose fewer {argument('jobs')}"
    )
