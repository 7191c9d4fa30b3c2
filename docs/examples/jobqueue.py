"""Start Dask workers as SLURM jobs, and segment a folder of images on them.

python jobqueue.py photos results

Needs: pip install dask-jobqueue 'pfeseg[dask]'
"""

from __future__ import annotations

import subprocess
import sys
from typing import Any

WORKERS: dict[str, Any] = {
    "cores": 4,
    "processes": 4,  # one thread each
    "memory": "8GB",
    "walltime": "02:00:00",
}
"""Of each job; the names of dask_jobqueue.SLURMCluster."""

JOBS = 20


def main(photos: str, results: str) -> int:
    """Run one command on a cluster that lasts as long as it does."""
    from dask_jobqueue.slurm import SLURMCluster

    with SLURMCluster(**WORKERS) as cluster:
        cluster.scale(jobs=JOBS)
        command = ["pfeseg", "segment", photos, "-r", "-o", results, "--skip-existing"]
        waiting = ["--dask", cluster.scheduler_address, "--dask-wait", "3600"]
        return subprocess.run([*command, *waiting], check=False).returncode


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
