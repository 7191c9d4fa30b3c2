"""Orthogonal polar factor of a tall matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

FloatArray = NDArray[np.floating[Any]]

_NORM_ROWS = 1 << 12
"""Rows that are turned into double precision at a time: few enough for the nearest cache."""

_RANK_EPS = 16
"""Singular values below this many units of rounding, of the largest, count as zero."""


def squared_norm(X: FloatArray) -> float:
    """||X||_F^2 in double precision."""
    blocks = (X[begin : begin + _NORM_ROWS] for begin in range(0, len(X), _NORM_ROWS))
    return sum(float(np.vdot(rows, rows)) for rows in (b.astype(np.float64) for b in blocks))


def gram_matrix(
    X: FloatArray, row_scale: FloatArray | None = None, threads: int = 1
) -> NDArray[np.float64]:
    """X^T X, (d, d), in double precision; the rows of X may be scaled by an (n,) array."""
    X = np.ascontiguousarray(X)
    if row_scale is not None:
        row_scale = row_scale.astype(X.dtype, copy=False)
    return kernels.gram_matrix(X, row_scale, threads)


def polar(X: FloatArray, rank: int | None = None) -> FloatArray:
    """Return the nearest matrix with orthonormal columns, U V^T of the thin SVD, (n, d).

    Directions in which X vanishes stay zero, and so do all but the `rank` strongest if given.
    """
    if X.dtype == np.float32:
        # Squaring the condition number costs nothing in double.
        return np.asarray(X @ inverse_root(gram_matrix(X), X.dtype, rank).astype(X.dtype))
    U, singular_values, Vt = np.linalg.svd(X, full_matrices=False)
    spanned = singular_values > _RANK_EPS * np.finfo(X.dtype).eps * singular_values[0]
    spanned[len(spanned) if rank is None else rank :] = False
    return np.asarray(U[:, spanned] @ Vt[spanned])


def inverse_root(
    gram: NDArray[np.float64], dtype: np.dtype[Any], rank: int | None = None
) -> NDArray[np.float64]:
    """Return (X^T X)^-1/2, (d, d), of a Gram matrix: X times it is polar(X).

    `dtype` is that of X, and tells which of its directions are but rounding errors.
    """
    eigenvalues, V = np.linalg.eigh(gram)
    spanned = eigenvalues > (_RANK_EPS * float(np.finfo(dtype).eps)) ** 2 * eigenvalues[-1]
    spanned[: 0 if rank is None else len(gram) - rank] = False
    V = V[:, spanned]
    return np.asarray((V / np.sqrt(eigenvalues[spanned])) @ V.T)
