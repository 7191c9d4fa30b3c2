"""Tables written as text: CSV, TSV and the like into numbers, or one clear line why not."""

from __future__ import annotations

import csv
import gzip
import io
import zlib
from collections.abc import Collection, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.opening import free_memory, read_file

FloatArray = NDArray[np.floating[Any]]

MISSING = frozenset({"", "na", "n/a", "nan", "null", "none", "?", "-"})
"""How tables write that a value is missing, in small letters."""

ID_NAMES = frozenset({"", "id", "ids", "index", "key", "name", "row", "unnamed: 0"})
"""Names of a first column that numbers or names the rows, in small letters."""

DELIMITERS = ("\t", ",", ";")
"""In the order of trust; where a table has none of them, white space parts its columns."""

MAX_COLUMNS = 1_000_000

SAMPLE_LINES = 20

BYTES_PER_BYTE = 12
"""Memory, at the most, that a byte of text takes while it is read."""

STEP = 1 << 20
"""Bytes that are unpacked at a time."""

GZIP = b"\x1f\x8b"


def read_bytes(path: Path) -> bytes:
    """Read a whole file, unpacked if gzip packed it."""
    content = read_file(path, copies=BYTES_PER_BYTE)
    if content.startswith(GZIP):
        content = _unpacked(path, content)
    return content


def _unpacked(path: Path, content: bytes) -> bytes:
    """Unpack what gzip packed, as far as the free memory suffices to read it."""
    most, parts, size = free_memory() // BYTES_PER_BYTE, [], 0
    try:
        with gzip.open(io.BytesIO(content)) as packed:
            while part := packed.read(STEP):  # which takes at once what it is asked for
                parts.append(part)
                size += len(part)
                if size > most:
                    raise InvalidInputError(
                        f"{path}: holds more than the {most / 1e6:.0f} million bytes of text for "
                        "which the free memory suffices; write it as .npy"
                    )
    except (OSError, EOFError, zlib.error) as error:
        raise InvalidInputError(f"{path}: a damaged gzip file ({error})") from error
    return b"".join(parts)


def read_lines(path: Path) -> list[str]:
    """Read the lines of a text that are not blank."""
    try:
        text = read_bytes(path).decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidInputError(
            f"{path}: not text in UTF-8 (byte {error.start}); tables are text, .npy, .npz or "
            ".parquet"
        ) from error
    lines = [line for line in text.splitlines() if line.strip()]
    if not lines:
        raise InvalidInputError(f"{path}: the file is empty")
    return lines


def find_delimiter(lines: Sequence[str]) -> str | None:
    """Find what parts the columns: one of `DELIMITERS`, or None for white space."""
    sample = lines[:SAMPLE_LINES]
    for delimiter in DELIMITERS:
        parted = [delimiter in line and len(split_line(line, delimiter)) > 1 for line in sample]
        if parted[0] and 2 * sum(parted) > len(parted):
            return delimiter
    return None


def split_line(line: str, delimiter: str | None) -> list[str]:
    """Split a line of a table into its fields."""
    if delimiter is None:
        return line.split()
    try:
        return [field.strip() for field in next(csv.reader([line], delimiter=delimiter))]
    except csv.Error as error:
        raise InvalidInputError(f"holds a line that is not a row of a table ({error})") from error


