"""Batches that are stopped at any moment and then finished; also a program of many such moments."""

from __future__ import annotations

import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from helpers import SAMPLES, children, is_running, names, wait_until

N_IMAGES = 4


def start_batch(source: Path, output: Path, *options: str) -> subprocess.Popen[str]:
    """Start a batch of small images with two jobs."""
    command = [sys.executable, "-m", "pfeseg", "segment", source, "-o", output, "--jobs", "2"]
    return subprocess.Popen(
        [*command, "--max-size", "120", *options], stderr=subprocess.PIPE, text=True
    )


def make_inputs(folder: Path) -> None:
    """Fill a folder with photographs."""
    folder.mkdir()
    photographs = sorted(SAMPLES.glob("*.jpg"))
    for k in range(N_IMAGES):
        shutil.copy(photographs[k % len(photographs)], folder / f"{k}.jpg")


def run_undisturbed(folder: Path) -> Path:
    """Run a batch in peace, and return the folder of its results."""
    make_inputs(folder / "in")
    process = start_batch(folder / "in", folder / "whole")
    _, errors = process.communicate(timeout=60)
    assert process.returncode == 0, errors
    return folder / "whole"


def has_begun(process: subprocess.Popen[str]) -> bool:
    """Tell whether a batch has started workers, or is over already."""
    return bool(children(process.pid)) or process.poll() is not None


def are_gone(pids: Sequence[int]) -> bool:
    """Tell whether none of some processes is at work."""
    return not any(map(is_running, pids))


def stop_and_finish(whole: Path, output: Path, stops: Sequence[tuple[int, float]]) -> None:
    """Send signals to a batch, each some seconds after a first sign of life; then finish it.

    Whatever the moment, no process stays, and the results are those of an undisturbed batch.
    """
    source = whole.parent / "in"
    for number, delay in stops:
        process = start_batch(source, output, "--skip-existing")
        wait_until(partial(has_begun, process))
        time.sleep(delay)
        workers = children(process.pid)
        process.send_signal(number)
        _, errors = process.communicate(timeout=30)
        assert process.returncode in (0, -number, 128 + number), errors
        assert "Traceback" not in errors, errors
        wait_until(partial(are_gone, workers), 5)
    last = start_batch(source, output, "--skip-existing")
    _, errors = last.communicate(timeout=60)
    assert last.returncode == 0, errors
    assert names(output) == names(whole), "a file is missing, or a stray one left"
    for path in whole.glob("*.png"):
        assert path.read_bytes() == (output / path.name).read_bytes(), path.name


def main(count: int) -> None:
    """Stop batches at random moments, and tell how many."""
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        whole = run_undisturbed(Path(folder))
        for k in range(count):
            number = chance.choice([signal.SIGKILL, signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
            delay = chance.uniform(0, 2)
            stop_and_finish(whole, Path(folder) / str(k), [(number, delay)])
            print(f"{k + 1}: {signal.Signals(number).name} after {delay:.2f} s, finished")


if __name__ == "__main__":
    main(30)
