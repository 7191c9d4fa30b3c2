"""Children that try one odd input after the other, with little memory, for a bounded time."""

from __future__ import annotations

import faulthandler
import resource
import signal
import subprocess
import sys
import time
import traceback
import warnings
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from pfeseg.errors import PfesegWarning

FOUND = Path("build/fuzz")
"""Where inputs are kept that did harm."""

MEMORY = 3_000_000_000
"""Bytes of addresses that a child may take, most of which are of libraries."""

PATIENCE = 20
"""Seconds that one input may take."""

Try = Callable[[np.random.Generator, Path], None]
"""Makes one input, writes it to the path so that it can be tried again, and tries it."""


def run_all(script: str, targets: Mapping[str, Try], arguments: list[str]) -> int:
    """Run each target in a child of its own; returns an exit code.

    Arguments are the seconds for each target, the seed, and the names of targets; all by default.
    ``--child NAME`` is what a child is called with.
    """
    seconds, seed = float(arguments[0]) if arguments else 20.0, int((arguments[1:2] or ["0"])[0])
    if arguments[3:4] == ["--child"]:
        return _child(arguments[2], targets[arguments[2]], seconds, seed)
    failed = []
    for name in arguments[2:] or targets:
        command = [sys.executable, script, str(seconds), str(seed), name, "--child"]
        code = subprocess.run(command).returncode
        if code:
            failed.append(name)
            print(f"{name}: harm done (exit code {code}), see {FOUND / name}*", flush=True)
    print(f"{len(failed)} of {len(arguments[2:] or targets)} targets did harm")
    return 1 if failed else 0


def _child(name: str, attempt: Try, seconds: float, seed: int) -> int:
    FOUND.mkdir(parents=True, exist_ok=True)
    if "libasan" not in Path("/proc/self/maps").read_text():  # which takes terabytes of addresses
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    signal.signal(signal.SIGALRM, _too_slow)
    warnings.simplefilter("ignore", PfesegWarning)
    ends, count, harm = time.monotonic() + seconds, 0, 0
    while time.monotonic() < ends and harm < 5:
        rng = np.random.default_rng([seed, count])
        path = FOUND / f"{name}-{seed}-{count}"
        signal.alarm(PATIENCE)
        faulthandler.dump_traceback_later(3 * PATIENCE, exit=True)  # inside kernels too
        try:
            attempt(rng, path)
        except BaseException:
            harm += 1
            print(f"{path}:", traceback.format_exc(), sep="\n", flush=True)
        else:
            path.unlink(missing_ok=True)
        signal.alarm(0)
        faulthandler.cancel_dump_traceback_later()
        count += 1
    print(f"{name}: {count} inputs, {harm} did harm", flush=True)
    return 1 if harm else 0


def _too_slow(*_: Any) -> None:
    raise TimeoutError("one input took too long")


TOKENS = (
    b"\0", b"\xff", b"\xff" * 4, b"\0" * 4, b"\x7f\xff\xff\xff", b"\xff\xff\xff\x7f", b"\1\0\0\0",
    b"\0\0\0\1", b"-1", b"1e999", b"NaN", b"null", b"9" * 40, b"\n", b"\x1b[2J", b",", b'"', b"[",
    b"{", b"\x80", b"(", b")", b"'|O'", b"-5",
)  # fmt: skip


def mutate(rng: np.random.Generator, content: bytes) -> bytes:
    """Change a few places of a file: bytes, numbers of several bytes, pieces, or its end."""
    damaged = bytearray(content)
    for _ in range(rng.integers(1, 6)):
        at = int(rng.integers(0, len(damaged) + 1))
        match rng.integers(0, 7):
            case 0:
                damaged[at : at + 1] = bytes([rng.integers(256)])
            case 1:
                old = (damaged[at : at + 1] or b"\0")[0]
                damaged[at : at + 1] = bytes([old ^ 1 << rng.integers(8)])
            case 2:
                token = TOKENS[rng.integers(len(TOKENS))]
                damaged[at : at + len(token)] = token
            case 3:
                damaged[at:at] = TOKENS[rng.integers(len(TOKENS))]
            case 4:
                del damaged[at : at + int(rng.integers(1, 30))]
            case 5:
                other = int(rng.integers(0, len(damaged) + 1))
                damaged[at:at] = damaged[other : other + int(rng.integers(1, 60))]
            case _ if rng.random() < 0.3:
                del damaged[at:]
    return bytes(damaged)


@contextmanager
def allowed(*kinds: type[BaseException]) -> Iterator[None]:
    """Take refusals of these kinds for good; their text must be one that can be shown."""
    try:
        yield
    except kinds as error:
        if not str(error):
            raise AssertionError(f"{type(error).__name__} says nothing") from error
