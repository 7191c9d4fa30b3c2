"""Which of several segmentations agrees most with the others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from pfeseg.labels.metrics import rand_index
from pfeseg.segmentation.trials import Trial


def vote(trials: Sequence[Trial], candidate: NDArray[np.bool_]) -> tuple[tuple[Trial, ...], int]:
    """Return the trials with their agreement, and the index of the candidate that has the most.

    Of equals it is the one with the fewest clusters, then dimensions, in whatever order they came.
    """
    if candidate.sum() < 2:
        return tuple(trials), int(candidate.argmax())
    agreement = consensus([trial.small_labels for trial in trials], candidate).round(9)
    best = max(
        np.flatnonzero(candidate).tolist(),
        key=lambda i: (agreement[i], -(trials[i].n_clusters or 0), -trials[i].n_dims),
    )
    voted = [
        replace(trial, agreement=float(value))
        for trial, value in zip(trials, agreement, strict=True)
    ]
    return tuple(voted), best


def consensus(
    labelings: Sequence[NDArray[np.int32]], voters: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Mean Rand index of each labeling with the other voters; 1 where there is no other.

    Parameters
    ----------
    labelings : sequence of c integer arrays
        All of the same shape, with labels 0, 1, ..., none left out.
    voters : (c,) bool array
    """
    rand = np.zeros((len(labelings), len(labelings)))
    for a, one in enumerate(labelings):
        for b, other in enumerate(labelings[:a]):
            rand[a, b] = rand[b, a] = rand_index(one, other)
    others = voters * ~np.eye(len(rand), dtype=bool)
    total, n_others = (rand * others).sum(axis=1), others.sum(axis=1)
    return np.asarray(np.divide(total, n_others, out=np.ones(len(rand)), where=n_others > 0))
