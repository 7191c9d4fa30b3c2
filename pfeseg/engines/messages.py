"""What a worker process and the one that started it say to each other: pickles in frames.

The worker is told first what all calls have in common, the function and one shared object. In the
arguments of a call a reference to that object travels as a mark, never the object again.
"""

from __future__ import annotations

import io
import pickle
import struct
from typing import IO, Any

_LENGTH = struct.Struct("<Q")
_MARK = "shared"


def pack(value: Any, shared: Any = None) -> bytes:
    """Pickle a value, with a mark wherever it refers to the shared object."""
    buffer = io.BytesIO()
    _Pickler(buffer, shared).dump(value)
    return buffer.getvalue()


def unpack(content: bytes, shared: Any = None) -> Any:
    """Return the value of `pack`, with the shared object in place of its marks."""
    return _Unpickler(io.BytesIO(content), shared).load()


class _Pickler(pickle.Pickler):
    def __init__(self, file: IO[bytes], shared: Any) -> None:
        super().__init__(file, protocol=pickle.HIGHEST_PROTOCOL)
        self._shared = shared

    def persistent_id(self, value: Any) -> str | None:
        return _MARK if value is self._shared and value is not None else None


class _Unpickler(pickle.Unpickler):
    def __init__(self, file: IO[bytes], shared: Any) -> None:
        super().__init__(file)
        self._shared = shared

    def persistent_load(self, mark: str) -> Any:
        return self._shared


def send(stream: IO[bytes], content: bytes) -> None:
    """Write one frame; raises OSError if nobody reads."""
    stream.write(_LENGTH.pack(len(content)))
    stream.write(content)
    stream.flush()


def receive(stream: IO[bytes]) -> bytes:
    """Read one frame; raises EOFError if the other side is gone."""
    (length,) = _LENGTH.unpack(_read(stream, _LENGTH.size))
    return _read(stream, length)


def _read(stream: IO[bytes], size: int) -> bytes:
    content = stream.read(size)
    if len(content) < size:
        raise EOFError
    return content
