"""Results are written where files that are open cannot be renamed or removed, as on Windows.

The rules are imposed on this system; wheels.yml runs test_installed.py on Windows itself.
"""

from __future__ import annotations

import subprocess
import sys

import pytest
from helpers import SAMPLES, names

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="looks into /proc")

WINDOWS_RULES = """
import os, shutil, signal, sys
sys.modules["fcntl"] = None
for name in ("O_NONBLOCK", "O_NOFOLLOW", "O_DIRECTORY", "pathconf", "sched_getaffinity", "sysconf"):
    delattr(os, name)
for name in ("SIGHUP", "SIGKILL", "pthread_sigmask"):
    delattr(signal, name)
shutil._use_fd_functions = False
open_as_here = os.open

def open_as_there(path, *rest, **named):
    if os.path.isdir(path):
        raise PermissionError(13, "Permission denied")
    return open_as_here(path, *rest, **named)

def is_open(path):
    here = os.path.realpath(path)
    for number in os.listdir("/proc/self/fd"):
        if os.path.exists(f"/proc/self/fd/{number}"):
            there = os.path.realpath(f"/proc/self/fd/{number}")
            if there == here or there.startswith(here + os.sep):
                return True
    return False

def guarded(change):
    def changed(path, *rest, **named):
        if is_open(path):
            raise PermissionError(13, "used by another process")
        return change(path, *rest, **named)
    return changed

os.open = open_as_there
for name in ("rename", "replace", "unlink", "rmdir"):
    setattr(os, name, guarded(getattr(os, name)))
"""


def under_windows_rules(program, *words):
    return subprocess.run(
        [sys.executable, "-c", WINDOWS_RULES + program, *map(str, words)],
        capture_output=True, text=True,
    )  # fmt: skip


def test_the_rules_are_imposed(tmp_path):
    program = "held = os.open(sys.argv[1], os.O_RDWR | os.O_CREAT); os.replace(*sys.argv[1:])"
    run = under_windows_rules(program, tmp_path / "a", tmp_path / "b")
    assert "used by another process" in run.stderr
    assert names(tmp_path) == ["a"]


def test_results_are_written_and_replaced(tmp_path):
    command = "from pfeseg.__main__ import run; run()"
    words = ["segment", SAMPLES / "chelsea.jpg", "-o", tmp_path, "-q", "--regions", "4"]
    words += ["--save", "labels,masks,regions,geojson,ucm,page", "--overwrite"]
    for _ in range(2):
        run = under_windows_rules(command, *words)
        assert (run.returncode, run.stderr) == (0, "")
        made = names(tmp_path)
        assert not [name for name in made if name.endswith(".part")]
        assert {"chelsea.json", "chelsea_labels.png", "chelsea_masks"} < set(made)
        assert len(names(tmp_path / "chelsea_masks")) == 4
