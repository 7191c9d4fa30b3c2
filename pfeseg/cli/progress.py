"""Progress bars; they show on a terminal only."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from pfeseg.cli.wording import one_line

if TYPE_CHECKING:
    from pfeseg.solver.settings import SolverSettings

TICK = 0.25
"""Seconds after which a bar is drawn anew, so that its clock runs through long stages."""

STAGES = {
    "read": "reading",
    "downsample": "reading",
    "graph": "graph",
    "init": "start",
    "embed": "embedding",
    "outlines": "hierarchy",
    "merge": "hierarchy",
    "cluster": "clusters",
    "full_size": "boundaries",
    "write": "writing",
}
"""What the stages are called in a bar."""

_ORDER = list(dict.fromkeys(STAGES.values()))


@contextmanager
def stage_bar(title: str, quiet: bool = False) -> Iterator[Callable[[str], None]]:
    """Show the stages of one image; yields what is to be told of each stage."""
    from tqdm import tqdm

    bar = tqdm(
        total=len(_ORDER),
        leave=False,
        disable=quiet or None,
        bar_format="{desc} |{bar:20}| {elapsed}",
    )

    def on_stage(stage: str) -> None:
        word = STAGES[stage]
        bar.n = _ORDER.index(word)
        bar.set_description_str(f"{one_line(title)}: {word:10}")

    with bar, _ticking(bar):
        yield on_stage


@contextmanager
def batch_bar(total: int, quiet: bool = False) -> Iterator[tuple[Any, Callable[[str, str], None]]]:
    """Show the images of a batch; yields the bar, and what to tell of an image's stages."""
    bar = count_bar(total, "image", quiet)

    def on_stage(name: str, stage: str) -> None:
        # Drawn at the next tick, so that only stages that last are seen.
        bar.set_postfix_str(f"{one_line(name)}: {STAGES[stage]}", refresh=False)

    with bar, _ticking(bar):
        yield bar, on_stage


@contextmanager
def tile_bar(title: str, quiet: bool = False) -> Iterator[Callable[[str, int, int], None]]:
    """Show the tiles of a raster; yields what is to be told of each stage, and how much is done."""
    bar = count_bar(0, "tile", quiet)

    def on_tile(stage: str, done: int, total: int) -> None:
        bar.total, bar.n = total, done
        bar.set_description_str(f"{one_line(title)}: {stage}")

    with bar, _ticking(bar):
        yield on_tile


def iteration_bar(solver: SolverSettings, title: str) -> Any:
    """Make a bar of the solver's iterations."""
    from tqdm import tqdm

    most = 1 + solver.soc_iterations * solver.split_iterations + solver.relaxed_iterations
    return tqdm(desc=one_line(title), total=most, leave=False, disable=None)


def count_bar(total: int, unit: str, quiet: bool = False) -> Any:
    """Make a bar of things done, such as the dimensions of a sweep."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, leave=False, disable=quiet or None)


@contextmanager
def _ticking(bar: Any) -> Iterator[None]:
    """Draw a bar again and again, from another thread."""
    if bar.disable:
        yield
        return
    ended = threading.Event()

    def tick() -> None:
        while not ended.wait(TICK):
            bar.refresh()

    thread = threading.Thread(target=tick, daemon=True)
    thread.start()
    try:
        yield
    finally:
        ended.set()
        thread.join()
