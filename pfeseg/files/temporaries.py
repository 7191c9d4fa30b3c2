"""Files and folders that are still being written: random names, held by locks.

Each name is made exclusively, so that no other process and no prepared link has it, and its lock is
held until it gets its own name. A temporary that nobody holds was left by a run that is dead.
"""

from __future__ import annotations

import os
import re
import shutil
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from stat import S_ISDIR, S_ISREG

from pfeseg.files.holding import allow_renaming, hold, lock
from pfeseg.machine import started_machine

_TEMPORARY = re.compile(r"\.pfeseg-(\w+)-\w+(-old)?\.part")

LONG_DEAD = 24 * 3600
"""Seconds after which a temporary of another machine, whose locks may not reach us, is dead."""


def clear_strays(folders: Iterable[Path]) -> None:
    """Remove what runs that were killed have left half written in some folders."""
    for folder in set(folders):
        with suppress(OSError), os.scandir(folder) as entries:
            for name in [e.name for e in entries if _TEMPORARY.fullmatch(e.name)]:
                _clear(folder / name)


def _clear(stray: Path) -> None:
    """Remove a temporary file or folder if whoever made it is dead."""
    with suppress(OSError):
        held = hold(stray)
        try:
            lock(held)
            status = os.fstat(held)
            found = _TEMPORARY.fullmatch(stray.name)
            is_ours = found is not None and found[1] == started_machine()
            if not is_ours and time.time() - status.st_mtime < LONG_DEAD:
                return
            if S_ISDIR(status.st_mode):
                shutil.rmtree(stray)
            elif S_ISREG(status.st_mode):
                stray.unlink()
        finally:
            os.close(held)


def new_name(folder: Path) -> Path:
    """Make up a name: short, as that of the result itself may be as long as names can be."""
    return folder / f".pfeseg-{started_machine()}-{os.urandom(8).hex()}.part"


def create_folder(path: Path) -> int:
    """Make a folder that was not there, and hold it."""
    path.mkdir()
    return hold(path)


def new_temporary(folder: Path, create: Callable[[Path], int]) -> tuple[Path, int]:
    """Make a temporary that none has made before, and hold it; returns its lock too."""
    while True:
        temporary = new_name(folder)
        held = create(temporary)
        with suppress(OSError):  # taken for a stray before it was locked; or no locks are here
            lock(held)
        if os.path.lexists(temporary):
            return temporary, held
        os.close(held)


def take_over(file: Path, folder: Path) -> tuple[Path, int]:
    """Give a file a temporary name in another folder, and hold it; returns its lock too."""
    held = hold(file)
    with suppress(OSError):  # no locks are here
        lock(held)
    allow_renaming(held)
    return file.rename(new_name(folder)), held
