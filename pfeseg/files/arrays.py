"""Arrays of data on disk: NumPy's, archives of them, and sparse matrices of SciPy's.

Nothing is unpickled, and what a file claims is held against the memory that is free before any
array is made.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import (
    free_memory,
    parse_npy,
    parse_npz,
    read_file,
    refuse_beyond_memory,
    telling_damage,
)

if TYPE_CHECKING:
    from scipy.sparse import csr_array

Arrays = dict[str, NDArray[Any]]

COPIES = 4
"""How many times the bytes of a file are in memory at most while they become a table."""


def load_array(path: Path) -> NDArray[Any]:
    """Read an array of NumPy's."""
    content = read_file(path, copies=COPIES)
    with telling_damage(path, "a damaged or unsupported array"):
        return parse_npy(content)


def load_archive(path: Path) -> Arrays:
    """Read all arrays of an archive, which may be compressed."""
    content = read_file(path, copies=COPIES)
    most = free_memory() / COPIES
    with telling_damage(path, "a damaged or unsupported file"):
        return parse_npz(content, most)


def is_sparse(arrays: Arrays) -> bool:
    """Tell whether an archive holds a sparse matrix, as `scipy.sparse.save_npz` writes it."""
    return {"format", "shape", "data"} <= arrays.keys()


def sparse_of(path: Path, arrays: Arrays) -> csr_array:
    """Return the sparse matrix of an archive, of plain numbers."""
    from scipy.sparse import csr_array

    with telling_damage(path, "a damaged sparse matrix"):
        kind = arrays["format"].item()
        rows, columns = map(int, arrays["shape"])
        refuse_beyond_memory(path, COPIES * 8 * (rows + columns))
        built = _built(kind if isinstance(kind, str) else kind.decode(), arrays, (rows, columns))
        matrix = csr_array(built)
        matrix.check_format(full_check=True)
    if matrix.dtype.kind not in "biuf" or not np.isfinite(matrix.data).all():
        raise InvalidInputError(f"{path}: a sparse matrix must hold finite numbers only")
    return matrix


def _built(kind: str, arrays: Arrays, shape: tuple[int, int]) -> Any:
    """Make a sparse matrix of the parts that its format has."""
    from scipy import sparse

    data = arrays["data"]
    match kind:
        case "csr" | "csc" | "bsr":
            make = {"csr": sparse.csr_array, "csc": sparse.csc_array, "bsr": sparse.bsr_array}
            built = make[kind]((data, arrays["indices"], arrays["indptr"]), shape=shape)
            built.check_format(full_check=True)  # before anything follows its indices
            return built
        case "coo":
            parts = arrays["coords"] if "coords" in arrays else (arrays["row"], arrays["col"])
            return sparse.coo_array((data, tuple(parts)), shape=shape)
        case "dia":
            return sparse.dia_array((data, arrays["offsets"]), shape=shape)
    raise ValueError(f"of the format {kind!r}")
