"""How long stages take."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager


class Clock:
    """Seconds that stages took, by their names."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block, in place of an earlier run of the same stage."""
        started = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - started
