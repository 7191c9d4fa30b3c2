"""A worker process, seen from the process that started it."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from pfeseg.engines.engine import EngineError
from pfeseg.engines.messages import receive, send, unpack
from pfeseg.engines.worker import GRACE

PROGRAM = (
    "import sys; idle, *sys.path = sys.argv[1:]; from pfeseg.engines.worker import serve; "
    "serve(float(idle) if idle else None)"
)
"""It looks for modules where this process does, and never runs the main program again."""

ONE_THREAD = dict.fromkeys(
    ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "VECLIB_MAXIMUM_THREADS"), "1"
)
"""Of the libraries: workers run side by side, and several threads may change the bytes of a sum."""


class WorkerDeathError(Exception):
    """A worker process ended while it had a call; the message says how."""


class WorkerStartError(EngineError):
    """A worker process could not begin its work."""


class WorkerProcess:
    """A process that answers one call at a time.

    Parameters
    ----------
    opening : bytes
        Packed function and shared object of all calls.
    idle : float, optional
        Seconds without a call after which the process ends by itself.
    folder : Path, optional
        Working folder of the process, if there is one of that name.
    """

    def __init__(
        self, opening: bytes, idle: float | None = None, folder: Path | None = None
    ) -> None:
        self._opening = opening
        with not_interrupted():
            process = subprocess.Popen(
                [sys.executable, "-c", PROGRAM, str(idle or ""), *sys.path],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                env=os.environ | ONE_THREAD,
                cwd=folder if folder and folder.is_dir() else None,
            )
        assert process.stdin is not None
        assert process.stdout is not None
        self._process, self._calls, self._answers = process, process.stdin, process.stdout

    def begin(self) -> None:
        """Tell the process what all calls have in common, once.

        Raises
        ------
        WorkerStartError
            If it ends before it is ready for calls.
        """
        try:
            send(self._calls, self._opening)
            error = unpack(receive(self._answers))
        except (EOFError, OSError):
            ended = self._how_it_ended()
            raise WorkerStartError(f"a worker process ended as it started ({ended})") from None
        if error is not None:
            raise error

    def call(self, content: bytes) -> Any:
        """Return what the function makes of packed arguments, or raise what it raises.

        Raises
        ------
        WorkerDeathError
            If the process ends before it answers.
        """
        try:
            send(self._calls, content)
            answer = receive(self._answers)
        except (EOFError, OSError):
            raise WorkerDeathError(self._how_it_ended()) from None
        result, error = unpack(answer)
        if error is not None:
            raise error
        return result

    @property
    def has_ended(self) -> bool:
        """Whether the process is gone."""
        return self._process.poll() is not None

    def dismiss(self) -> None:
        """Let the process end soon, whatever it does; half-written files are cleared away."""
        self._process.terminate()
        with suppress(OSError):  # what nobody will read
            self._calls.close()

    def kill(self) -> None:
        """End the process at once, also one that hears nothing."""
        self._process.kill()

    def end(self) -> None:
        """Dismiss the process, and kill it if it is not gone soon."""
        self.dismiss()
        self._wait_or_kill()
        self._answers.close()

    def _wait_or_kill(self) -> int:
        try:
            return self._process.wait(GRACE)
        except subprocess.TimeoutExpired:
            self._process.kill()
            return self._process.wait()

    def _how_it_ended(self) -> str:
        code = self._wait_or_kill()
        if code >= 0:
            return f"exit code {code}"
        number = signal.Signals(-code)
        return f"killed by {number.name}" + (
            ", as happens when memory runs out" if number.name == "SIGKILL" else ""
        )


@contextmanager
def not_interrupted() -> Iterator[None]:
    """Keep what is typed at a terminal from the processes that are started in this block.

    Ctrl-C and a closed terminal are for the process that started them, which then ends them.
    """
    if not hasattr(signal, "pthread_sigmask"):
        yield
        return
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGINT, signal.SIGHUP})
    try:
        yield
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
