"""Hand 100,000 names to a Dask cluster, with a call that does nothing, and watch this process.

What it needs must not grow with the number of names that were handed out, and the first result
must come soon. The cluster is that of a scheduler whose address is given, or two workers and a
scheduler of this machine, each a process of its own. A scheduler of local:2 would be in this
process: Dask's keeps the names of the last 100,000 calls, some 20 MB.
"""

from __future__ import annotations

import argparse
import resource
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pfeseg.engines.cluster import open_cluster
from pfeseg.engines.engine import Call, Work


def main() -> None:
    """Print the memory and the rate along the way."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dask", metavar="ADDRESS")
    parser.add_argument("--names", type=int, default=100_000, metavar="N")
    chosen = parser.parse_args()
    calls = [(f"{k:06}.png",) for k in range(chosen.names)]
    with (
        tempfile.TemporaryDirectory() as folder,
        scheduler(chosen.dask) as address,
        open_cluster(address, 60, Path(folder), ()) as cluster,
    ):
        started = time.perf_counter()
        results = cluster.run(Work(len), calls, _give_up)
        for count, _ in enumerate(results, 1):
            if count == 1 or count % (chosen.names // 10) == 0:
                seconds = time.perf_counter() - started
                print(f"{count:7} results after {seconds:6.1f} s, {_memory():.0f} MB", flush=True)


@contextmanager
def scheduler(address: str | None) -> Iterator[str]:
    """Tell the address of a scheduler; one is started, with two workers, if none is given."""
    if address:
        yield address
        return
    from distributed.deploy.subprocess import SubprocessCluster

    with SubprocessCluster(n_workers=2, worker_kwargs={"nthreads": 1}) as cluster:
        yield cluster.scheduler_address


def _memory() -> float:
    """Return the most memory that this process had so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def _give_up(call: Call, reason: str) -> int:
    raise RuntimeError(f"{call}: {reason}")


if __name__ == "__main__":
    main()
