"""Label maps as arrays of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray


def consecutive(labels: NDArray[np.integer[Any]]) -> NDArray[np.int32]:
    """Renumber labels 0, 1, ... in order of first appearance."""
    _, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    rank = np.empty(len(first), dtype=np.int32)
    rank[np.argsort(first)] = np.arange(len(first), dtype=np.int32)
    return rank[inverse].reshape(labels.shape)
