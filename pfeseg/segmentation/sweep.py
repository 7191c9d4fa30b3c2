"""Many dimensions and numbers of clusters of one image, and which of them to take.

All share one graph and one factorisation of the solver's systems, and those of one d share one
hierarchy of regions. The recommendation is by consensus: of all segmentations, the one that agrees
most with the others, by the mean of their Rand indices. A cut that depends on the particular d and
k is found by few of them, one that is in the image by many. They are compared as they are before
they are brought to the size of the image, which only the chosen one need be.
"""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass, replace

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
from pfeseg.engines.engine import Call, Engine, Work
from pfeseg.engines.local import Local
from pfeseg.errors import InvalidInputError, PfesegError, argument
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.labels.metrics import rand_index
from pfeseg.segmentation.clock import OnStage
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.methods import METHODS
from pfeseg.segmentation.pairs import AUTO_DIMS, Pair, check_numbers, check_pairs, sweep_pairs
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.settings import Settings, choose_settings
from pfeseg.segmentation.walk import SmallCut, cut_small
from pfeseg.solver.embedding import OnIteration, channel_energies
from pfeseg.solver.polar import gram_matrix, squared_norm

FLAT_STEP = 0.01
"""An edge is flat where its ends differ by less than this, in units of the root mean square row."""

_CHUNK_EDGES = 1 << 15


@dataclass(frozen=True, eq=False, repr=False)
class Trial:
    """One segmentation of a sweep.

    Attributes
    ----------
    n_dims, n_clusters : int
        d and k.
    n_regions : int
        Number of labels; after any clean-up, which is made at the size of `small_labels`.
    small_labels : (h, w) int32 array
        As they were clustered, of one size in a sweep; see `Sweep.labels` for those of full size.
    energy, flatness, orthogonality_error : float or None
        Mean energy of the channels, share of the edges along which the embedding is flat, and
        ``||Y^T D Y - I||_F^2``; None for the methods that look at colours only.
    agreement : float
        Mean Rand index of `small_labels` with those of the other candidates; 1 if there is none.
    timings : dict
        Seconds by stage.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> trial = pfeseg.sweep(image, [(2, 2)]).best
    >>> trial.n_dims, trial.n_clusters, trial.n_regions, trial.agreement
    (2, 2, 2, 1.0)
    >>> trial.seconds == sum(trial.timings.values())
    True
    """

    n_dims: int
    n_clusters: int
    n_regions: int
    small_labels: NDArray[np.int32]
    energy: float | None
    flatness: float | None
    orthogonality_error: float | None
    agreement: float
    timings: dict[str, float]

    def __repr__(self) -> str:
        return (
            f"<Trial with d = {self.n_dims}, k = {self.n_clusters}: {self.n_regions} regions, "
            f"agreement {self.agreement:.3f}>"
        )

    @property
    def seconds(self) -> float:
        """Time of all stages."""
        return sum(self.timings.values())


