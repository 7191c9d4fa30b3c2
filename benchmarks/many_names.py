"""Hand 100,000 names to a Dask cluster, with a call that does nothing, and watch this process.

What it needs must not grow with the number of names that were handed out, and the first result
must come soon. Start it with the address of a scheduler, or with local:2 as by default.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from pathlib import Path

from pfeseg.engines.cluster import open_cluster
from pfeseg.engines.engine import Call, Work


def main() -> None:
    """Print the memory and the rate along the way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dask", default="local:2", metavar="ADDRESS")
    parser.add_argument("--names", type=int, default=100_000, metavar="N")
    chosen = parser.parse_args()
    calls = [(f"{k:06}.png",) for k in range(chosen.names)]
    with (
        tempfile.TemporaryDirectory() as folder,
        open_cluster(chosen.dask, 60, Path(folder), ()) as cluster,
    ):
        started = time.perf_counter()
        results = cluster.run(Work(len), calls, _give_up)
        for count, _ in enumerate(results, 1):
            if count == 1 or count % (chosen.names // 10) == 0:
                seconds = time.perf_counter() - started
                print(f"{count:7} results after {seconds:6.1f} s, {_memory():.0f} MB", flush=True)


def _memory() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _give_up(call: Call, reason: str) -> int:
    raise RuntimeError(f"{call}: {reason}")


if __name__ == "__main__":
    main()
