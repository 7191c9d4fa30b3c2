"""Segment a folder of many tiny images with --jobs 2, and watch the processes at work.

The first result must come soon, memory must stay flat, the last images must come no slower than the
first, and no file may stay open.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import imageio.v3 as iio
import numpy as np

KINDS = 20
"""Different images, to which all files are links."""


def main() -> None:
    """Print a line for each tenth of the images, and what it comes to."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--images", type=int, default=5000, metavar="N")
    parser.add_argument("--stop-after", type=int, metavar="N", help="results, of all of which")
    chosen = parser.parse_args()
    wanted = chosen.stop_after or chosen.images
    with tempfile.TemporaryDirectory() as folder:
        make_images(Path(folder), chosen.images)
        watch(Path(folder), wanted, step=max(wanted // 10, 1))


def make_images(folder: Path, count: int) -> None:
    """Fill the folders "in" and "kinds"."""
    rng = np.random.default_rng(0)
    for name in ("in", "kinds"):
        (folder / name).mkdir()
    for k in range(min(KINDS, count)):
        colours = rng.integers(0, 256, (2, 3, 3), dtype=np.uint8)
        iio.imwrite(folder / "kinds" / f"{k}.png", colours.repeat(6, 0).repeat(6, 1))
    for k in range(count):
        os.link(folder / "kinds" / f"{k % KINDS}.png", folder / "in" / f"{k:06}.png")


def watch(folder: Path, wanted: int, step: int) -> None:
    """Run the command, and look at its processes after each `step` results."""
    command = [sys.executable, "-m", "pfeseg", "segment", folder / "in", "-o", folder / "out",
               "--jobs", "2", "--json", "-q", "--save", "labels", "-d", "3"]  # fmt: skip
    started = before = time.perf_counter()
    process = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert process.stdout is not None
    for count, line in enumerate(process.stdout, 1):
        assert '"status": "done"' in line, line
        if count == 1:
            print(f"the first result after {time.perf_counter() - started:.1f} s")
            before = time.perf_counter()
        elif count % step == 0:
            now = time.perf_counter()
            print(f"{count:7} results: {step / (now - before):6.1f} images/s; "
                  + "; ".join(map(state, family(process.pid))), flush=True)  # fmt: skip
            before = now
        if count == wanted:
            break
    process.terminate()
    process.wait()


def family(pid: int) -> list[int]:
    """List a process and those that it started."""
    tasks = Path(f"/proc/{pid}/task").iterdir()
    return [pid, *(int(c) for task in tasks for c in (task / "children").read_text().split())]


def state(pid: int) -> str:
    """Tell the memory and the open files of a process."""
    pages = int(Path(f"/proc/{pid}/statm").read_text().split()[1])
    memory = pages * os.sysconf("SC_PAGE_SIZE") / 1e6
    return f"{memory:.0f} MB, {len(list(Path(f'/proc/{pid}/fd').iterdir()))} files"


if __name__ == "__main__":
    main()
