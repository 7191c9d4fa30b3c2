"""Many calls side by side: workers that die, and what is left when all end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import calls
import pytest
from helpers import is_running, wait_until

from pfeseg.engines import local
from pfeseg.engines.engine import Work
from pfeseg.engines.local import Local
from pfeseg.engines.messages import pack, unpack
from pfeseg.engines.process import WorkerProcess


def give_up(call, reason):
    return f"{call}: {reason}"


def run_local(function, arguments, jobs=2, shared=None):
    return list(Local(jobs).run(Work(function, shared), arguments, give_up))


@pytest.mark.parametrize("jobs", [1, 2, 7])
def test_every_call_is_answered_once(jobs):
    results = run_local(calls.square, [(k,) for k in range(20)], jobs)
    assert sorted(results) == [k * k for k in range(20)]


def test_no_calls_start_no_process(monkeypatch):
    monkeypatch.setattr(local, "WorkerProcess", None)
    assert run_local(calls.square, []) == []


def test_there_are_never_more_processes_than_calls(monkeypatch):
    started = []

    class Counted(WorkerProcess):
        def __init__(self, *args):
            started.append(self)
            super().__init__(*args)

    monkeypatch.setattr(local, "WorkerProcess", Counted)
    pids = run_local(calls.own_id, [(1,), (2,)], jobs=24)
    assert len(started) == len(set(pids)) == 2
    assert os.getpid() not in pids


def test_what_calls_share_travels_once():
    shared = bytes(10**6)
    assert len(pack((shared, 3), shared)) < 100
    content, number = unpack(pack((shared, 3), shared), shared)
    assert content is shared
    assert number == 3
    assert unpack(pack((None, 1))) == (None, 1)
    results = run_local(calls.size_of, [(shared, k) for k in range(5)], shared=shared)
    assert sorted(results) == [10**6 + k for k in range(5)]


def test_what_a_call_raises_ends_the_run():
    with pytest.raises(ValueError, match="is refused"):
        run_local(calls.refuse, [(1,), (2,)])


@pytest.mark.parametrize("times", [1, 2])
def test_a_killed_worker_costs_a_retry_and_a_second_one_the_call(tmp_path, times):
    marks = tmp_path / "marks"
    results = run_local(calls.kill_self, [(marks, k, times) for k in range(6)])
    squares = {0, 1, 4, 16, 25} | ({9} if times == 1 else set())
    assert {r for r in results if isinstance(r, int)} == squares
    failed = [r for r in results if isinstance(r, str)]
    assert len(failed) == times - 1
    assert all("SIGKILL" in line and str((marks, 3, 2)) in line for line in failed)
    assert len(set(marks.read_text().split())) == 2  # another process each time, and no third


def test_nothing_is_left_open():
    before = len(list(Path("/proc/self/fd").iterdir())), threading.active_count()
    run_local(calls.square, [(k,) for k in range(10)])
    stopped = Local(2).run(Work(calls.own_id), [(k,) for k in range(50)], give_up)
    pid = next(stopped)
    stopped.close()
    assert not is_running(pid)
    assert (len(list(Path("/proc/self/fd").iterdir())), threading.active_count()) == before


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGHUP, signal.SIGINT, signal.SIGTERM])
def test_workers_end_with_the_process_that_started_them(tmp_path, number):
    program = (
        "import sys; from pathlib import Path; sys.path = sys.argv[2:]\n"
        "import calls; from pfeseg.engines.engine import Work\n"
        "from pfeseg.engines.local import Local\n"
        "folder = Path(sys.argv[1])\n"
        "list(Local(2).run(Work(calls.sleep_long), [(folder, k) for k in range(9)], None))"
    )
    command = [sys.executable, "-c", program, str(tmp_path), *sys.path]
    process = subprocess.Popen(command, stderr=subprocess.DEVNULL)
    wait_until(lambda: len(list(tmp_path.iterdir())) == 2)
    process.send_signal(number)
    started = time.perf_counter()
    assert process.wait(timeout=10) != 0
    pids = [int(path.name) for path in tmp_path.iterdir()]
    wait_until(lambda: not any(map(is_running, pids)))
    assert time.perf_counter() - started < 3


def test_a_worker_that_hears_nothing_does_not_keep_a_run_from_ending(tmp_path):
    results = Local(2).run(Work(calls.stop_self), [(tmp_path, k) for k in range(9)], give_up)
    next(results)
    wait_until(lambda: (tmp_path / "stopped").exists())
    started = time.perf_counter()
    results.close()
    assert time.perf_counter() - started < 2
    assert not is_running(int((tmp_path / "stopped").read_text()))


def test_a_process_that_cannot_start_is_told_once(monkeypatch):
    monkeypatch.setattr("pfeseg.engines.process.PROGRAM", "raise SystemExit(7)")
    with pytest.raises(Exception, match=r"ended as it started \(exit code 7\)"):
        run_local(calls.square, [(k,) for k in range(9)])
