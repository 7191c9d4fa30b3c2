"""``--dask``: a real scheduler and real workers on this machine."""

from __future__ import annotations

import json
import os
import shutil
import signal
import socket
import subprocess
import sys
import time
from dataclasses import replace
from pathlib import Path

import calls
import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import is_running, names, run, save_truth, wait_until

from pfeseg import Settings
from pfeseg.engines.cluster import open_cluster
from pfeseg.engines.engine import Work
from pfeseg.engines.local import Local
from pfeseg.errors import InvalidInputError, PfesegWarning
from pfeseg.run.batch import run_tiled_task
from pfeseg.run.plan import Task

pytest.importorskip("distributed", reason="pip install 'pfeseg[dask]'")

QUICK = ("-d", 3, "--soc-iterations", 1, "--relaxed-iterations", 5)
NANNY_FREE = ("--nthreads", "1", "--no-nanny", "--memory-limit", "2GB")


class Machines:
    """A scheduler, and the workers that are started for it."""

    def __init__(self, folder: Path) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            port = free.getsockname()[1]
        self.address, self.folder, self.all = f"tcp://127.0.0.1:{port}", folder, []
        self.scheduler = self._start("scheduler", "--host", "127.0.0.1", "--port", str(port))
        wait_until(lambda: _listens(port), seconds=60)

    def work(self, *options: str, within: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        options = (self.address, "--local-directory", str(self.folder), *options)
        return self._start("worker", *options, within=within)

    def _start(self, *words: str, within: tuple[str, ...] = ()) -> subprocess.Popen[bytes]:
        # The workers find the stub calls of the tests, as they find pfeseg.
        paths = os.pathsep.join([str(Path(__file__).parent), os.environ.get("PYTHONPATH", "")])
        command = [*within, sys.executable, "-m", "dask", *words, "--no-dashboard"]
        with (self.folder / f"{len(self.all)}.log").open("wb") as log:
            process = subprocess.Popen(
                command, stdout=log, stderr=log, env=os.environ | {"PYTHONPATH": paths}
            )
        self.all.append(process)
        return process

    def end(self) -> None:
        for process in self.all:
            process.kill()
            process.wait()

    def open(self, folder: Path, wait: float = 30, inputs: tuple[Path, ...] = ()):
        return open_cluster(self.address, wait, folder, inputs)


def _listens(port: int) -> bool:
    with socket.socket() as guest:
        return guest.connect_ex(("127.0.0.1", port)) == 0


@pytest.fixture(scope="module")
def machines(tmp_path_factory):
    """Start a scheduler and two workers that all tests share, and that no test ends."""
    started = Machines(tmp_path_factory.mktemp("dask"))
    for _ in range(2):
        started.work(*NANNY_FREE)
    yield started
    started.end()


@pytest.fixture
def others(tmp_path):
    """Start a scheduler without workers."""
    (tmp_path / "dask").mkdir()
    started = Machines(tmp_path / "dask")
    yield started
    started.end()


@pytest.fixture
def folder(tmp_path):
    """Make a folder of small images, one of them bad."""
    rng = np.random.default_rng(0)
    base = tmp_path / "in"
    base.mkdir()
    for k in range(5):
        colours = rng.integers(0, 256, (3, 3, 3), dtype=np.uint8)
        iio.imwrite(base / f"{k}.png", colours.repeat(16, 0).repeat(12, 1))
    (base / "bad.png").write_text("no image")
    return base


def give_up(call, reason):
    return f"{call}: {reason}"


def test_a_batch_has_the_bytes_and_rows_of_a_local_one(machines, folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)  # names that begin here mean the same to the workers
    rows = {}
    for where in (("--jobs", 2), ("--dask", machines.address)):
        out = where[0].strip("-")
        result = run("segment", "in", "-o", out, "--json", *where, *QUICK)
        assert result.exit_code == 1
        assert "6 images: 5 done, 1 failed" in result.stderr
        rows[out] = {}
        for line in result.stdout.splitlines():
            row = json.loads(line)
            kept = {name: row.get(name) for name in ("status", "regions", "error")}
            rows[out][row["input"]] = kept | {"results": len(row.get("results", ()))}
    assert rows["dask"] == rows["jobs"]
    assert names(tmp_path / "dask") == names(tmp_path / "jobs")  # no probe either
    for path in (tmp_path / "jobs").glob("*.png"):
        assert path.read_bytes() == (tmp_path / "dask" / path.name).read_bytes()
    again = run(
        "segment", "in", "-o", "dask", "--skip-existing", "--dask", machines.address, *QUICK
    )
    assert "0 done, 1 failed, 5 skipped" in again.stderr


def test_tiles_of_a_raster_have_the_bytes_of_one_process(machines, samples, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    photograph = iio.imread(samples / "coffee.jpg")[::2, ::2]
    tifffile.imwrite("deep.tif", photograph.astype(np.uint16) * 9, photometric="rgb", tile=(64, 64))
    words = ("segment", "deep.tif", "--tile", 160, "--save", "labels,overlay,regions")
    for out, where in (("1", ()), ("2", ("--dask", machines.address))):
        result = run(*words, "-o", out, *where)
        assert result.exit_code == 0, result.stderr
    assert names(tmp_path / "1") == names(tmp_path / "2")  # no scratch folder either
    for name in ("deep_labels.tif", "deep_overlay.png", "deep_regions.csv"):
        assert (tmp_path / "1" / name).read_bytes() == (tmp_path / "2" / name).read_bytes()


def test_a_dask_worker_that_dies_costs_a_retry_of_its_tile(machines, samples, tmp_path):
    raster = np.tile(iio.imread(samples / "rocket.jpg"), (3, 3, 1))
    tifffile.imwrite(tmp_path / "big.tif", raster, photometric="rgb", tile=(64, 64))
    extra, done = machines.work(*NANNY_FREE, "--name", "extra"), []
    with machines.open(tmp_path) as cluster:
        wait_until(lambda: len(cluster._client.nthreads()) == 3)

        def kill_at_work(stage, count, _):
            if stage == "tiles" and count == 2:
                extra.kill()
            done.append((stage, count))

        results = {"labels": tmp_path / "a" / "l.npy", "report": tmp_path / "a" / "l.json"}
        task = Task(tmp_path / "big.tif", results, Settings(n_dims=3, max_size=80), tile=300)
        row = run_tiled_task(task, cluster, on_tile=kill_at_work)
    assert row.status == "done", row.error
    assert extra.wait(10) == -signal.SIGKILL
    alone = replace(task, results={k: tmp_path / "b" / p.name for k, p in results.items()})
    assert run_tiled_task(alone, Local()).status == "done"
    assert (tmp_path / "a" / "l.npy").read_bytes() == (tmp_path / "b" / "l.npy").read_bytes()
    assert names(tmp_path / "a") == names(tmp_path / "b") == ["l.json", "l.npy"]


def test_tables_are_clustered_as_in_one_process(machines, tmp_path):
    rng = np.random.default_rng(0)
    for k in range(3):
        points = rng.normal(size=(60, 2)) + 9 * rng.integers(0, 2, (60, 1))
        np.savetxt(tmp_path / f"{k}.csv", points, delimiter=",")
    (tmp_path / "bad.csv").write_text("x,y\n1,\n")
    words = ("cluster-data", f"{tmp_path}/*.csv", "-k", 2, "--save", "labels,embedding", "-o")
    for out, where in (("1", ()), ("2", ("--dask", machines.address, "--dask-wait", 30))):
        result = run(*words, tmp_path / out, *where)
        assert result.exit_code == 1
        assert "4 files: 3 done, 1 failed" in result.stderr
        assert "bad.csv: row 1 has no value in column 'y'" in result.stderr
    for path in (tmp_path / "1").glob("*_*"):
        assert path.read_bytes() == (tmp_path / "2" / path.name).read_bytes()
    again = run(*words, tmp_path / "2", "--dask", machines.address, "--skip-existing")
    assert "0 done, 1 failed, 3 skipped" in again.stderr


def test_a_sweep_and_bsds_are_those_of_one_process(machines, samples, tmp_path):
    sweep = ("sweep", samples / "chelsea.jpg", "-d", "3,4", "--max-size", 60, "-o")
    data = tmp_path / "data"
    for kind in ("images", "groundTruth"):
        (data / kind / "val").mkdir(parents=True)
    shutil.copy(samples / "chelsea.jpg", data / "images" / "val")
    size = iio.imread(samples / "chelsea.jpg").shape[:2]
    save_truth(data / "groundTruth" / "val" / "chelsea.mat", np.indices(size)[1] // 200)
    bsds = ("bsds", data, "--split", "val", "--methods", "pfe", "-d", 3, "--max-size", 60,
            "--no-figures", "-q", "-o")  # fmt: skip
    for out, where in (("1", ()), ("2", ("--dask", machines.address))):
        for command in (sweep, bsds):
            result = run(*command, tmp_path / out, *where)
            assert result.exit_code == 0, result.stderr
    one, two = (
        [line.split(",")[:-1] for line in (tmp_path / k / "chelsea_sweep.csv").read_text().split()]
        for k in "12"
    )
    assert one == two  # but for the seconds
    one, two = ((tmp_path / k / "segs" / "pfe" / "chelsea.mat").read_bytes()[128:] for k in "12")
    assert one == two  # but for the clock in the header


def test_what_kills_two_processes_is_given_up_and_the_rest_goes_on(machines, tmp_path):
    marks = tmp_path / "marks"
    with machines.open(tmp_path) as cluster:
        work = Work(calls.kill_self, marks)
        results = list(cluster.run(work, [(marks, k, 9) for k in range(8)], give_up))
    assert {r for r in results if isinstance(r, int)} == {0, 1, 4, 16, 25, 36, 49}
    assert ["SIGKILL" in r for r in results if isinstance(r, str)] == [True]
    assert len(marks.read_text().split()) == 2


def test_a_killed_dask_worker_costs_a_retry_elsewhere(machines, tmp_path):
    extra = machines.work(*NANNY_FREE, "--name", "extra")
    with machines.open(tmp_path) as cluster:
        wait_until(lambda: len(cluster._client.nthreads()) == 3)
        results = cluster.run(Work(calls.own_parent), [(k,) for k in range(60)], give_up)
        parents = [next(results)]
        while extra.pid not in parents:
            parents.append(next(results))
        extra.kill()
        parents += results
    assert len(parents) == 60  # none is lost, and none given up
    assert all(isinstance(parent, int) for parent in parents)


def test_processes_end_with_the_run(machines, tmp_path):
    started = time.perf_counter()
    with machines.open(tmp_path) as cluster:
        running = cluster.run(Work(calls.own_id), [(k,) for k in range(9)], give_up)
        pids = {next(running), next(running)}
        running.close()
    wait_until(lambda: not any(map(is_running, pids)), 5)
    assert time.perf_counter() - started < 10


def test_ctrl_c_gives_130_soon_and_leaves_nothing_half_written(machines, samples, tmp_path):
    (tmp_path / "in").mkdir()
    for k in range(9):
        shutil.copy(samples / "rocket.jpg", tmp_path / "in" / f"{k}.jpg")
    process = subprocess.Popen(
        [sys.executable, "-m", "pfeseg", "segment", tmp_path / "in", "-o", tmp_path / "out",
         "--preset", "paper", "--dask", machines.address],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: (tmp_path / "out").exists())
    process.send_signal(signal.SIGINT)
    started = time.perf_counter()
    _, errors = process.communicate(timeout=10)
    assert time.perf_counter() - started < 3
    assert process.returncode == 130
    assert errors.splitlines()[-1] == "Error: interrupted"
    assert "Traceback" not in errors
    assert not list((tmp_path / "out").glob(".*"))


def test_few_calls_are_on_their_way(machines, tmp_path):
    submitted = []
    with machines.open(tmp_path) as cluster:
        submit = cluster._client.submit

        def counted(*args, **options):
            submitted.append(options["workers"][0])
            return submit(*args, **options)

        cluster._client.submit = counted
        done = cluster.run(Work(calls.square), [(k,) for k in range(300)], give_up)
        first = next(done)
        assert len(submitted) <= 4 + 1
        assert {first, *done} == {k * k for k in range(300)}
    assert len(submitted) == 300


def test_memory_that_workers_declare_is_asked_for(others, tmp_path):
    others.work(*NANNY_FREE, "--nthreads", "4", "--resources", "MEMORY=1000")
    with others.open(tmp_path) as cluster:
        assert cluster.memory_per_call == 1000
        work = Work(calls.when, memory=lambda number: 5000.0 if number == 0 else 400.0)
        times = list(cluster.run(work, [(k,) for k in range(6)], give_up))
    events = sorted((t, step) for begin, end in times for t, step in ((begin, 1), (end, -1)))
    at_once = np.cumsum([step for _, step in events])
    assert 2 <= at_once.max() <= 3  # two of 400 bytes, and what fits nowhere


def test_a_cluster_that_will_not_do_is_refused_in_one_line(others, folder, tmp_path, monkeypatch):
    monkeypatch.setattr("pfeseg.engines.admission.SEEN_WITHIN", 0.5)
    args = ("segment", folder, "-o", tmp_path / "out", "--dask", others.address, *QUICK)

    def refusal(wait):
        result = run(*args, "--dask-wait", wait)
        assert result.exit_code == 1
        assert not (tmp_path / "out").exists()
        line = next(line for line in result.stderr.splitlines() if others.address in line
                    or "Dask worker" in line)  # fmt: skip
        assert line.startswith("Error: ")
        return line

    assert "no Dask worker came to" in refusal(0.1)
    assert "--dask-wait" in refusal(0.1)
    preload = tmp_path / "older.py"
    preload.write_text("import pfeseg\npfeseg.__version__ = '0.0.1'\n")
    worker = others.work(*NANNY_FREE, "--preload", str(preload))
    assert "has pfeseg 0.0.1, but here it is" in refusal(30)
    worker.kill()
    worker.wait()
    if subprocess.run(["unshare", "--mount", "true"], capture_output=True).returncode:
        pytest.skip("no rights to hide a folder from a worker")
    hide = f'mount -t tmpfs none {tmp_path} && exec "$0" "$@"'
    others.folder = Path(str(tmp_path) + "-dask")  # where both see it
    others.folder.mkdir()
    others.work(*NANNY_FREE, within=("unshare", "--mount", "sh", "-c", hide))
    assert f"does not see what is written into {tmp_path}" in refusal(30)


def test_a_worker_that_comes_later_is_looked_at_too(others, tmp_path):
    good = others.work(*NANNY_FREE)
    preload = tmp_path / "older.py"
    preload.write_text("import pfeseg\npfeseg.__version__ = '0.0.1'\n")
    with others.open(tmp_path) as cluster:
        results = cluster.run(Work(calls.own_parent), [(k,) for k in range(2000)], give_up)
        others.work(*NANNY_FREE, "--preload", str(preload))
        with pytest.warns(PfesegWarning, match=r"takes no part: it has pfeseg 0\.0\.1") as told:
            parents = {next(results) for _ in iter(lambda: len(told), 1)}
        parents |= {next(results) for _ in range(20)}
        results.close()
    assert parents == {good.pid}


def test_a_scheduler_that_is_gone_costs_nothing_that_is_done(others, samples, tmp_path):
    others.work(*NANNY_FREE)
    (tmp_path / "in").mkdir()
    for k in range(9):
        shutil.copy(samples / "rocket.jpg", tmp_path / "in" / f"{k}.jpg")
    out = tmp_path / "out"
    args = ["segment", tmp_path / "in", "-o", out, "--max-size", "120"]
    process = subprocess.Popen(
        [sys.executable, "-m", "pfeseg", *args, "--dask", others.address],
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: (out / "1.json").exists())
    others.scheduler.kill()
    _, errors = process.communicate(timeout=15)
    assert process.returncode == 1
    assert f"Error: the Dask scheduler at {others.address} is gone; what is done is kept" in errors
    assert "--skip-existing continues from here" in errors
    assert "not tried" in errors
    assert "Traceback" not in errors
    rest = run(*args, "--skip-existing")
    assert rest.exit_code == 0, rest.stderr
    assert len(list(out.iterdir())) == 27


def test_what_cannot_work_is_refused_at_once(tmp_path, samples):
    image = samples / "chelsea.jpg"
    both = run("segment", image, "--dask", "local:2", "--jobs", 2, "-o", tmp_path)
    assert both.exit_code == 2
    assert "give --jobs or --dask, not both" in both.stderr
    assert run("segment", "-", "--dask", "local:2", "-o", tmp_path).exit_code == 2
    with (
        pytest.raises(InvalidInputError, match="such as local:4"),
        open_cluster("local:many", 1, tmp_path, ()),
    ):
        pass
    with (
        pytest.raises(InvalidInputError, match="no Dask scheduler answers"),
        open_cluster("nothing://here", 1, tmp_path, ()),
    ):
        pass


@pytest.mark.parametrize("greeting", [None, b"", b"HTTP/1.1 400 Bad Request\r\n\r\n"])
def test_what_is_no_scheduler_is_told_of_soon(tmp_path, samples, greeting):
    with socket.create_server(("127.0.0.1", 0)) as server:
        address = "nowhere" if greeting is None else f"127.0.0.1:{server.getsockname()[1]}"
        command = [sys.executable, "-m", "pfeseg", "segment", samples / "rocket.jpg"]
        process = subprocess.Popen(
            [*command, "-o", tmp_path, "--dask", address], stderr=subprocess.PIPE, text=True
        )
        if greeting:
            guest, _ = server.accept()
            with guest:
                guest.sendall(greeting)
        try:
            _, errors = process.communicate(timeout=15)
        finally:
            process.kill()
    assert process.returncode == 1
    assert errors.startswith(f"Error: no Dask scheduler answers at {address}; start one with")
    assert errors.count("\n") == 1
