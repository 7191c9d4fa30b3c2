"""Columns of data in the same units."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import issparse
from sklearn.preprocessing import StandardScaler


def standardise(values: Any) -> NDArray[np.floating[Any]]:
    """Bring columns to variance 1, and to mean 0 unless that would fill a sparse matrix."""
    scaler = StandardScaler(with_mean=not issparse(values))
    scaled: NDArray[np.floating[Any]] = scaler.fit_transform(values)
    return scaled
