"""Segment small images with and without bringing their results to the disk before they are named.

That a result is on the disk before it gets its name keeps a power failure from leaving an empty
file that counts as done. The two ways take turns, so that they meet the same machine.
"""

from __future__ import annotations

import argparse
import os
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import imageio.v3 as iio
import numpy as np

from pfeseg import Settings
from pfeseg.engines.local import Local
from pfeseg.files.inputs import expand_inputs
from pfeseg.run.batch import run_batch
from pfeseg.run.plan import make_tasks, plan_results


def main() -> None:
    """Print the images per second of both ways, and their ratio."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", nargs="?", type=Path, help="on the disk to measure")
    parser.add_argument("--images", type=int, default=50, metavar="N", help="in each turn")
    parser.add_argument("--turns", type=int, default=5, metavar="N")
    chosen = parser.parse_args()
    plain: Callable[[int], None] = os.fsync
    rates: dict[str, list[float]] = {"with": [], "without": []}
    with tempfile.TemporaryDirectory(dir=chosen.folder) as folder:
        make_images(Path(folder) / "in", chosen.images)
        segment_all(Path(folder), "first")
        for turn in range(chosen.turns):
            for way, sync in (("with", plain), ("without", lambda held: None)):
                os.fsync = sync
                rates[way].append(chosen.images / segment_all(Path(folder), f"{way}{turn}"))
        os.fsync = plain
    means = {way: float(np.median(found)) for way, found in rates.items()}
    for way, mean in means.items():
        print(f"{way:>7}: {mean:6.1f} images/s (of {', '.join(f'{r:.1f}' for r in rates[way])})")
    print(f"  ratio: {means['with'] / means['without']:.2f}")


def make_images(folder: Path, count: int) -> None:
    """Fill a folder with small images."""
    folder.mkdir()
    rng = np.random.default_rng(0)
    for k in range(count):
        colours = rng.integers(0, 256, (3, 4, 3), dtype=np.uint8)
        iio.imwrite(folder / f"{k:06}.png", colours.repeat(16, 0).repeat(16, 1))


def segment_all(folder: Path, name: str) -> float:
    """Segment all images in this process; returns the seconds."""
    found = expand_inputs([str(folder / "in")]).inputs
    plan = plan_results(found, folder / name, ["labels", "overlay"])
    tasks = make_tasks(found, plan, Settings(n_dims=3))
    started = time.perf_counter()
    rows = list(run_batch(tasks, Local(), threads=1))
    assert all(row.status == "done" for row in rows)
    return time.perf_counter() - started


if __name__ == "__main__":
    main()
