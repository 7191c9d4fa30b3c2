"""What ``docs/cluster.md`` shows, run as far as this machine can."""

from __future__ import annotations

import runpy
import shutil
import signal
import subprocess

import pytest
import slurm
from helpers import wait_until


@pytest.fixture(scope="module")
def photos(tmp_path_factory):
    return slurm.make_photos(tmp_path_factory.mktemp("desk") / "my photos", 4)


@pytest.fixture(scope="module")
def alone(photos):
    return slurm.local_results(photos, photos.with_name("alone"))


@pytest.fixture(scope="module")
def cluster():
    if missing := slurm.missing_programs():
        pytest.skip(f"no {missing[0]} here: apt-get install slurm-wlm munge")
    with slurm.running_slurm() as running:
        yield running


def test_every_job_of_the_array_does_its_part(photos, alone, tmp_path):
    script, out = slurm.EXAMPLES / "slurm_array.sh", tmp_path / "out"
    for k in (1, 2):
        job = {"SLURM_ARRAY_TASK_ID": f"{k}", "SLURM_ARRAY_TASK_COUNT": "2",
               "SLURM_CPUS_PER_TASK": "1"}  # fmt: skip
        subprocess.run(["bash", script, photos, out], check=True, env=slurm.ENVIRONMENT | job)
        assert len(slurm.reports(out)) == 2 * k
    assert slurm.contents(out) == alone


def test_the_array_says_what_it_needs(photos):
    command = ["bash", slurm.EXAMPLES / "slurm_array.sh", photos]
    told = subprocess.run(command, env=slurm.ENVIRONMENT, capture_output=True, text=True)
    assert told.returncode != 0
    assert "usage: sbatch slurm_array.sh PHOTOS RESULTS" in told.stderr


def test_a_job_array_gives_the_bytes_of_one_process(cluster, photos, alone, tmp_path):
    slurm.try_array(cluster, photos, tmp_path / "out")
    assert slurm.contents(tmp_path / "out") == alone


def test_dask_workers_that_are_jobs_give_the_bytes_of_one_process(cluster, photos, alone, tmp_path):
    pytest.importorskip("dask_jobqueue", reason="pip install dask-jobqueue")
    slurm.try_jobqueue(cluster, photos, tmp_path / "out")
    assert slurm.contents(tmp_path / "out") == alone


def test_the_jobs_of_jobqueue_are_what_it_understands():
    jobqueue = pytest.importorskip("dask_jobqueue.slurm", reason="pip install dask-jobqueue")
    example = runpy.run_path(str(slurm.EXAMPLES / "jobqueue.py"))
    script = jobqueue.SLURMJob(
        scheduler="tcp://127.0.0.1:8786", name="test", **example["JOB"]
    ).job_script()
    assert "#SBATCH --cpus-per-task=4" in script
    assert "--nthreads 4 " in script
    assert "--resources MEMORY=7e9" in script


def test_snakemake_goes_on_after_it_was_killed(photos, alone, tmp_path):
    if shutil.which("snakemake", path=slurm.PATH) is None:
        pytest.skip("pip install snakemake")
    out = tmp_path / "my results"
    command = ["snakemake", "-s", slurm.EXAMPLES / "Snakefile", "--cores", "1",
               "--rerun-incomplete", "--config", f"photos={photos}", f"results={out}"]  # fmt: skip
    process = subprocess.Popen(
        command, cwd=tmp_path, env=slurm.ENVIRONMENT, stderr=subprocess.DEVNULL
    )
    wait_until(lambda: bool(slurm.reports(out)))
    process.send_signal(signal.SIGKILL)
    process.wait()
    assert len(slurm.reports(out)) < 4

    def say(*options: str) -> str:
        run = subprocess.run(
            [*command, *options],
            cwd=tmp_path, env=slurm.ENVIRONMENT, capture_output=True, text=True,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
        return run.stdout + run.stderr

    say("--unlock")
    say()
    assert slurm.contents(out) == {
        name: content for name, content in alone.items() if not name.endswith("_overlay.png")
    }
    assert "Nothing to be done" in say("--dry-run")
