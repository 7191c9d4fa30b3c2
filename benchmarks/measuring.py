"""What the benchmarks of speed share: clocks, pictures of any size, and a table with targets."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import imageio.v3 as iio
import numpy as np

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_images"

SIZE_PARTS = ("graph to hierarchy", "the command on 3840 x 2560", "its peak memory")
"""What is measured of each working size."""


@dataclass(frozen=True)
class Figure:
    """One measurement, and what it ought to be."""

    what: str
    value: float
    unit: str = ""
    at_most: float | None = None
    at_least: float | None = None

    @property
    def reached(self) -> bool | None:
        """Whether the target is reached, if there is one."""
        if self.at_most is not None:
            return self.value <= self.at_most
        return None if self.at_least is None else self.value >= self.at_least

    @property
    def number(self) -> str:
        """The value with as many digits as mean something."""
        digits = 0 if self.value >= 100 else 1 if self.value >= 10 else 2 if self.value >= 1 else 3
        return f"{self.value:.1e}" if 0 < self.value < 1e-2 else f"{self.value:.{digits}f}"

    @property
    def target(self) -> str:
        """What it ought to be, and whether it is not."""
        if self.reached is None:
            return ""
        bound = (
            f"at most {self.at_most:.3g}"
            if self.at_least is None
            else f"at least {self.at_least:.3g}"
        )
        return bound if self.reached else f"{bound}: missed"

    def __str__(self) -> str:
        return f"{self.what:72} {self.number:>9} {self.unit:4} {self.target}"


@dataclass
class Record:
    """All that was measured; prints each figure as it comes."""

    machine: dict[str, Any]
    figures: list[Figure] = field(default_factory=list)

    def add(self, what: str, value: float, unit: str = "", **target: float) -> None:
        """Take one figure."""
        figure = Figure(what, float(value), unit, **target)
        self.figures.append(figure)
        print(figure, flush=True)

    def write(self, path: Path) -> None:
        """Write everything as JSON."""
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(asdict(self), indent=1) + "\n")


def write_into_page(record: Record, page: Path) -> None:
    """Replace the figures in the tables of a page by those of a record.

    Rows are known by the name of their figure, or by the working size.
    """
    rows = {figure.what: figure for figure in record.figures}

    def replaced(line: str) -> str:
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        figure = rows.get(cells[0].replace("`", "")) if cells else None
        if figure is not None:
            told = [f"{figure.number} {figure.unit}".strip(), figure.target]
            cells[1:] = told[: len(cells) - 1]  # a short table goes without targets
        sized = [rows.get(f"--max-size {cells[0]}: {part}") for part in SIZE_PARTS] if cells else []
        if sized and all(sized):
            cells[1:] = [f"{figure.number} {figure.unit}" for figure in sized if figure]
        return f"| {' | '.join(cells)} |"

    lines = page.read_text().splitlines()
    page.write_text("\n".join(replaced(x) if x.startswith("| ") else x for x in lines) + "\n")


def describe_machine() -> dict[str, Any]:
    """Tell what the figures were measured on."""
    import platform
    from importlib.metadata import version

    from pfeseg.kernels import variant
    from pfeseg.machine import available_threads

    packages = ("pfeseg", "numpy", "scipy", "scikit-image", "scikit-learn", "pillow")
    return {
        "processors": available_threads(),
        "kernels": variant(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


REST = 0.1
"""Seconds between two actions: threads of linear algebra go on waiting, at full speed, for a while
after their work."""


def best_of(repeats: int, *actions: Callable[[], object]) -> list[float]:
    """Return the shortest time of each action; they take turns, as machines are noisy."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, taken in zip(actions, times, strict=True):
            time.sleep(REST)
            started = time.perf_counter()
            action()
            taken.append(time.perf_counter() - started)
    return [min(taken) for taken in times]


COMPILED = {name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"}
"""The environment of programs that are measured: modules are compiled once, as where pip installed
them, and not at each start."""


def python(*words: object) -> Callable[[], object]:
    """Return an action that runs Python with these words."""
    line = [sys.executable, *map(str, words)]
    return lambda: subprocess.run(line, stdout=subprocess.DEVNULL, check=True, env=COMPILED)


def pfeseg(*words: object) -> Callable[[], object]:
    """Return an action that runs a command of pfeseg, without progress."""
    return python("-m", "pfeseg", *words, "-q")


_TELL_MEMORY = """
import os, subprocess, sys
process = subprocess.Popen([sys.executable, *sys.argv[1:]], stdout=subprocess.DEVNULL)
_, status, usage = os.wait4(process.pid, 0)
process.returncode = os.waitstatus_to_exitcode(status)
print(usage.ru_maxrss * (1 if sys.platform == "darwin" else 1024))
sys.exit(process.returncode)
"""


def peak_memory(*words: object) -> float:
    """Run Python with these words, and return the most memory that it had, in bytes.

    It is started from a small process, as the system counts what its parent had before it.
    """
    line = [sys.executable, "-c", _TELL_MEMORY, *map(str, words)]
    done = subprocess.run(line, stdout=subprocess.PIPE, check=True, env=COMPILED)
    return float(done.stdout)


def photograph(width: int, height: int, name: str = "coffee.jpg") -> np.ndarray:
    """Return a sample photograph, cut out or enlarged to a size; with grain when enlarged.

    Enlarged ones are smooth, which a photograph never is, and their files would be too small.
    """
    from PIL import Image

    picture = iio.imread(SAMPLES / name)
    if height <= picture.shape[0] and width <= picture.shape[1]:
        return picture[:height, :width]
    large = np.asarray(Image.fromarray(picture).resize((width, height), Image.Resampling.BICUBIC))
    rng = np.random.default_rng(0)
    grain = rng.integers(-4, 5, (1 << 20) - 1, dtype=np.int16)
    grained = large.astype(np.int16) + np.resize(grain, large.shape)
    return np.clip(grained, 0, 255).astype(np.uint8)


def write_photograph(path: Path, width: int, height: int) -> np.ndarray:
    """Write such a photograph as JPEG and return it as it will be read."""
    iio.imwrite(path, photograph(width, height), quality=92)
    return iio.imread(path)