def is_number(text: str) -> bool:
    """Tell whether a text is a number."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def read_text_table(
    path: Path, drop: Collection[str], id_column: str | None
) -> tuple[NDArray[np.float64], list[str], tuple[str, ...] | None, str]:
    """Return the numbers of a table, the names of their columns, and names of rows with a title."""
    lines = read_lines(path)
    delimiter = find_delimiter(lines)
    first = split_line(lines[0], delimiter)
    refuse_many_columns(path, len(first))
    has_header = _is_header(first, split_line(lines[1], delimiter) if len(lines) > 1 else [])
    names = first if has_header else made_up_names(path, len(first))
    body = lines[has_header:]
    if not body:
        raise InvalidInputError(f"{path}: holds a header, but no rows")
    # A header that names one column less is R's, whose rows begin with names.
    if len(split_line(body[0], delimiter)) == len(names) + 1:
        names = ["", *names]
    dropped = [find_column(path, names, name, "drop") for name in drop]
    which = _find_ids(path, names, body, delimiter, id_column, has_header)
    kept = [k for k in range(len(names)) if k not in dropped and k != which]
    if not kept:
        raise InvalidInputError(f"{path}: no column of numbers is left")
    values = _numbers(path, body, delimiter, names, kept)
    ids = None
    if which is not None:
        ids = tuple(split_line(line, delimiter)[which] for line in body)
    name = "row" if which is None else (has_header and names[which]) or "id"
    return values, [names[k] for k in kept], ids, name


def _is_header(first: Sequence[str], second: Sequence[str]) -> bool:
    """Tell whether a first line names columns: by a text where the second line has a number."""
    words = [not is_number(text) and text.lower() not in MISSING for text in first]
    if not second:
        return all(words)
    if len(second) == len(first) + 1:
        return any(words)
    pairs = zip(words, second, strict=False)
    return all(words) or any(word and is_number(below) for word, below in pairs)


def made_up_names(path: Path, n_columns: int) -> list[str]:
    """Name columns that have no names."""
    refuse_many_columns(path, n_columns)
    return [f"column {k + 1}" for k in range(n_columns)]


def refuse_many_columns(path: Path, n_columns: int) -> None:
    """Refuse more columns than anybody names: a small file can claim any number."""
    if n_columns > MAX_COLUMNS:
        raise InvalidInputError(
            f"{path}: has {n_columns} columns, more than {MAX_COLUMNS}; are its rows columns?"
        )


def find_column(path: Path, names: Sequence[str], wanted: str, option: str) -> int:
    """Return the number of a column that is given by its name, or by its number from 1 on."""
    if wanted in names:
        return list(names).index(wanted)
    if wanted.isdecimal() and 1 <= int(wanted) <= len(names):
        return int(wanted) - 1
    shown = ", ".join(names[:8]) + (", ..." if len(names) > 8 else "")
    raise InvalidInputError(
        f"{path}: {argument(option)} names the column {wanted!r}, but its {len(names)} columns "
        f"are {shown}"
    )


def _find_ids(
    path: Path,
    names: Sequence[str],
    body: Sequence[str],
    delimiter: str | None,
    wanted: str | None,
    has_header: bool,
) -> int | None:
    """Return the column that names the rows, or None."""
    if wanted is not None:
        return None if wanted == "none" else find_column(path, names, wanted, "id_column")
    if len(names) < 2:
        return None
    cells = [split_line(line, delimiter)[0] for line in body]
    are_texts = not any(is_number(cell) or cell.lower() in MISSING for cell in cells)
    if has_header and names[0].strip('"').lower() in ID_NAMES:
        return 0
    return 0 if are_texts and len(set(cells)) == len(cells) else None


def _numbers(
    path: Path, body: Sequence[str], delimiter: str | None, names: Sequence[str], kept: list[int]
) -> NDArray[np.float64]:
    """Turn the columns that are kept into numbers, (rows, kept)."""
    try:
        values = np.loadtxt(
            body, delimiter=delimiter, usecols=kept, ndmin=2, quotechar='"', comments=None
        )
    except ValueError:
        values = None
    if values is None or len(values) != len(body):
        _complain_of_cells(path, body, delimiter, names, kept)
        raise InvalidInputError(f"{path}: not a table of numbers that can be read")
    refuse_unknown(path, values, [names[k] for k in kept])
    return np.asarray(values)


def _complain_of_cells(
    path: Path, body: Sequence[str], delimiter: str | None, names: Sequence[str], kept: list[int]
) -> None:
    """Say which cell keeps a table from being numbers."""
    texts: dict[str, tuple[int, str]] = {}
    for row, line in enumerate(body, 1):
        fields = split_line(line, delimiter)
        if len(fields) != len(names):
            raise InvalidInputError(
                f"{path}: row {row} has {len(fields)} fields where {len(names)} were expected"
            )
        for k in kept:
            if fields[k].lower() in MISSING:
                raise InvalidInputError(_missing(path, row, names[k]))
            if not is_number(fields[k]):
                texts.setdefault(names[k], (row, fields[k]))
    if texts:
        column, (row, text) = next(iter(texts.items()))
        all_ = ",".join(texts)
        raise InvalidInputError(
            f"{path}: column {column!r} holds text ({text!r} in row {row}), not numbers; leave "
            f"it out with {argument('drop', all_)}"
        )


def _missing(path: Path, row: int, column: str) -> str:
    return (
        f"{path}: row {row} has no value in column {column!r}; fill in missing values, or leave "
        f"the column out with {argument('drop', column)}"
    )


def refuse_unknown(path: Path, values: FloatArray, names: Sequence[str]) -> None:
    """Refuse what is not a finite number, with its place."""
    finite = np.isfinite(values)
    if finite.all():
        return
    row, column = np.argwhere(~finite)[0]
    if np.isnan(values[row, column]):
        raise InvalidInputError(_missing(path, row + 1, names[column]))
    raise InvalidInputError(
        f"{path}: row {row + 1} has an infinite value in column {names[column]!r}; expected "
        "finite numbers"
    )
