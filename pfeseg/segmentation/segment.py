"""From an image to its segmentation."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import Literal

from numpy.typing import ArrayLike

from pfeseg.checks import check_callback, check_threads, check_truth
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import ImageLike, as_raster
from pfeseg.segmentation.clock import OnStage
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.methods import METHODS
from pfeseg.segmentation.pairs import auto_pairs
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.result import Segmentation
from pfeseg.segmentation.settings import Settings, choose_settings
from pfeseg.segmentation.sweep import sweep
from pfeseg.segmentation.walk import segment_prepared
from pfeseg.solver.embedding import OnIteration


def segment(
    image: ImageLike,
    settings: Settings | None = None,
    on_iteration: OnIteration | None = None,
    *,
    n_regions: int | None = None,
    level: float | None = None,
    n_clusters: int | Literal["auto", "dims"] | None = None,
    n_dims: int | Literal["auto", "usual"] | None = None,
    seed: int | None = None,
    preset: str | None = None,
    mask: ArrayLike | None = None,
    hierarchy: bool = False,
    threads: int | None = None,
    on_stage: OnStage | None = None,
) -> Segmentation:
    """Cut an image into regions.

    Parameters
    ----------
    image : (H, W) or (H, W, c) array
        Integers or floats, stretched as `Settings.stretch` says, of the bands that
        `Settings.bands` names; or the result of `as_raster`, which is taken as it is.
    settings : Settings, optional
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    n_regions, level, n_clusters : number, optional
        How the labels are cut: so many regions of the hierarchy, a level of it in [0, 1], or so
        many clusters. At most one of them; the level 0.5 unless given.
    n_dims, seed : int, optional
        As in `Settings`, which they change.
    preset : str, optional
        Settings to start from, "default" or "paper", in place of `settings`.
    mask : (H, W) array, optional
        Pixels where it is zero are left out, and so are those of masked arrays: they are no
        nodes of the graph, and 0 in the labels, where regions then count from 1.
    hierarchy : bool
        Return the hierarchy of regions even if the labels are not cut from it.
    threads : int, optional
        All processors unless given; never changes the result.
    on_stage : callable, optional
        Called with the name of each stage when it begins, see `pfeseg.segmentation.clock`.

    Returns
    -------
    Segmentation

    Raises
    ------
    InvalidInputError
        For values, arrays or sizes that cannot be used; the message says what to change.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> pfeseg.segment(image).n_regions
    2
    >>> pfeseg.segment(image, n_regions=1).n_regions
    1
    """
    settings = choose_settings(
        settings,
        preset,
        n_clusters=n_clusters,
        n_regions=n_regions,
        level=level,
        n_dims=n_dims,
        seed=seed,
    )
    check_callback("on_iteration", on_iteration)
    check_callback("on_stage", on_stage)
    threads, hierarchy = check_threads(threads), check_truth("hierarchy", hierarchy)
    if hierarchy and not METHODS[settings.method].has_hierarchy:
        raise InvalidInputError(
            f"a hierarchy needs {argument('method', 'pfe')}, not {settings.method}"
        )
    raster = as_raster(image, settings.stretch, settings.bands, mask)
    settings = settings.changed(**raster.choices)
    cut, choosing = settings.cut, {}
    if settings.is_open:
        started = time.perf_counter()
        pairs = auto_pairs(settings, raster.shape)
        swept = sweep(
            raster,
            pairs,
            settings=settings,
            on_iteration=on_iteration,
            threads=threads,
            on_stage=on_stage,
        )
        prepared, n_dims = swept.prepared, swept.best.n_dims
        if cut == Clusters("auto"):
            cut = swept.best.cut
        choosing["choose"] = time.perf_counter() - started
    else:
        prepared = PreparedImage(raster, settings, once=True, threads=threads, on_stage=on_stage)
        n_dims = settings.dims_for(prepared.small.shape, prepared.small.n_pixels)
    result = segment_prepared(prepared, n_dims, cut, None, on_iteration, hierarchy=hierarchy)
    return replace(result, settings=settings, timings=choosing | result.timings)