@dataclass(frozen=True, eq=False, repr=False)
class Sweep:
    """Result of `sweep`.

    Attributes
    ----------
    prepared : PreparedImage
        What all trials share.
    trials : tuple of Trial
    recommended : int
        Index of the recommended trial.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> result = pfeseg.sweep(image, dims=[2, 3], n_clusters=[2])
    >>> result
    <Sweep of 2 trials, recommended: <Trial with d = 2, k = 2: 2 regions, agreement 1.000>>
    >>> result.best is result.trials[result.recommended]
    True
    >>> result.labels(result.best).shape, result.shown_labels(result.best).shape
    ((40, 60), (40, 60))
    """

    prepared: PreparedImage
    trials: tuple[Trial, ...]
    recommended: int

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
        return self.prepared.full_labels(trial.small_labels)

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
    pairs: Sequence[Pair] | None = None,
    candidates: Sequence[Pair] | None = None,
    settings: Settings | None = None,
    *,
    dims: Sequence[int] | None = None,
    n_clusters: Sequence[int] | None = None,
    jobs: int = 1,
    engine: Engine | None = None,
    reader: Callable[[], Raster] | None = None,
    on_dimension: Callable[[int], None] | None = None,
    on_iteration: OnIteration | None = None,
    threads: int | None = None,
    on_stage: OnStage | None = None,
) -> Sweep:
    """Segment an image with several dimensions and numbers of clusters.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        As for `segment`.
    pairs : sequence of (d, k), optional
        A k of None stands for k = d. Unless given, those that `dims` and `n_clusters` make.
    candidates : sequence of (d, k), optional
        Pairs to recommend one of, and to be agreed with; `pairs` unless given.
    settings : Settings, optional
    dims : sequence of int, optional
        Dimensions to try, `AUTO_DIMS` unless given.
    n_clusters : sequence of int, optional
        Numbers of clusters to try with each of them. Unless given, k = d is tried, and k is
        recommended from `AUTO_CLUSTERS`.
    jobs : int
        Processes to share the dimensions; never changes the result.
    engine : Engine, optional
        What shares the dimensions, in place of `jobs` processes of this machine.
    reader : callable, optional
        How other processes read the image, which is sent to them else.
    on_dimension : callable, optional
        Called with each d when its segmentations are done.
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver, if there is one job.
    threads : int, optional
        Of each job: all processors unless given, 1 where there are several jobs; never changes
        the result.
    on_stage : callable, optional
        Called with the name of each stage when it begins, if there is one job.

    Returns
    -------
    Sweep
        With a trial for each of the pairs, then for each other candidate.

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
    """
    settings, threads = choose_settings(settings), check_threads(threads)
    for name, function in (("on_dimension", on_dimension), ("on_iteration", on_iteration)):
        check_callback(name, function)
    pairs, candidates = check_pairs("pairs", pairs), check_pairs("candidates", candidates)
    dims, n_clusters = check_numbers("dims", dims), check_numbers("n_clusters", n_clusters)
    jobs = whole_number("jobs", jobs, 1, MAX_THREADS)
    if not (engine is None or hasattr(engine, "run")):
        raise InvalidInputError(f"engine must be one of pfeseg.engines, got {shown(engine)}")
    if pairs is None:
        image = as_raster(image, settings.stretch, settings.bands)
        pairs, among_all = sweep_pairs(settings, dims or AUTO_DIMS, n_clusters, image.shape)
        candidates = among_all if candidates is None else candidates
    elif dims is not None or n_clusters is not None:
        raise InvalidInputError("a sweep takes pairs, or dims and n_clusters, but not both")
    asked = [(d, k or d) for d, k in pairs]
    among = asked if candidates is None else [(d, k or d) for d, k in candidates]
    if not among:
        raise InvalidInputError("a sweep needs at least one dimension")
    wanted = list(dict.fromkeys(asked + among))
    prepared = PreparedImage(image, settings, threads=threads, on_stage=on_stage)
    found: dict[Pair, Trial] = {}
    for of_one_dimension in _run(prepared, wanted, engine or Local(jobs), reader, on_iteration):
        found |= {(t.n_dims, t.n_clusters): t for t in of_one_dimension}
        if on_dimension:
            on_dimension(of_one_dimension[0].n_dims)
    candidate = np.array([pair in among for pair in wanted])
    agreement = consensus([found[pair].small_labels for pair in wanted], candidate).round(9)
    trials = tuple(
        replace(found[pair], agreement=float(value))
        for pair, value in zip(wanted, agreement, strict=True)
    )
    # Of equals the one with the fewest clusters, then dimensions, in whatever order they came.
    best = max(
        np.flatnonzero(candidate),
        key=lambda i: (trials[i].agreement, -trials[i].n_clusters, -trials[i].n_dims),
    )
    return Sweep(prepared, trials, int(best))


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


