"""Show where the time goes: a table of stages and of functions for four usual runs.

Run it with ``make profile``, or ``python benchmarks/hotspots.py default`` for one. Functions
are those in which time was spent itself, callees not counted; compiled kernels count as the
Python function that calls them.
"""

from __future__ import annotations

import argparse
import cProfile
import pstats
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from measuring import ROOT, write_photograph

from pfeseg import Settings, sweep
from pfeseg.files.reading import read_image
from pfeseg.run.batch import run_task
from pfeseg.run.plan import Task

FUNCTIONS = 14


class Stages:
    """Sums up how long stages last: each from when it is told of to when the next is."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self._stage, self._since = "other", time.perf_counter()

    def __call__(self, stage: str) -> None:
        """Begin a stage."""
        now = time.perf_counter()
        self.seconds[self._stage] = self.seconds.get(self._stage, 0.0) + now - self._since
        self._stage, self._since = stage, now


Run = Callable[[Path, Stages], None]


def command(width: int, height: int, settings: Settings) -> Run:
    """Return a run of the command on a photograph of a size, files and pictures included."""

    def run(folder: Path, stages: Stages) -> None:
        path = folder / f"{width}x{height}.jpg"
        if not path.exists():
            write_photograph(path, width, height)
        results = {
            "labels": folder / "labels.png",
            "overlay": folder / "overlay.png",
            "report": folder / "report.json",
        }
        row = run_task(Task(path, results, settings), 1, stages)
        assert row.status == "done", row.error

    return run


def sweep_dimensions(folder: Path, stages: Stages) -> None:
    """Sweep as `pfeseg sweep` does, without its pictures."""
    path = folder / "481x321.jpg"
    if not path.exists():
        write_photograph(path, 481, 321)
    pairs = [(d, k) for d in range(5, 11) for k in range(3, 9)]
    sweep(read_image(path), pairs, threads=1, on_stage=stages)


RUNS: dict[str, tuple[str, Run]] = {
    "default": ("default, 481 x 321", command(481, 321, Settings())),
    "large": ("default, 4000 x 3000", command(4000, 3000, Settings())),
    "paper": ("paper preset, 481 x 321", command(481, 321, Settings.preset("paper"))),
    "sweep": ("sweep of d 5:10 and k 3:8, 481 x 321", sweep_dimensions),
}


def show(title: str, run: Run) -> None:
    """Print the stages of one run, and the functions of another: a profiler slows what it sees."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder), Stages())  # imports, caches
        stages = Stages()
        run(Path(folder), stages)
        stages("done")
        profile = cProfile.Profile()
        profile.runcall(run, Path(folder), Stages())
    total = sum(stages.seconds.values())
    print(f"\n## {title}: {total:.3f} s in one thread\n\n| stage | s | share |\n|---|---|---|")
    for stage, seconds in stages.seconds.items():
        print(f"| {stage} | {seconds:.3f} | {seconds / total:.0%} |")
    print("\n| function | s | calls |\n|---|---|---|")
    statistics = pstats.Stats(profile).stats  # type: ignore[attr-defined]
    slowest = sorted(statistics.items(), key=lambda item: -item[1][2])[:FUNCTIONS]
    for (file, line, name), (_, calls, own, _, _) in slowest:
        place = Path(file)
        if place.is_relative_to(ROOT / "pfeseg"):
            name = f"{place.relative_to(ROOT)}:{line} {name}"
        elif file != "~":
            name = f"{place.parent.name}/{place.name} {name}"
        print(f"| `{name}` | {own:.3f} | {calls} |")


def main() -> None:
    """Show the runs that are asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", nargs="*", help=f"of {', '.join(RUNS)}; all unless given")
    for name in parser.parse_args().runs or RUNS:
        show(*RUNS[name])


if __name__ == "__main__":
    main()
