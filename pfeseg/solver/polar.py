"""Orthogonal polar factor of a tall matrix."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

FloatArray = NDArray[np.floating[Any]]

_GRAM_ROWS = 1 << 12
"""Rows that are turned into double precision at a time: few enough for the nearest cache."""

_RANK_EPS = 16
"""Singular values below this many units of rounding, of the largest, count as zero."""


def squared_norm(X: FloatArray) -> float:
    """||X||_F^2 in double precision."""
    blocks = (X[begin : begin + _GRAM_ROWS] for begin in range(0, len(X), _GRAM_ROWS))
    return sum(float(np.vdot(rows, rows)) for rows in (b.astype(np.float64) for b in blocks))


def gram_matrix(X: FloatArray, row_scale: FloatArray | None = None) -> NDArray[np.float64]:
    """X^T X, (d, d), in double precision but without a copy of X, whose rows may be scaled."""
    gram = np.zeros((X.shape[1], X.shape[1]))
    for begin in range(0, len(X), _GRAM_ROWS):
        rows = X[begin : begin + _GRAM_ROWS].astype(np.float64)
        if row_scale is not None:
            rows *= row_scale[begin : begin + _GRAM_ROWS]
        gram += rows.T @ rows
    return gram


def polar(X: FloatArray, rank: int | None = None) -> FloatArray:
    """Return the nearest matrix with orthonormal columns, U V^T of the thin SVD, (n, d).

    Directions in which X vanishes stay zero, and so do all but the `rank` strongest if given.
    """
    weaker = 0 if rank is None else X.shape[1] - rank
    eps = float(np.finfo(X.dtype).eps)
    if X.dtype == np.float32:
        # X (X^T X)^-1/2 : squaring the condition number costs nothing in double.
        eigenvalues, V = np.linalg.eigh(gram_matrix(X))
        spanned = eigenvalues > (_RANK_EPS * eps) ** 2 * eigenvalues[-1]
        spanned[:weaker] = False
        V = V[:, spanned]
        return np.asarray(X @ ((V / np.sqrt(eigenvalues[spanned])) @ V.T).astype(X.dtype))
    U, singular_values, Vt = np.linalg.svd(X, full_matrices=False)
    spanned = singular_values > _RANK_EPS * eps * singular_values[0]
    spanned[len(spanned) - weaker :] = False
    return np.asarray(U[:, spanned] @ Vt[spanned])
