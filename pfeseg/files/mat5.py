"""MATLAB files (level 5): matrices, cells and structures read, one matrix written.

`scipy.io` reads such files too, but a damaged one may end the whole process; here each size is
checked against the bytes that are there. It writes the same but for the text at the beginning, with
several copies of all numbers; here a few columns are written at a time.
"""

from __future__ import annotations

import math
import struct
import zlib
from collections.abc import Iterator
from dataclasses import dataclass
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

BEGINNING = b"MATLAB 5.0 MAT-file".ljust(116)
"""The text that a file starts with; others name the date in it."""

HEADER = 128
"""Bytes before the first element."""

MAX_INFLATED = 800_000_000
"""Bytes that the variables of a file may have, unless more are expected."""

MAX_DEPTH = 4
"""Of cells and structures in each other."""

CELL, STRUCTURE = 1, 2
"""Classes of matrices that hold others."""

NUMBERS = {
    1: "i1", 2: "u1", 3: "i2", 4: "u2", INT32: "i4", UINT32: "u4", 7: "f4", DOUBLE: "f8", 12: "i8",
    13: "u8",
}  # fmt: skip
"""Types of elements that hold numbers."""

CLASSES = {
    CLASS_DOUBLE: "f8", 7: "f4", 8: "i1", 9: "u1", 10: "i2", 11: "u2", 12: "i4", 13: "u4", 14: "i8",
    15: "u8",
}  # fmt: skip
"""Classes of matrices that hold numbers."""

COMPLEX = 0x0800
"""Flag of a matrix."""


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
    file.write(BEGINNING + bytes(8) + struct.pack("<H2s", 0x0100, b"IM"))
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


def read_matrices(content: bytes, allow_huge: bool = False) -> dict[str, Any]:
    """Read the variables of a MATLAB file; raises ValueError where it is damaged.

    Returns
    -------
    dict
        By name: a matrix as an array, cells as a flat list, structures as a dict of such lists, one
        for each field, and None for what is neither, such as text.
    """
    if len(content) < HEADER or content[126:128] not in (b"IM", b"MI"):
        raise ValueError("no MATLAB file of level 5")
    if content[:10] == b"MATLAB 7.3":
        raise ValueError("it is of version 7.3; save it with -v7")
    order = "<" if content[126:128] == b"IM" else ">"
    left = math.inf if allow_huge else MAX_INFLATED
    variables: dict[str, Any] = {}
    elements = _Elements(memoryview(content)[HEADER:], order)
    while elements.rest:
        kind, data = elements.take()
        if kind == COMPRESSED:
            inflated = _inflate(data, left)
            left -= len(inflated)
            kind, data = _Elements(memoryview(inflated), order).take()
        if kind == MATRIX:
            name, value = _matrix(_Elements(data, order), MAX_DEPTH)
            variables[name] = value
    return variables


def _inflate(data: memoryview, most: float) -> bytes:
    packer = zlib.decompressobj()
    try:
        inflated = packer.decompress(data, 0 if most == math.inf else max(int(most), 1))
    except zlib.error as error:
        raise ValueError(str(error)) from error
    if packer.unconsumed_tail or not packer.eof:
        reason = f"more than {MAX_INFLATED} bytes" if packer.unconsumed_tail else "cut short"
        raise ValueError(f"its variables are {reason}")
    return inflated


@dataclass
class _Elements:
    """What is left of a row of elements, each a type, a size and its bytes."""

    rest: memoryview
    order: str

    def take(self, wanted: int | None = None) -> tuple[int, memoryview]:
        """Take the first one, which must be of the type that is wanted."""
        if len(self.rest) < 8:
            raise ValueError("an element is cut short")
        kind, size = struct.unpack_from(f"{self.order}2I", self.rest)
        start, end = 8, 8 + size + (-size % 8 if kind != COMPRESSED else 0)
        if kind >> 16:  # a small one, whose bytes stand where else its size would
            kind, size, start, end = kind & 0xFFFF, kind >> 16, 4, 8
            if size > 4:
                raise ValueError("a small element is too large")
        if start + size > len(self.rest) or wanted not in (None, kind):
            raise ValueError("an element is cut short, or not of the type that belongs there")
        data, self.rest = self.rest[start : start + size], self.rest[end:]
        return kind, data

    def numbers(self, wanted: int | None = None) -> NDArray[Any]:
        """Take an element of numbers."""
        kind, data = self.take(wanted)
        if kind not in NUMBERS or len(data) % int(NUMBERS[kind][1]):
            raise ValueError("an element of numbers is damaged")
        return np.frombuffer(data, self.order + NUMBERS[kind])


def _matrix(elements: _Elements, depth: int) -> tuple[str, Any]:
    """Read the inside of a matrix: its name and what it holds."""
    if not elements.rest:
        return "", np.zeros((0, 0))
    flags = elements.numbers(UINT32)
    shape = tuple(int(side) for side in elements.numbers(INT32))
    name = bytes(elements.take(INT8)[1]).decode("latin-1")
    if not len(flags) or len(shape) < 2 or min(shape) < 0 or not depth:
        raise ValueError("a matrix is damaged, or lies too deep in others")
    class_, count = int(flags[0]) & 0xFF, math.prod(shape)
    if class_ == CELL:
        return name, [_inner(elements, depth) for _ in range(_held(count, elements))]
    if class_ == STRUCTURE:
        return name, _structure(elements, count, depth)
    if class_ not in CLASSES:
        return name, None
    numbers = elements.numbers()
    if len(numbers) != count or int(flags[0]) & COMPLEX:
        raise ValueError("a matrix has not as many real numbers as it says")
    return name, numbers.astype(CLASSES[class_]).reshape(shape, order="F")


def _structure(elements: _Elements, count: int, depth: int) -> dict[str, list[Any]]:
    lengths = elements.numbers(INT32)
    names = bytes(elements.take(INT8)[1])
    length = int(lengths[0]) if len(lengths) else 0
    if length < 1:
        raise ValueError("the fields of a structure have no names")
    fields = [
        names[start : start + length].split(b"\0")[0].decode("latin-1")
        for start in range(0, len(names), length)
    ]
    values: dict[str, list[Any]] = {field: [] for field in fields}
    for _ in range(_held(count * max(1, len(fields)), elements) // max(1, len(fields))):
        for field in fields:
            values[field].append(_inner(elements, depth))
    return values


def _held(count: int, elements: _Elements) -> int:
    """Return how many matrices there are inside another, each of which has 8 bytes at least."""
    if 8 * count > len(elements.rest):
        raise ValueError("a matrix has not as many elements as it says")
    return count


def _inner(elements: _Elements, depth: int) -> Any:
    return _matrix(_Elements(elements.take(MATRIX)[1], elements.order), depth - 1)[1]
