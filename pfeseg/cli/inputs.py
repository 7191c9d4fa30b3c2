"""What a command takes in beside its arguments: lists of names, and standard input."""

from __future__ import annotations

import sys
from pathlib import Path

from pfeseg.errors import InvalidInputError


def listed(files_from: str | None) -> list[str]:
    """Return the names that a file, or - for standard input, lists."""
    from pfeseg.files.inputs import read_name_list
    from pfeseg.files.opening import read_stream

    if files_from is None:
        return []
    if files_from == "-":
        return read_name_list(read_standard_input())
    with Path(files_from).open("rb") as file:  # which may be a pipe, as it is named outright
        return read_name_list(read_stream(file, files_from))


def read_standard_input() -> bytes:
    """Read all that comes on standard input."""
    from pfeseg.files.opening import MAX_BYTES, read_stream

    if sys.stdin is None:
        raise InvalidInputError("standard input is closed")
    return read_stream(sys.stdin.buffer, "standard input", MAX_BYTES)
