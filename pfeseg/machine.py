"""What the machine has to offer: processors and memory."""

from __future__ import annotations

import os
import platform
import zlib
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path, PurePosixPath

MEMORY_FILE = Path("/proc/meminfo")
OWN_GROUPS = Path("/proc/self/cgroup")
CONTROL_GROUPS = Path("/sys/fs/cgroup")
BOOT_FILE = Path("/proc/sys/kernel/random/boot_id")

GROUP_FILES = {
    "": ("memory.max", "memory.current", "inactive_file"),
    "memory": ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
}
"""Files of a control group: its limit, what it uses, and the name of the part of that which is a
cache. Version 2 comes first, then version 1, whose controllers have a folder each."""


@cache
def started_machine() -> str:
    """Return a word for this machine since it was started, the same in all containers on it."""
    try:
        text = BOOT_FILE.read_text()
    except OSError:
        text = platform.node()
    return f"{zlib.crc32(text.encode()):08x}"


def available_threads() -> int:
    """Count the processors that this process may use."""
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def available_memory() -> int | None:
    """Return the bytes that this process may still take, or None where that is not known.

    On Linux, what the kernel could give without swapping, within the limits of the control groups
    (of a container or a batch job); elsewhere the free pages, if the system counts them.
    """
    found = [_free(), *_left_in_groups()]
    return min((bytes_ for bytes_ in found if bytes_ is not None), default=None)


def _free() -> int | None:
    try:
        for line in MEMORY_FILE.read_text().splitlines():
            if line.startswith("MemAvailable:"):
                return int(line.split()[1]) * 1024
    except (OSError, ValueError, IndexError):
        pass
    try:
        return os.sysconf("SC_AVPHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):
        return None


def _left_in_groups() -> Iterator[int | None]:
    """Yield what the limit of each control group leaves: that of this process and those above."""
    names = dict.fromkeys(GROUP_FILES, "/")
    with suppress(OSError, ValueError):
        for line in OWN_GROUPS.read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            names[controllers] = name
    for controllers, files in GROUP_FILES.items():
        own = PurePosixPath(names[controllers])
        for group in (own, *own.parents):
            # A container may see its own group at the root, under the name that it has outside.
            yield _left_in_group(CONTROL_GROUPS / controllers / str(group)[1:], *files)


def _left_in_group(group: Path, limit: str, usage: str, cached: str) -> int | None:
    """Return what the limit of a control group leaves; files that are cached count as free."""
    try:
        most = (group / limit).read_text().strip()
        if most == "max":
            return None
        statistics = (group / "memory.stat").read_text().split()
        free = int(statistics[statistics.index(cached) + 1]) if cached in statistics else 0
        return max(int(most) - int((group / usage).read_text()) + free, 0)
    except (OSError, ValueError):
        return None
