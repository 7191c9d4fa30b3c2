"""One matrix as a MATLAB file (level 5), written a few columns at a time.

`scipy.io` writes the same but for the text at the beginning, with several copies of all numbers.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError

INT8, INT32, UINT32, DOUBLE, MATRIX, COMPRESSED = 1, 5, 6, 9, 14, 15
"""Types of the elements of such files."""

CLASS_DOUBLE = 6
"""Of matrices."""

MAX_BYTES = 2**32 - 64
"""Of the numbers of a matrix, as sizes are written in 32 bits."""

COLUMNS = 64
"""That are turned into bytes at a time."""


def write_matrix(file: BinaryIO, name: str, matrix: NDArray[np.floating[Any]]) -> None:
    """Write a matrix, (h, w), in double precision.

    Parameters
    ----------
    file : file
        New, and open for writing in binary mode.
    name : str
        Of four letters at most.
    matrix : (h, w) array
    """
    file.write(b"MATLAB 5.0 MAT-file".ljust(116) + bytes(8) + struct.pack("<H2s", 0x0100, b"IM"))
    start = file.tell()
    file.write(struct.pack("<2I", COMPRESSED, 0))
    packer, size = zlib.compressobj(), 0
    for part in _element(name, matrix):
        size += file.write(packer.compress(part))
    size += file.write(packer.flush())
    file.seek(start)
    file.write(struct.pack("<2I", COMPRESSED, size))


def _element(name: str, matrix: NDArray[np.floating[Any]]) -> Iterator[bytes | memoryview]:
    """Lay a matrix out, column by column, as it stands in a file before it is compressed."""
    height, width = matrix.shape
    numbers = 8 * height * width
    if numbers >= MAX_BYTES:
        raise InvalidInputError(
            f"a matrix of {width} x {height} numbers is larger than MATLAB files hold, 4 GB"
        )
    head = (
        struct.pack("<4I", UINT32, 8, CLASS_DOUBLE, 0)
        + struct.pack("<4I", INT32, 8, height, width)
        + struct.pack("<I4s", len(name) << 16 | INT8, name.encode())
        + struct.pack("<2I", DOUBLE, numbers)
    )
    yield struct.pack("<2I", MATRIX, len(head) + numbers) + head
    for first in range(0, width, COLUMNS):
        columns = matrix[:, first : first + COLUMNS].T
        yield np.ascontiguousarray(columns, dtype="<f8").data
