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
from collections.abc import Callable
from pathlib import Path

from measuring import ROOT, write_photograph

from pfeseg import Settings, sweep
from pfeseg.files.reading import read_image
from pfeseg.run.batch import run_task
from pfeseg.run.plan import Task

FUNCTIONS = 14


def command(width: int, height: int, settings: Settings) -> Callable[[Path], dict[str, float]]:
    """Return a run of the command on a photograph of a size, files and pictures included."""

    def run(folder: Path) -> dict[str, float]:
        path = folder / f"{width}x{height}.jpg"
        if not path.exists():
            write_photograph(path, width, height)
        results = {
            "labels": folder / "labels.png",
            "overlay": folder / "overlay.png",
            "report": folder / "report.json",
        }
        row = run_task(Task(path, results, settings), threads=1)
        assert row.status == "done", row.error
        return row.timings

    return run


def sweep_dimensions(folder: Path) -> dict[str, float]:
    """Sweep as `pfeseg sweep` does, without its pictures; returns the seconds of all trials."""
    path = folder / "481x321.jpg"
    if not path.exists():
        write_photograph(path, 481, 321)
    pairs = [(d, k) for d in range(5, 11) for k in range(3, 9)]
    found = sweep(read_image(path), pairs, threads=1)
    stages: dict[str, float] = {}
    for trial in found.trials:
        for stage, seconds in trial.timings.items():
            stages[stage] = stages.get(stage, 0.0) + seconds
    return stages


RUNS: dict[str, tuple[str, Callable[[Path], dict[str, float]]]] = {
    "default": ("default, 481 x 321", command(481, 321, Settings())),
    "large": ("default, 4000 x 3000", command(4000, 3000, Settings())),
    "paper": ("paper preset, 481 x 321", command(481, 321, Settings.preset("paper"))),
    "sweep": ("sweep of d 5:10 and k 3:8, 481 x 321", sweep_dimensions),
}


def show(title: str, run: Callable[[Path], dict[str, float]]) -> None:
    """Print the stages of one run, and the functions of another: a profiler slows what it sees."""
    with tempfile.TemporaryDirectory() as folder:
        run(Path(folder))  # imports, caches
        stages = run(Path(folder))
        profile = cProfile.Profile()
        profile.runcall(run, Path(folder))
    total = sum(stages.values())
    print(f"\n## {title}: {total:.3f} s in one thread\n\n| stage | s | share |\n|---|---|---|")
    for stage, seconds in stages.items():
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
