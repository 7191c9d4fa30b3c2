"""What is between the loops of Stage I: lines 6 and 7 of Algorithm 1."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.solver.polar import inverse_root, polar

FloatArray = NDArray[np.floating[Any]]


class OrthogonalSplitting:
    """Splits X = D^1/2 Y + B into its nearest orthonormal matrix P and the next B.

    In single precision on the compiled kernels, whose bytes do not depend on `threads`.
    """

    def __init__(self, sqrt_degrees: FloatArray, d: int, rank: int, threads: int) -> None:
        self._sqrt_degrees, self._rank, self._threads = sqrt_degrees, rank, threads
        self.B: FloatArray = np.zeros((len(sqrt_degrees), d), dtype=sqrt_degrees.dtype)

    def next_target(self, Y: FloatArray) -> FloatArray:
        """Return F = P - B for the solution Y of a loop; both are (n, d)."""
        if self.B.dtype == np.float64:
            return self._next_target_in_double(Y)
        gram = kernels.add_scaled(self.B, Y, self._sqrt_degrees, self._threads)  # B becomes X
        root = inverse_root(gram, self.B.dtype, self._rank)
        F = np.empty_like(self.B)
        # Line 6, P = X root, and line 7, B = X - P, in one pass; F = P - B.
        kernels.split_off(self.B, root.astype(self.B.dtype), F, self._threads)
        return F

    def _next_target_in_double(self, Y: FloatArray) -> FloatArray:
        self.B += self._sqrt_degrees[:, None] * Y  # X
        P = polar(self.B, self._rank)  # line 6
        self.B -= P  # line 7
        return P - self.B
