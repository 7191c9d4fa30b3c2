"""Calls that tests make in worker processes."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import Any


def square(number: int) -> int:
    return number * number


def own_id(_: Any) -> int:
    time.sleep(0.1)
    return os.getpid()


def size_of(content: bytes, number: int) -> int:
    return len(content) + number


def refuse(number: int) -> int:
    raise ValueError(f"{number} is refused")


def kill_self(marks: Path, number: int, times: int) -> int:
    """Square a number, but be killed the first so many times that 3 is asked for."""
    if number == 3:
        with marks.open("a") as file:
            file.write(f"{os.getpid()}\n")
        if len(marks.read_text().splitlines()) <= times:
            os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def sleep_long(folder: Path, number: int) -> None:
    (folder / str(os.getpid())).touch()
    time.sleep(60)


def stop_self(folder: Path, number: int) -> int:
    """Stop for ever at the first call, as a process that waits for a lost network drive does."""
    if number == 0:
        (folder / "stopping").write_text(str(os.getpid()))
        (folder / "stopping").rename(folder / "stopped")
        os.kill(os.getpid(), signal.SIGSTOP)
    return number


def own_parent(_: Any) -> int:
    time.sleep(0.03)
    return os.getppid()


def when(_: Any) -> tuple[float, float]:
    begin = time.time()
    time.sleep(0.2)
    return begin, time.time()
