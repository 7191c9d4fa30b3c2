"""Start Dask workers as SLURM jobs, and segment a folder of images on them.

python jobqueue.py photos results

Needs: pip install dask-jobqueue 'pfeseg[dask]'
"""

from __future__ import annotations

import signal
import subprocess
import sys
from typing import Any

JOBS = 20

JOB: dict[str, Any] = {
    "cores": 4,
    "processes": 1,  # one Dask worker, which works on 4 images at a time
    "memory": "8GB",
    "walltime": "02:00:00",
    # What the images may take together; the rest is for the worker itself.
    "worker_extra_args": ["--resources", "MEMORY=7e9"],
}
"""What each job asks for; the names are those of dask_jobqueue.SLURMCluster."""


def main(photos: str, results: str) -> int:
    """Run one command on a cluster that lasts as long as it does."""
    from dask_jobqueue.slurm import SLURMCluster

    # With what was just imported, Ctrl-C would end this program as if all was done. It is for
    # pfeseg, which hears it too: once that has ended, the jobs are cancelled.
    signal.signal(signal.SIGINT, lambda *_: None)
    with SLURMCluster(**JOB) as cluster:
        cluster.adapt(minimum_jobs=JOBS, maximum_jobs=JOBS)  # those that end are replaced
        command = ["pfeseg", "segment", photos, "-r", "-o", results, "--skip-existing"]
        waiting = ["--dask", cluster.scheduler_address, "--dask-wait", "3600"]
        return subprocess.run([*command, *waiting], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]) if len(sys.argv) == 3 else __doc__)
