"""The trials of a sweep: one image cut with several dimensions, each in several ways."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg.engines.engine import Call, Engine, Work
from pfeseg.errors import PfesegError, argument
from pfeseg.image.arrays import Raster
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.segmentation import steps
from pfeseg.segmentation.cuts import Clusters, Level
from pfeseg.segmentation.methods import METHODS
from pfeseg.segmentation.pairs import OneCut, Pair
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.settings import Settings
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
    n_dims : int
        d.
    cut : Clusters, Regions or Level
        How the labels were cut.
    n_regions : int
        Number of labels. Those of clusters are counted at the size of `small_labels`, after any
        clean-up; those of a hierarchy at full size.
    small_labels : (h, w) int32 array
        As they were cut, of one size in a sweep; see `Sweep.labels` for those of full size.
    energy, flatness, orthogonality_error : float or None
        Mean energy of the channels, share of the edges along which the embedding is flat, and
        ``||Y^T D Y - I||_F^2``; None for the methods that look at colours only.
    agreement : float or None
        Mean Rand index of `small_labels` with those of the other candidates; None where there is
        one candidate only.
    timings : dict
        Seconds by stage.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> trial = pfeseg.sweep(image, n_regions=[1, 2]).best
    >>> trial
    <Trial with d = 8, 2 regions>
    >>> trial.n_clusters, trial.level, trial.seconds == sum(trial.timings.values())
    (None, None, True)
    """

    n_dims: int
    cut: OneCut
    n_regions: int
    small_labels: NDArray[np.int32]
    energy: float | None
    flatness: float | None
    orthogonality_error: float | None
    agreement: float | None
    timings: dict[str, float]

    def __repr__(self) -> str:
        clusters = "" if self.n_clusters is None else f"{self.n_clusters} clusters: "
        level = "" if self.level is None else f"level {self.level:g}: "
        agreement = "" if self.agreement is None else f", agreement {self.agreement:.3f}"
        found = f"{self.n_regions} region{'s' if self.n_regions > 1 else ''}"
        return f"<Trial with d = {self.n_dims}, {clusters}{level}{found}{agreement}>"

    @property
    def n_clusters(self) -> int | None:
        """k; None of cuts of the hierarchy."""
        return self.cut.count(self.n_dims) if isinstance(self.cut, Clusters) else None

    @property
    def level(self) -> float | None:
        """Level of the hierarchy at which the labels were cut, if they were cut at a level."""
        return self.cut.level if isinstance(self.cut, Level) else None

    @property
    def seconds(self) -> float:
        """Time of all stages."""
        return sum(self.timings.values())


OfOneDimension = tuple[list[Trial], Hierarchy | None]
"""The trials of a dimension, and the hierarchy from which any of them are cut."""


def run_trials(
    prepared: PreparedImage,
    pairs: Sequence[Pair],
    engine: Engine,
    reader: Callable[[], Raster] | None,
    on_iteration: OnIteration | None,
) -> Iterator[OfOneDimension]:
    """Yield the trials of each dimension, as they are done."""
    # The largest first: with several processes, none is left alone with it at the end.
    dims = sorted({d for d, _ in pairs}, reverse=True)
    cuts = {d: [cut for e, cut in pairs if e == d] for d in dims}
    if not engine.is_elsewhere:
        yield from (_try_dimension(prepared, d, cuts[d], on_iteration) for d in dims)
        return
    source = _Source(uuid.uuid4().hex, reader or prepared.image, prepared.settings)
    threads = prepared.threads or 1
    calls = [(source, threads, d, cuts[d]) for d in dims]
    work = Work(_try_in_worker, shared=source)
    with closing(engine.run(work, calls, _give_up)) as results:
        yield from results


def _give_up(call: Call, reason: str) -> OfOneDimension:
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


def _try_in_worker(
    source: _Source, threads: int, n_dims: int, cuts: Sequence[OneCut]
) -> OfOneDimension:
    if source.key not in _kept:
        _kept.clear()
        _kept[source.key] = source.prepare(threads)
    return _try_dimension(_kept[source.key], n_dims, cuts)


def _try_dimension(
    prepared: PreparedImage,
    n_dims: int,
    cuts: Sequence[OneCut],
    on_iteration: OnIteration | None = None,
) -> OfOneDimension:
    """Segment with one dimension and some cuts."""
    follows_k = METHODS[prepared.settings.method].follows_k
    trials: list[Trial] = []
    small: Hierarchy | None = None
    full: Hierarchy | None = None
    for cut in cuts:
        result = cut_small(prepared, n_dims, cut, on_iteration)
        if follows_k or not trials:  # else all cuts have the same coordinates
            measures = _measures(result)
        if isinstance(cut, Clusters):
            labels = prepared.clean_small(result.labels)
        else:
            assert result.merged is not None
            small = result.merged.hierarchy
            full = full or prepared.full_hierarchy(small)
            labels = prepared.clean(steps.cut_hierarchy(full, cut))
        trials.append(
            Trial(
                n_dims,
                cut,
                int(labels.max()) + (prepared.image.mask is None),
                result.labels,
                *measures,
                agreement=None,
                timings=result.timings,
            )
        )
    return trials, small


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
