"""Many dimensions and many cuts of one image, and which of them to take.

All share one graph and one factorisation of the solver's systems, and those of one d share one
embedding and one hierarchy of regions. The recommendation is by consensus: of all candidates, the
one that agrees most with the others, by the mean of their Rand indices. A cut that depends on the
particular d and k is found by few of them, one that is in the image by many. They are compared as
they are before they are brought to the size of the image, which only the chosen one need be.
Among the levels of one hierarchy there is no such vote: the default level is recommended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import (
    MAX_THREADS,
    check_callback,
    check_kind,
    check_threads,
    shown,
    whole_number,
)
from pfeseg.engines.engine import Engine
from pfeseg.engines.local import Local
from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.segmentation import steps
from pfeseg.segmentation.clock import OnStage
from pfeseg.segmentation.consensus import vote
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.pairs import (
    Pair,
    PairLike,
    check_levels,
    check_numbers,
    check_pairs,
    sweep_pairs,
)
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.settings import Settings, choose_settings
from pfeseg.segmentation.trials import Trial, run_trials
from pfeseg.solver.embedding import OnIteration


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """Result of `sweep`.

    Attributes
    ----------
    prepared : PreparedImage
    trials : tuple of Trial
    recommended : int
        Index of the recommended trial.
    hierarchies : dict
        The hierarchy of each d whose trials are cut from one, at the size of `small_labels`.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> result = pfeseg.sweep(image, dims=[2, 3], n_clusters=[2])
    >>> result
    <Sweep of 2 trials, recommended: <Trial with d = 2, 2 clusters: 2 regions, agreement 1.000>>
    >>> result.best is result.trials[result.recommended]
    True
    >>> result.labels(result.best).shape, result.shown_labels(result.best).shape
    ((40, 60), (40, 60))
    """

    prepared: PreparedImage
    trials: tuple[Trial, ...]
    recommended: int
    hierarchies: dict[int, Hierarchy] = field(default_factory=dict)
    _full: dict[int, Hierarchy] = field(default_factory=dict, init=False, repr=False)

    def __repr__(self) -> str:
        return f"<Sweep of {len(self.trials)} trials, recommended: {self.best!r}>"

    @property
    def best(self) -> Trial:
        """The recommended trial."""
        return self.trials[self.recommended]

    def labels(self, trial: Trial) -> NDArray[np.int32]:
        """Make the label map of a trial at full size: too much to keep for all of them.

        Parameters
        ----------
        trial : Trial
            One of `trials`.

        Returns
        -------
        (H, W) int32 array

        Raises
        ------
        InvalidInputError
            For what is no trial.
        """
        check_kind("trial", trial, Trial)
        if isinstance(trial.cut, Clusters):
            return self.prepared.full_labels(trial.small_labels)
        tree = self._full_hierarchy(trial.n_dims)
        return self.prepared.clean(steps.cut_hierarchy(tree, trial.cut))

    def _full_hierarchy(self, n_dims: int) -> Hierarchy:
        """Bring the hierarchy of a dimension to full size; the last one is kept."""
        if n_dims not in self._full:
            self._full.clear()
            self._full[n_dims] = self.prepared.full_hierarchy(self.hierarchies[n_dims])
        return self._full[n_dims]

    def shown_labels(self, trial: Trial) -> NDArray[np.int32]:
        """Make a label map of a trial to look at: cleaned if the settings say so, but small.

        Parameters
        ----------
        trial : Trial
            One of `trials`.

        Returns
        -------
        (h, w) int32 array

        Raises
        ------
        InvalidInputError
            For what is no trial.
        """
        check_kind("trial", trial, Trial)
        return self.prepared.clean_small(trial.small_labels)


def sweep(
    image: ImageLike,
    pairs: Sequence[PairLike] | None = None,
    candidates: Sequence[PairLike] | None = None,
    settings: Settings | None = None,
    *,
    dims: Sequence[int] | None = None,
    n_clusters: Sequence[int] | None = None,
    levels: Sequence[float] | None = None,
    n_regions: Sequence[int] | None = None,
    jobs: int = 1,
    engine: Engine | None = None,
    reader: Callable[[], Raster] | None = None,
    on_dimension: Callable[[int], None] | None = None,
    on_iteration: OnIteration | None = None,
    threads: int | None = None,
    on_stage: OnStage | None = None,
) -> Sweep:
    """Segment an image with several dimensions and cuts: clusters, levels or numbers of regions.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        As for `segment`.
    pairs : sequence of (d, cut), optional
        A cut is `Clusters`, `Regions`, `Level` or a number of clusters, and None stands for k = d.
        Unless given, those that the numbers below make.
    candidates : sequence of (d, cut), optional
        Pairs to recommend one of, and to be agreed with; `pairs` unless given.
    settings : Settings, optional
    dims : sequence of int, optional
        Dimensions to try. Unless given, `AUTO_DIMS` for clusters, and for cuts of the hierarchy
        the one of the settings.
    n_clusters : sequence of int, optional
        Numbers of clusters to try with each of them. Unless given, k = d is tried, and k is
        recommended from `AUTO_CLUSTERS`.
    levels, n_regions : sequence of numbers, optional
        Instead of clusters: levels of the hierarchy, or numbers of its regions. The default level
        is recommended, or the trial with the same labels. With several dimensions, it is that
        of the dimension whose cut at the default level agrees most with those of the others.
    jobs : int
        Processes to share the dimensions; never changes the result.
    engine : Engine, optional
        What shares the dimensions, in place of `jobs` processes of this machine.
    reader : callable, optional
        How other processes read the image, unless it is to be sent to them.
    on_dimension : callable, optional
        Called with each d when its segmentations are done.
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver, if there is one job.
    threads : int, optional
        Threads of each job: all processors unless given, or 1 where there are several jobs. Never
        changes the result.
    on_stage : callable, optional
        Called with the name of each stage when it begins, if there is one job.

    Returns
    -------
    Sweep
        With a trial for each of the pairs, then for each other candidate. Candidates that are cut
        from the hierarchy of a pair, and have the same labels, are left out.

    Raises
    ------
    InvalidInputError
        Where there is nothing to try, or more than the image has pixels.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> result = pfeseg.sweep(image, dims=[2, 3], n_clusters=[2])
    >>> [(trial.n_dims, trial.n_clusters) for trial in result.trials]
    [(2, 2), (3, 2)]
    >>> pfeseg.sweep(image, n_regions=[1, 2]).best.cut
    Regions(n_regions=2)
    """
    settings, threads = choose_settings(settings), check_threads(threads)
    for name, function in (("on_dimension", on_dimension), ("on_iteration", on_iteration)):
        check_callback(name, function)
    asked, among = check_pairs("pairs", pairs), check_pairs("candidates", candidates)
    given: dict[str, Any] = {
        "dims": check_numbers("dims", dims),
        "n_clusters": check_numbers("n_clusters", n_clusters),
        "levels": check_levels(levels),
        "n_regions": check_numbers("n_regions", n_regions),
    }
    jobs = whole_number("jobs", jobs, 1, MAX_THREADS)
    if not (engine is None or hasattr(engine, "run")):
        raise InvalidInputError(f"engine must be one of pfeseg.engines, got {shown(engine)}")
    if asked is None:
        image = as_raster(image, settings.stretch, settings.bands)
        asked, among_all = sweep_pairs(settings, image.shape, **given)
        among = among_all if among is None else among
    elif any(given.values()):
        names = " and ".join(name for name, numbers in given.items() if numbers)
        raise InvalidInputError(f"a sweep takes pairs, or {names}, but not both")
    among = asked if among is None else among
    wanted = list(dict.fromkeys(asked + among))
    for cut in dict.fromkeys(cut for _, cut in wanted):
        settings.changed(cut=cut)  # refuses what the method cannot do, before any work
    prepared = PreparedImage(image, settings, threads=threads, on_stage=on_stage)
    found: dict[Pair, Trial] = {}
    hierarchies: dict[int, Hierarchy] = {}
    for trials, tree in run_trials(prepared, wanted, engine or Local(jobs), reader, on_iteration):
        found |= {(trial.n_dims, trial.cut): trial for trial in trials}
        d = trials[0].n_dims
        if tree is not None:
            hierarchies[d] = tree
        if on_dimension:
            on_dimension(d)
    is_candidate = np.array([pair in among for pair in wanted])
    voted, best = vote([found[pair] for pair in wanted], is_candidate)
    return Sweep(prepared, *_without_repeats(voted, best, len(set(asked))), hierarchies)


def _without_repeats(
    trials: Sequence[Trial], best: int, n_asked: int
) -> tuple[tuple[Trial, ...], int]:
    """Leave out candidates that have the labels of a trial that was asked for.

    Two cuts of one hierarchy have the same labels if they have the same number of regions. Returns
    the new index of the best trial too.
    """

    def regions_of(trial: Trial) -> tuple[int, int, int]:
        return trial.n_dims, int(trial.small_labels.max()), trial.n_regions

    asked = {
        regions_of(trial): index
        for index, trial in enumerate(trials[:n_asked])
        if not isinstance(trial.cut, Clusters)
    }
    places = [
        index
        if index < n_asked or isinstance(trial.cut, Clusters)
        else asked.get(regions_of(trial), index)
        for index, trial in enumerate(trials)
    ]
    kept = [index for index, place in enumerate(places) if place == index]
    return tuple(trials[index] for index in kept), kept.index(places[best])
