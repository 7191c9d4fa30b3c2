"""Disks that are full or closed, and files that change under our hands."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, run

from pfeseg import Settings
from pfeseg.engines.local import Local
from pfeseg.files.inputs import expand_inputs
from pfeseg.run.batch import run_batch, run_task
from pfeseg.run.plan import make_tasks, plan_results

QUICK = ("-d", "3", "--soc-iterations", "1", "--relaxed-iterations", "5")


@pytest.fixture
def photos(tmp_path):
    """Make a folder of four images whose results are of some size."""
    rng = np.random.default_rng(0)
    (tmp_path / "in").mkdir()
    for name in "abcd":
        image = rng.integers(0, 256, (150, 200, 3), dtype=np.uint8)
        iio.imwrite(tmp_path / "in" / f"{name}.png", image)
    return tmp_path / "in"


def on_a_disk(folder: Path, options: str, script: str) -> subprocess.CompletedProcess[str]:
    """Run a script while a small disk is mounted on a folder, which only the script sees."""
    apart = ["unshare", "--mount"]
    if subprocess.run(
        [*apart, "mount", "-t", "tmpfs", "none", folder], capture_output=True
    ).returncode:
        pytest.skip("no rights to mount a disk")
    mount = f"mount -t tmpfs -o {options} none {folder} || exit 99\n"
    pfeseg = f'pfeseg() {{ {sys.executable} -m pfeseg "$@"; }}\n'
    return subprocess.run(
        [*apart, "sh", "-c", pfeseg + mount + script], capture_output=True, text=True
    )


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_full_disk_costs_what_does_not_fit_and_the_rest_can_be_done_later(photos, tmp_path, jobs):
    (tmp_path / "out").mkdir()
    words = f"segment {photos} -o {tmp_path}/out --jobs {jobs} {' '.join(QUICK)}"
    done = on_a_disk(tmp_path / "out", "size=200k", f"""
        pfeseg {words}; echo "code $?"
        ls -A {tmp_path}/out; echo then
        mount -o remount,size=9m {tmp_path}/out
        pfeseg {words} --skip-existing -q; echo "code $?"
        ls -A {tmp_path}/out
    """)  # fmt: skip
    first, then = done.stdout.split("then\n")
    assert first.startswith("code 1\n"), done.stderr
    assert "cannot be written (No space left on device)" in done.stderr
    assert "Traceback" not in done.stderr
    assert "internal error" not in done.stderr
    written = first.split()[2:]
    assert 3 <= len(written) <= 9  # of some images, all; of the others, nothing
    assert {name[0] for name in written} == {n[0] for n in written if n.endswith(".json")}
    assert len(written) % 3 == 0
    assert then.startswith("code 0\n")
    assert len(then.split()) == 2 + 12


def test_a_read_only_folder_is_told_before_any_work(photos, tmp_path):
    (tmp_path / "out").mkdir()
    words = f"-o {tmp_path}/out; echo $?"
    done = on_a_disk(tmp_path / "out", "ro", f"""
        pfeseg segment {photos} {words}
        pfeseg sweep {photos}/a.png -d 3 {words}
        pfeseg segment {photos} -o {tmp_path}/out/deeper; echo $?
    """)  # fmt: skip
    codes = done.stdout.split()
    assert all(code in ("1", "2") for code in codes)
    assert len(codes) == 3
    lines = done.stderr.splitlines()
    assert len(lines) == 3, done.stderr
    assert all(f"{tmp_path}/out" in line for line in lines)


def tasks_of(folder: Path, output: Path):
    found = expand_inputs([str(folder)]).inputs
    settings = Settings(n_dims=3).changed(soc_iterations=1, relaxed_iterations=5)
    return make_tasks(found, plan_results(found, output, ["labels"]), settings, replaces=False)


@pytest.mark.parametrize("jobs", [1, 2])
def test_what_vanishes_after_it_was_listed_fails_alone(photos, tmp_path, jobs):
    tasks = tasks_of(photos, tmp_path / "out")
    (photos / "b.png").unlink()
    (photos / "c.png").unlink()
    (photos / "c.png").mkdir()
    rows = {Path(row.input).name: row for row in run_batch(tasks, Local(jobs))}
    assert [rows[f"{n}.png"].status for n in "abcd"] == ["done", "failed", "failed", "done"]
    assert rows["b.png"].error == f"{photos}/b.png: no such file"
    assert "expected a file, found a folder" in rows["c.png"].error
    assert names(tmp_path / "out") == ["a.json", "a_labels.png", "d.json", "d_labels.png"]


def test_what_changes_while_it_is_read_is_not_taken_for_done(photos, tmp_path):
    task = tasks_of(photos, tmp_path)[0]

    def change(stage):
        if stage == "read":
            iio.imwrite(task.source, np.zeros((40, 50), np.uint8))
            os.utime(task.source, ns=(1, 1))

    assert run_task(task, on_stage=change).status == "done"
    words = ("segment", task.source, "-o", tmp_path, "--save", "labels", *QUICK, "--skip-existing")
    again = run(*words)
    assert again.exit_code == 1
    assert "a.png has changed since" in again.stderr
    assert run(*words, "--overwrite").exit_code == 0
    assert "done before" in run(*words).stderr