def _run(
    prepared: PreparedImage,
    pairs: Sequence[tuple[int, int]],
    engine: Engine,
    reader: Callable[[], Raster] | None,
    on_iteration: OnIteration | None,
) -> Iterator[list[Trial]]:
    """Yield the trials of each dimension, as they are done."""
    # The largest first: with several processes, none is left alone with it at the end.
    dims = sorted({d for d, _ in pairs}, reverse=True)
    clusters = {d: [k for e, k in pairs if e == d] for d in dims}
    if not engine.is_elsewhere:
        yield from (_trials(prepared, d, clusters[d], on_iteration) for d in dims)
        return
    source = _Source(uuid.uuid4().hex, reader or prepared.image, prepared.settings)
    threads = prepared.threads or 1
    calls = [(source, threads, d, clusters[d]) for d in dims]
    work = Work(_trials_in_worker, shared=source)
    with closing(engine.run(work, calls, _give_up)) as results:
        yield from results


def _give_up(call: Call, reason: str) -> list[Trial]:
    raise PfesegError(
        f"given up, as two worker processes died of {argument('n_dims', call[2])} ({reason}); "
        f"if memory is short, raise {argument('downsample')}"
    )


@dataclass(frozen=True, eq=False)
class _Source:
    """What a worker prepares: an image, or what reads it."""

    key: str
    image: Raster | Callable[[], Raster]
    settings: Settings

    def prepare(self, threads: int) -> PreparedImage:
        image = self.image if isinstance(self.image, Raster) else self.image()
        return PreparedImage(image, self.settings, threads=threads)


_kept: dict[str, PreparedImage] = {}
"""In a worker process: the image of the present sweep, prepared once."""


def _trials_in_worker(
    source: _Source, threads: int, n_dims: int, clusters: Sequence[int]
) -> list[Trial]:
    if source.key not in _kept:
        _kept.clear()
        _kept[source.key] = source.prepare(threads)
    return _trials(_kept[source.key], n_dims, clusters)


def _trials(
    prepared: PreparedImage,
    n_dims: int,
    clusters: Sequence[int],
    on_iteration: OnIteration | None = None,
) -> list[Trial]:
    """Segment with one dimension and some numbers of clusters."""
    follows_k = METHODS[prepared.settings.method].follows_k
    trials: list[Trial] = []
    for k in clusters:
        result = cut_small(prepared, n_dims, Clusters(k), on_iteration)
        if trials and not follows_k:
            first = trials[0]
            measures = first.energy, first.flatness, first.orthogonality_error
        else:
            measures = _measures(result)
        trials.append(
            Trial(
                n_dims,
                k,
                int(prepared.clean_small(result.labels).max()) + (prepared.image.mask is None),
                result.labels,
                *measures,
                agreement=np.nan,
                timings=result.timings,
            )
        )
    return trials


def _measures(result: SmallCut) -> tuple[float | None, float | None, float | None]:
    """Energy, flatness and orthogonality error of the coordinates."""
    if result.graph is None:
        return None, None, None
    found = result.coordinates
    graph, Y = result.graph, found.rows
    flat_step2 = FLAT_STEP**2 * squared_norm(Y) / len(Y)
    n_flat = 0
    for begin in range(0, graph.n_edges, _CHUNK_EDGES):  # M Y may be large
        i, j = graph.edges[begin : begin + _CHUNK_EDGES].T
        n_flat += int((((Y[i] - Y[j]) ** 2).sum(axis=1) < flat_step2).sum())
    flat = n_flat / graph.n_edges if graph.n_edges else 1.0
    if found.embedding is not None:
        error = found.embedding.history[-1].orthogonality_error
    else:
        gram = gram_matrix(Y, np.sqrt(graph.degrees))
        error = float(((gram - np.eye(Y.shape[1])) ** 2).sum())
    return float(channel_energies(graph, Y).mean()), flat, error
