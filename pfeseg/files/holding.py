"""Holding files and folders, so that other processes see that somebody works on them.

Windows has no such locks, lets nobody hold a folder, and does not rename or remove what is held.
There, a file is let go just before it gets its name, two runs that write the same names at once are
not kept apart, and what killed runs leave is not cleared.
"""

from __future__ import annotations

import os
from pathlib import Path
from stat import S_ISREG

try:
    from fcntl import LOCK_EX, LOCK_NB, flock
except ImportError:
    HAS_LOCKS = False
else:
    HAS_LOCKS = True

NO_WAITING = getattr(os, "O_NONBLOCK", 0)
"""For opening what may be a pipe, whose other end is not waited for."""

NO_LINK = getattr(os, "O_NOFOLLOW", 0)


def hold_new(path: Path) -> int:
    """Make a file that is not there, and hold it."""
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL, 0o666)


def hold(path: Path) -> int:
    """Hold a file, or a folder, that is no link."""
    if HAS_LOCKS:
        return os.open(path, os.O_RDONLY | NO_LINK | NO_WAITING)
    return os.open(os.devnull if path.is_dir() else path, os.O_RDWR)


def lock(held: int, *, wait: bool = False) -> None:
    """Keep others from locking what is held; an OSError says that one has, or that none can."""
    if not HAS_LOCKS:
        raise OSError("there are no locks here")
    flock(held, LOCK_EX if wait else LOCK_EX | LOCK_NB)


def sync(held: int) -> None:
    """Bring what is held to the disk; without locks, `allow_renaming` does so."""
    if HAS_LOCKS:
        os.fsync(held)


def allow_renaming(held: int) -> None:
    """Let what is held be renamed or removed; where it could not be, it is held no more."""
    if not HAS_LOCKS:
        if S_ISREG(os.fstat(held).st_mode):
            os.fsync(held)
        nothing = os.open(os.devnull, os.O_RDWR)
        os.dup2(nothing, held)
        os.close(nothing)


def longest_name(folder: Path) -> int:
    """Return how many bytes a name in a folder may have."""
    return os.pathconf(folder, "PC_NAME_MAX") if hasattr(os, "pathconf") else 255
