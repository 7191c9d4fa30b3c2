"""Parquet files: columns into arrays, or one clear line why not."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.arrays import COPIES
from pfeseg.files.opening import open_file, refuse_beyond_memory, telling_damage
from pfeseg.files.text_tables import find_column

if TYPE_CHECKING:
    from pyarrow import ChunkedArray
    from pyarrow.parquet import ParquetFile

BYTES_PER_VALUE = 8

BYTES_PER_TEXT = 64
"""Of a text in Python, beside its letters."""


def read_columns(path: Path, drop: Collection[str]) -> tuple[list[str], list[NDArray[Any]]]:
    """Return the names of all columns, and their values; nothing of those to leave out.

    A few bytes may stand for any number of rows that are the same, so all rows are counted before
    they are read. Texts stay one for all rows that have it until their size is known.
    """
    try:
        from pyarrow import parquet
    except ImportError as error:
        raise InvalidInputError(
            f"{path}: a Parquet file; pip install 'pfeseg[parquet]' reads it"
        ) from error
    with open_file(path) as file, telling_damage(path, "a damaged Parquet file"):
        with parquet.ParquetFile(file) as sheet:
            names = [str(name) for name in sheet.schema_arrow.names]
            dropped = {find_column(path, names, name, "drop") for name in drop}
            kept = [name for k, name in enumerate(names) if k not in dropped]
            texts, n_rows = _look_at(path, sheet, kept), sheet.metadata.num_rows
        file.seek(0)
        with parquet.ParquetFile(file, read_dictionary=texts) as sheet:
            table = sheet.read(columns=kept)
        columns = {name: _values(path, table.column(name)) for name in kept}
    return names, [columns.get(name, np.zeros(n_rows, dtype=np.bool_)) for name in names]


def _look_at(path: Path, sheet: ParquetFile, kept: Sequence[str]) -> list[str]:
    """Refuse what is no table, or too large; returns which columns are texts."""
    from pyarrow import types

    schema, told = sheet.schema_arrow, sheet.metadata
    kinds = {name: schema.field(name).type for name in kept}
    for name, kind in kinds.items():
        if types.is_nested(kind):
            raise InvalidInputError(
                f"{path}: column {name!r} holds {kind} values, not numbers; leave it out with "
                f"{argument('drop', name)}"
            )
    groups = [told.row_group(k) for k in range(told.num_row_groups)]
    if told.num_rows != sum(group.num_rows for group in groups) or told.num_rows < 0:
        raise ValueError("its numbers of rows disagree")
    packed = sum(group.total_byte_size for group in groups)
    refuse_beyond_memory(path, COPIES * (BYTES_PER_VALUE * told.num_rows * len(kept) + packed))
    return [name for name, kind in kinds.items() if _is_text(kind)]


def _is_text(kind: Any) -> bool:
    from pyarrow import types

    return bool(types.is_string(kind) or types.is_large_string(kind) or types.is_binary(kind))


def _values(path: Path, column: ChunkedArray) -> NDArray[Any]:
    from pyarrow import compute, types

    if types.is_dictionary(column.type):
        texts = [chunk.dictionary for chunk in column.chunks if _is_text(chunk.dictionary.type)]
        lengths = [compute.max(compute.binary_length(each)).as_py() or 0 for each in texts]
        refuse_beyond_memory(path, len(column) * (max(lengths, default=0) + BYTES_PER_TEXT))
        column = column.cast(column.type.value_type)
    return np.asarray(column.to_numpy())
