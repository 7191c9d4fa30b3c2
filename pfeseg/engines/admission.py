"""Which workers of a Dask cluster may take part: those that give the same results as this machine.

Their versions must be ours, and they must see the same files.
"""

from __future__ import annotations

import time
import uuid
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pfeseg.engines import remote
from pfeseg.errors import argument

SEEN_WITHIN = 10.0
"""Seconds that a shared folder may take to show a new file."""

_SHARED = (
    "inputs and results must lie in folders that all machines share, under the same names; "
    f"choose another {argument('output')} or other workers"
)


@contextmanager
def _probe_in(folder: Path) -> Iterator[Path]:
    """Write a file into a folder, or the nearest one above it that there is, for a while."""
    while not folder.is_dir():
        folder = folder.parent
    probe = folder / f".pfeseg-probe-{uuid.uuid4().hex}"
    probe.touch(exist_ok=False)
    try:
        yield probe
    finally:
        with suppress(OSError):
            probe.unlink(missing_ok=True)


def find_objections(
    client: Any, workers: Sequence[str], folder: Path, inputs: Sequence[Path]
) -> dict[str, str]:
    """Say in a few words of each worker that cannot take part why; none is said of the others.

    Parameters
    ----------
    client : distributed.Client
    workers : sequence of str
        Their addresses.
    folder : Path
        Where results go.
    inputs : sequence of Path
        Files that each worker must see.
    """
    ours = remote.versions()
    found = client.run(remote.versions, workers=list(workers), on_error="return")
    objections = {
        worker: objection
        for worker in workers
        if (objection := _compare(found.get(worker), ours)) is not None
    }
    fitting = [worker for worker in workers if worker not in objections]
    with _probe_in(folder) as probe:
        return objections | _find_unseen(client, fitting, probe, inputs)


def _find_unseen(
    client: Any, workers: Sequence[str], probe: Path, inputs: Sequence[Path]
) -> dict[str, str]:
    """Say of each worker which file one side wrote and the other does not see."""
    objections = {}
    unseen = client.run(
        remote.first_unseen,
        [probe, *inputs],
        SEEN_WITHIN,
        workers=list(workers),
        on_error="return",
    )
    for worker in workers:
        path = unseen.get(worker, TimeoutError("no answer"))
        if path is not None:
            objections[worker] = _objection(path, probe)
    seeing = [worker for worker in workers if worker not in objections]
    left = client.run(remote.leave_file, probe, workers=seeing, on_error="return")
    end = time.monotonic() + SEEN_WITHIN
    for worker in seeing:
        path = left.get(worker, TimeoutError("no answer"))
        if isinstance(path, Exception):
            objections[worker] = f"cannot write into {probe.parent} ({path})"
            continue
        while not path.exists() and time.monotonic() < end:
            time.sleep(0.1)
        if path.exists():
            path.unlink(missing_ok=True)
        else:
            objections[worker] = (
                f"writes into {probe.parent} files that are not seen here; {_SHARED}"
            )
            client.run(remote.remove_files, probe, workers=[worker], on_error="ignore")
    return objections


def _objection(unseen: Any, probe: Path) -> str:
    if isinstance(unseen, Exception):
        return f"cannot look for files ({unseen})"
    what = f"what is written into {probe.parent}" if unseen == probe else str(unseen)
    return f"does not see {what}; {_SHARED}"


def _compare(theirs: Any, ours: dict[str, str]) -> str | None:
    """Say which version of a worker is not ours, if one is not."""
    if theirs is None:
        return "is gone"
    if isinstance(theirs, Exception):
        return f"cannot use this pfeseg ({theirs}); install pfeseg {ours['pfeseg']} there"
    for name, version in ours.items():
        if theirs.get(name) != version:
            return (
                f"has {name} {theirs.get(name)}, but here it is {version}; results may differ, "
                f"so install the same version in both places"
            )
    return None
