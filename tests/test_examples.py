"""What ``docs/cluster.md`` shows, run as far as one machine can."""

from __future__ import annotations

import os
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import ROOT, names

EXAMPLES = ROOT / "docs" / "examples"
BESIDE_PYTHON = os.environ | {
    "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
}


@pytest.fixture
def photos(tmp_path):
    folder = tmp_path / "my photos"
    folder.mkdir()
    for k in range(3):
        iio.imwrite(folder / f"{k}.jpg", np.full((24, 30, 3), 60 * k, np.uint8))
    return folder


def test_every_job_of_the_array_does_its_part(photos, tmp_path):
    script, out = EXAMPLES / "slurm_array.sh", tmp_path / "out"
    for k in (1, 2):
        job = {"SLURM_ARRAY_TASK_ID": f"{k}", "SLURM_ARRAY_TASK_COUNT": "2",
               "SLURM_CPUS_PER_TASK": "1"}  # fmt: skip
        subprocess.run(["bash", script, photos, out], check=True, env=BESIDE_PYTHON | job)
        assert len(list(out.glob("*.json"))) == (2, 3)[k - 1]


def test_the_workers_of_jobqueue_are_what_it_understands():
    jobqueue = pytest.importorskip("dask_jobqueue.slurm", reason="pip install dask-jobqueue")
    example = runpy.run_path(str(EXAMPLES / "jobqueue.py"))
    script = jobqueue.SLURMJob(
        scheduler="tcp://127.0.0.1:8786", name="test", **example["WORKERS"]
    ).job_script()
    assert "#SBATCH --cpus-per-task=4" in script
    assert "--nthreads 1 " in script
    assert "--nworkers 4 " in script


def test_snakemake_runs_the_rule_once(photos, tmp_path):
    if shutil.which("snakemake", path=BESIDE_PYTHON["PATH"]) is None:
        pytest.skip("pip install snakemake")
    out = tmp_path / "out"
    command = ["snakemake", "-s", EXAMPLES / "Snakefile", "--cores", "1", "--config",
               f"photos={photos}", f"results={out}"]  # fmt: skip

    def say(*options: str) -> str:
        run = subprocess.run(
            [*command, *options], cwd=tmp_path, env=BESIDE_PYTHON, capture_output=True, text=True
        )
        assert run.returncode == 0, run.stderr
        return run.stdout + run.stderr

    assert "segment" in say("--dry-run")
    say()
    assert len([name for name in names(out) if name.endswith("_labels.png")]) == 3
    assert "Nothing to be done" in say("--dry-run")
