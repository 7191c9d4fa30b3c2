"""How a run of the solver came about: a record of each iteration, and when it was done."""

from __future__ import annotations

import time
from typing import Any

from pfeseg.solver.embedding import IterationRecord, OnIteration


class History:
    """The records of one run, each handed to a callback; the clock stands still meanwhile."""

    def __init__(self, on_iteration: OnIteration | None) -> None:
        self.records: list[IterationRecord] = []
        self._on_iteration = on_iteration
        self._seconds_in_callbacks = 0.0
        self._started = time.perf_counter()

    @property
    def last(self) -> IterationRecord:
        """The record of the last iteration."""
        return self.records[-1]

    def add(self, **state: Any) -> None:
        """Add a record of what is known of an iteration, all but its time."""
        now = time.perf_counter()
        seconds = now - self._started - self._seconds_in_callbacks
        self.records.append(IterationRecord(seconds=seconds, **state))
        if self._on_iteration is not None:
            self._on_iteration(self.last)
            self._seconds_in_callbacks += time.perf_counter() - now
