"""Segment rasters of known regions by tiles: what lies on seams, how long it takes, the memory.

The scenes are rendered by `scenes.py`. On the smaller one, every boundary that lies on a seam is
compared with the boundaries of the scene.
"""

from __future__ import annotations

import argparse
import tempfile
import time
from pathlib import Path

import numpy as np
from measuring import Record, describe_machine, peak_memory
from scenes import Scene

from pfeseg import Settings
from pfeseg.engines.local import Local
from pfeseg.labels.maps import find_boundaries
from pfeseg.labels.metrics import score
from pfeseg.run.plan import Task
from pfeseg.run.tiles import sew_raster

TILE = 1000

CHECKED, LARGE = 6000, 20_000
"""Pixels of the sides of the scenes."""

NEAR = 4
"""A boundary of the scene so many pixels away is the same."""


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--sides", type=int, nargs="+", default=[CHECKED, LARGE])
    asked = parser.parse_args()
    record = Record(describe_machine())
    with tempfile.TemporaryDirectory() as folder:
        for number, side in enumerate(asked.sides):
            path = Path(folder) / f"scene{side}.tif"
            scene = Scene(side, seed=1)
            scene.write(path)
            if number == 0:
                compare(record, scene, path, asked.jobs)
            for jobs in sorted({1, asked.jobs}):
                measure(record, path, side, jobs)
            path.unlink()


def compare(record: Record, scene: Scene, path: Path, jobs: int) -> None:
    """Compare the regions of a scene, and what lies on seams, with the truth."""
    from scipy.ndimage import distance_transform_edt

    truth = scene.labels(*scene.whole)
    with tempfile.TemporaryDirectory() as folder:
        of, sewn = sew_raster(Task(path, {}, Settings(), tile=TILE), Path(folder), Local(jobs))
        labels, owners = of.mosaic.labels(scene.whole), of.mosaic.owners(scene.whole)
    seams = find_boundaries(owners)
    on_seams = seams & find_boundaries(labels)
    distance = distance_transform_edt(~find_boundaries(truth))
    what = f"{scene.side} x {scene.side}: "
    record.add(what + "true regions", len(np.unique(truth)))
    record.add(what + "regions found", sewn.n_regions)
    record.add(what + "covering", score(labels, [truth]).covering)
    record.add(what + "pixels of seams", seams.sum())
    record.add(what + "pixels of boundaries on seams", on_seams.sum())
    far = (on_seams & (distance > NEAR)).sum()
    record.add(what + f"those farther than {NEAR} from the scene's", far, at_most=0)


def measure(record: Record, path: Path, side: int, jobs: int) -> None:
    """Measure the command: its time, and its memory where it is one process."""
    words = ("segment", path, "--tile", TILE, "--jobs", jobs, "--overwrite", "-q")
    started = time.perf_counter()
    peak = peak_memory("-m", "pfeseg", *words, "--save", "labels,overlay,regions")
    what = f"{side} x {side}, {jobs} job{'s' if jobs > 1 else ''}: "
    record.add(what + "the command", time.perf_counter() - started, "s")
    if jobs == 1:
        record.add(what + "peak memory", peak / 1e6, "MB")


if __name__ == "__main__":
    main()
