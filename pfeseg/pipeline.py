"""From an image to its segmentation."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from pfeseg.prepared import PreparedImage, Segmentation
from pfeseg.settings import Settings
from pfeseg.solver import OnIteration
from pfeseg.trials import auto_pairs, sweep


def segment(
    image: ArrayLike, settings: Settings | None = None, on_iteration: OnIteration | None = None
) -> Segmentation:
    """Cut an image into regions.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        uint8, uint16 or float in [0, 1].
    settings : Settings, optional
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    """
    settings = settings or Settings()
    n_dims, n_segments = settings.n_dims, settings.n_segments
    choosing = {}
    if n_dims == "auto" or n_segments == "auto":
        started = time.perf_counter()
        pairs = auto_pairs(settings, np.shape(image))
        swept = sweep(image, pairs, settings=settings, on_iteration=on_iteration)
        prepared = swept.prepared
        n_dims, n_segments = swept.best.n_dims, swept.best.n_segments
        choosing["choose"] = time.perf_counter() - started
    else:
        prepared = PreparedImage(image, settings, once=True)
    result = prepared.segment(n_dims, n_segments, on_iteration=on_iteration)
    return replace(result, settings=settings, timings=choosing | result.timings)
