"""Tables of data points: files of rows into numbers, or one clear line why not."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.arrays import is_sparse, load_archive, load_array, sparse_of
from pfeseg.files.opening import refuse_beyond_memory
from pfeseg.files.parquet import read_columns
from pfeseg.files.text_tables import (
    ID_NAMES,
    find_column,
    made_up_names,
    read_text_table,
    refuse_unknown,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.floating[Any]]


@dataclass(frozen=True, eq=False)
class Table:
    """Data points, one a row.

    Attributes
    ----------
    values : (n, columns) float array or sparse matrix
    columns : tuple of str
        Their names, made up where the file has none.
    ids : tuple of str or None
        Names of the rows, if a column holds them.
    id_name : str
        What that column is called.
    """

    values: FloatArray | csr_array
    columns: tuple[str, ...]
    ids: tuple[str, ...] | None = None
    id_name: str = "row"

    @property
    def n_rows(self) -> int:
        """Number of data points n."""
        return int(self.values.shape[0])


def read_table(path: Path, drop: Collection[str] = (), id_column: str | None = None) -> Table:
    """Read data points from CSV, TSV or other text, .npy, .npz or Parquet.

    Parameters
    ----------
    path : Path
        Text may be packed by gzip.
    drop : collection of str
        Columns to leave out, by name or by number from 1 on.
    id_column : str, optional
        The column that names the rows, by name or number, or "none"; found unless given: the
        first column, where it is called so, or holds a text of its own in each row.
    """
    reader = _READERS.get(path.suffix.lower(), _read_text)
    return reader(path, drop, id_column)


def _read_text(path: Path, drop: Collection[str], id_column: str | None) -> Table:
    values, names, ids, title = read_text_table(path, drop, id_column)
    return Table(values, tuple(names), ids, title)


def _of_columns(
    path: Path,
    names: Sequence[str],
    columns: Sequence[NDArray[Any]],
    drop: Collection[str],
    which: int | None,
) -> Table:
    """Make a table of columns, of which one may name the rows."""
    dropped = {find_column(path, names, name, "drop") for name in drop}
    kept = [k for k in range(len(names)) if k not in dropped and k != which]
    if not kept or not len(columns[0]):
        raise InvalidInputError(f"{path}: no {'row' if kept else 'column of numbers'} is left")
    for k in kept:
        if columns[k].dtype.kind not in "biuf":
            raise InvalidInputError(
                f"{path}: column {names[k]!r} holds {columns[k].dtype} values, not numbers; leave "
                f"it out with {argument('drop', names[k])}"
            )
    kind = np.result_type(*(columns[k].dtype for k in kept))
    refuse_beyond_memory(path, 2 * 8 * len(kept) * len(columns[0]))
    values = np.stack([columns[k] for k in kept], axis=1)
    exact = kind if kind.kind == "f" and kind.itemsize > 2 else np.float64
    values = values.astype(exact, copy=False)
    refuse_unknown(path, values, [names[k] for k in kept])
    ids = None if which is None else tuple(str(value) for value in columns[which].tolist())
    title = names[which] or "id" if which is not None else "row"
    return Table(values, tuple(names[k] for k in kept), ids, title)


def _of_array(
    path: Path, array: NDArray[Any], drop: Collection[str], id_column: str | None
) -> Table:
    """Make a table of an array, rows of numbers."""
    if array.ndim == 1:
        array = array[:, None]
    if array.ndim != 2 or array.dtype.kind not in "biuf" or 0 in array.shape:
        raise InvalidInputError(
            f"{path}: expected rows of numbers, (points, columns), got an array of shape "
            f"{array.shape} and type {array.dtype}"
        )
    names = made_up_names(path, array.shape[1])
    is_named = id_column not in (None, "none")
    which = find_column(path, names, str(id_column), "id_column") if is_named else None
    return _of_columns(path, names, list(array.T), drop, which)


def _read_npy(path: Path, drop: Collection[str], id_column: str | None) -> Table:
    return _of_array(path, load_array(path), drop, id_column)


def _read_npz(path: Path, drop: Collection[str], id_column: str | None) -> Table:
    arrays = load_archive(path)
    if is_sparse(arrays):
        matrix = sparse_of(path, arrays)
        if drop or id_column not in (None, "none"):
            raise InvalidInputError(f"{path}: the columns of a sparse matrix have no names")
        return Table(matrix, tuple(made_up_names(path, matrix.shape[1])))
    names = list(arrays)
    named = next((name for name in ("X", "x", "data") if name in names), None)
    if named is None and len(names) != 1:
        raise InvalidInputError(
            f"{path}: expected one array, or one called X or data, found "
            f"{', '.join(names) or 'none'}"
        )
    return _of_array(path, arrays[named or names[0]], drop, id_column)


def _read_parquet(path: Path, drop: Collection[str], id_column: str | None) -> Table:
    names, columns = read_columns(path, drop)
    if not names:
        raise InvalidInputError(f"{path}: holds no column")
    which = _ids_of_columns(path, names, columns, id_column)
    return _of_columns(path, names, columns, drop, which)


def _ids_of_columns(
    path: Path, names: Sequence[str], columns: Sequence[NDArray[Any]], wanted: str | None
) -> int | None:
    if wanted is not None:
        return None if wanted == "none" else find_column(path, names, wanted, "id_column")
    is_named = names[0].lower() in (*ID_NAMES, "__index_level_0__")
    is_text = columns[0].dtype.kind in "OU" and len(set(columns[0].tolist())) == len(columns[0])
    return 0 if len(names) > 1 and (is_named or is_text) else None


_READERS: dict[str, Callable[[Path, Collection[str], str | None], Table]] = {
    ".npy": _read_npy,
    ".npz": _read_npz,
    ".parquet": _read_parquet,
    ".pq": _read_parquet,
}
"""By ending; all else is taken for text."""
