"""How long stages take, and which one is at hand."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

OnStage = Callable[[str], None]
"""Called with the name of each stage when it begins: "downsample", "graph", "init", "embed",
"outlines", "merge", "cluster", "full_size"; of files "read" and "write" too. The timings of a
segmentation sum up "outlines" and "merge" as its "hierarchy"."""


class Clock:
    """Seconds that stages took, by their names.

    Parameters
    ----------
    on_stage : callable, optional
        Told of each stage.
    """

    def __init__(self, on_stage: OnStage | None = None) -> None:
        self.seconds: dict[str, float] = {}
        self.on_stage = on_stage

    @contextmanager
    def __call__(self, stage: str) -> Iterator[None]:
        """Time a block, in place of an earlier run of the same stage."""
        if self.on_stage is not None:
            self.on_stage(stage)
        started = time.perf_counter()
        yield
        self.seconds[stage] = time.perf_counter() - started
