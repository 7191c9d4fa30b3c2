"""Regions that live through several label maps of one image."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Labels = NDArray[np.integer[Any]]


def follow(maps: Sequence[Labels]) -> list[NDArray[np.int64]]:
    """Renumber label maps so that a region keeps its number from each map to the next finer one.

    Regions are paired, one with one, such that as many pixels as can be stay with their
    number; a region without a partner gets a number that no region has had. So the coarsest maps
    have the first numbers.

    Parameters
    ----------
    maps : sequence of (h, w) integer arrays
        All of one shape, with labels 0, 1, ....

    Returns
    -------
    list of (h, w) int64 arrays
        In the order of the maps.
    """
    followed: list[NDArray[np.int64]] = [np.empty(0, np.int64)] * len(maps)
    before, n_known = None, 0
    for index in sorted(range(len(maps)), key=lambda k: int(maps[k].max())):
        labels = maps[index]
        if before is None:
            numbers = np.arange(int(labels.max()) + 1)
        else:
            numbers = _numbers(labels, before, n_known)
        n_known = max(n_known, int(numbers.max()) + 1)
        before = followed[index] = numbers[labels]
    return followed


def _numbers(labels: Labels, before: NDArray[np.int64], n_known: int) -> NDArray[np.int64]:
    """Choose the number of each label, given the map before."""
    from scipy.optimize import linear_sum_assignment

    names, former = np.unique(before, return_inverse=True)
    n_labels = int(labels.max()) + 1
    pairs = labels.ravel().astype(np.intp) * len(names) + former.ravel()
    shared = np.bincount(pairs, minlength=n_labels * len(names)).reshape(n_labels, len(names))
    mine, theirs = linear_sum_assignment(shared, maximize=True)
    meet = shared[mine, theirs] > 0
    numbers = np.full(n_labels, -1, dtype=np.int64)
    numbers[mine[meet]] = names[theirs[meet]]
    new = numbers < 0
    numbers[new] = n_known + np.arange(new.sum())
    return numbers
