"""From an image to its segmentation."""

from __future__ import annotations

import time
from dataclasses import replace

import numpy as np
from numpy.typing import ArrayLike

from pfeseg.errors import InvalidInputError
from pfeseg.prepared import PreparedImage
from pfeseg.segmentation import Segmentation
from pfeseg.settings import Settings
from pfeseg.solver import OnIteration
from pfeseg.trials import auto_pairs, sweep


def segment(
    image: ArrayLike,
    settings: Settings | None = None,
    on_iteration: OnIteration | None = None,
    *,
    hierarchy: bool = False,
) -> Segmentation:
    """Cut an image into regions.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        uint8, uint16 or float in [0, 1].
    settings : Settings, optional
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    hierarchy : bool
        Return the hierarchy of regions even if the labels are not cut from it.
    """
    settings = settings or Settings()
    if hierarchy and settings.method != "pfe":
        raise InvalidInputError(f"a hierarchy needs the method pfe, not {settings.method}")
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
    if settings.by_kmeans:
        k = None if n_segments == "dims" else n_segments
        result = prepared.segment(n_dims, k, on_iteration=on_iteration, hierarchy=hierarchy)
    else:
        result = prepared.cut(n_dims, settings.n_regions, settings.level, on_iteration)
    return replace(result, settings=settings, timings=choosing | result.timings)
