"""When a split Bregman loop ends."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_UNCHECKED_ITERATIONS = 10
"""Iterations that the columns run apart before the stopping rule brings them together."""

_TINY = float(np.finfo(np.float64).tiny)


class StoppingRule:
    """When a split Bregman loop ends: at its cap, or when the objective is steady.

    The rule needs the objective over all columns, which run apart for speed. So it looks at
    several iterations at once, and tells how many of them count. Close to the tolerance it
    looks at each.
    """

    def __init__(self, value: float, tol: float, cap: int) -> None:
        self._value, self._tol, self._cap = value, tol, cap
        self._change = np.inf
        self._steady = False
        self.done = 0

    @property
    def ended(self) -> bool:
        """Whether the loop has ended."""
        return self._steady or self.done >= self._cap

    def next_run(self) -> int:
        """Return the number of iterations to run before the next look."""
        close = self._change <= 100 * self._tol
        return 1 if close else min(_UNCHECKED_ITERATIONS, self._cap - self.done)

    def look_at(
        self, objectives: NDArray[np.float64]
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return the objectives of the iterations that count, and their relative changes."""
        values = np.concatenate([[self._value], objectives])
        changes = np.abs(np.diff(values)) / np.maximum(values[1:] + values[:-1], _TINY)
        stops = np.flatnonzero(changes <= self._tol)
        count = int(stops[0]) + 1 if stops.size else len(objectives)
        self._steady = stops.size > 0
        self._value, self._change = float(values[count]), float(changes[count - 1])
        self.done += count
        return objectives[:count], changes[:count]
