"""The program of a worker process: it answers one call after another until it is dismissed.

It ends when its standard input does, so also when the process that started it was killed.
"""

from __future__ import annotations

import os
import signal
import threading
import time
from contextlib import suppress
from queue import Empty, SimpleQueue
from types import FrameType
from typing import IO

from pfeseg.engines.messages import pack, receive, send, unpack

GRACE = 1.0
"""Seconds that a call which is at work has to clear up after itself."""

TERMINATED = 143
"""Exit code after SIGTERM."""


def serve(idle: float | None = None) -> None:
    """Answer the calls that come on standard input, on standard output.

    Parameters
    ----------
    idle : float, optional
        Seconds without a call after which to end.
    """
    source, answers = _take_streams()
    signal.signal(signal.SIGTERM, _end)
    calls: SimpleQueue[bytes | None] = SimpleQueue()
    at_work = threading.Event()
    threading.Thread(target=_listen, args=(source, calls, at_work), daemon=True).start()
    code = 0
    try:
        with suppress(Empty, OSError):  # no call for a while, or nobody to answer
            _answer_calls(calls, answers, at_work, idle)
    except SystemExit:
        code = TERMINATED  # half-written files are cleared away by now
    os._exit(code)  # at once: there is nothing more to clear up


def _answer_calls(
    calls: SimpleQueue[bytes | None],
    answers: IO[bytes],
    at_work: threading.Event,
    idle: float | None,
) -> None:
    opening = calls.get()
    if opening is None:
        return
    try:
        function, shared = unpack(opening)
    except Exception as error:
        send(answers, pack(error))
        return
    send(answers, pack(None))
    while (content := calls.get(timeout=idle)) is not None:
        at_work.set()
        try:
            answer = pack((function(*unpack(content, shared)), None))
        except Exception as error:
            answer = pack((None, error))
        at_work.clear()
        send(answers, answer)


def _take_streams() -> tuple[IO[bytes], IO[bytes]]:
    """Take standard input and output for messages; what else is printed goes to the error."""
    source, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb")
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    return source, answers


def _listen(source: IO[bytes], calls: SimpleQueue[bytes | None], at_work: threading.Event) -> None:
    """Hand on calls; when there can be no more, end the one that is at work."""
    try:
        while True:
            calls.put(receive(source))
    except (EOFError, OSError):
        calls.put(None)
    if at_work.is_set():
        os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(GRACE)
    os._exit(1)


def _end(number: int, frame: FrameType | None) -> None:
    """End by an exception, once, so that half-written files are cleared away."""
    signal.signal(signal.SIGTERM, signal.SIG_IGN)
    raise SystemExit
