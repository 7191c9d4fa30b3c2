"""What the machine has to offer."""

from __future__ import annotations

import os
import platform
import zlib
from functools import cache
from pathlib import Path

MEMORY_FILE = Path("/proc/meminfo")
CONTROL_GROUP = Path("/sys/fs/cgroup")
BOOT_FILE = Path("/proc/sys/kernel/random/boot_id")


@cache
def started_machine() -> str:
    """Return a word for this machine since it was started, the same in all containers on it."""
    try:
        text = BOOT_FILE.read_text()
    except OSError:
        text = platform.node()
    return f"{zlib.crc32(text.encode()):08x}"


def available_memory() -> int | None:
    """Return the bytes that this process may still take, or None where that is not known.

    On Linux, what the kernel could give without swapping, within the limit of the control group
    (of a container or a batch job); elsewhere the free pages, if the system counts them.
    """
    found = [bytes_ for bytes_ in (_free(), _left_in_group()) if bytes_ is not None]
    return min(found, default=None)


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


def _left_in_group() -> int | None:
    """Return what the limit of the control group leaves; files that are cached count as free."""
    names = (("memory.max", "memory.current", "inactive_file"),
             ("memory/memory.limit_in_bytes", "memory/memory.usage_in_bytes",
              "total_inactive_file"))  # fmt: skip
    for limit, usage, cached in names:
        try:
            most = (CONTROL_GROUP / limit).read_text().strip()
            if most == "max":
                return None
            statistics = (CONTROL_GROUP / usage).with_name("memory.stat").read_text().split()
            free = int(statistics[statistics.index(cached) + 1]) if cached in statistics else 0
            return max(int(most) - int((CONTROL_GROUP / usage).read_text()) + free, 0)
        except (OSError, ValueError):
            continue
    return None
