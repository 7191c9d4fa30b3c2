"""An image made ready to be cut by any method, dimension and number of segments.

Whatever does not depend on these is computed once: the small image, the graph, the
factorised systems of the solver, the eigenvectors.
"""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.appearance import Appearance, describe, detailed_lab
from pfeseg.cluster import cluster_embedding
from pfeseg.errors import InvalidInputError
from pfeseg.graph import Graph, build_pixel_graph
from pfeseg.hierarchy import Hierarchy, build_hierarchy, unit_rows
from pfeseg.image import area_average, as_lab, as_rgb, downsample
from pfeseg.initial import gmm_initial_embedding
from pfeseg.kernels import available_threads
from pfeseg.labels import consecutive
from pfeseg.methods import Method
from pfeseg.refine import to_full_size
from pfeseg.regions import clean_by_colours, min_pixels
from pfeseg.segmentation import Segmentation
from pfeseg.settings import Settings
from pfeseg.solver import Embedding, OnIteration, Solver
from pfeseg.spectral import (
    BLOCK_VECTORS,
    Eigenmaps,
    discretise,
    laplacian_eigenmaps,
    spectral_coordinates,
    weighted_coordinates,
)
from pfeseg.texture import local_contrast

FloatArray = NDArray[np.float64]
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class _Space:
    """What is clustered, and how it came about."""

    coordinates: NDArray[np.floating[Any]]
    timings: dict[str, float]
    graph: Graph | None
    Y0: NDArray[np.float32] | None = None
    embedding: Embedding | None = None


class PreparedImage:
    """One image and all settings but the method, the dimension and the number of segments.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        uint8, uint16 or float in [0, 1].
    settings : Settings
    once : bool
        Promises that there will be one segmentation only, which saves memory.
    """

    def __init__(self, image: ArrayLike, settings: Settings, *, once: bool = False) -> None:
        self.settings, self._once = settings, once
        self._seconds: dict[str, float] = {}
        self.full_image = as_rgb(image)
        self.factor = settings.shrinking(self.full_image.shape)
        self.small_image = self._timed(
            "downsample", lambda: downsample(self.full_image, self.factor)
        )
        self._last_space: tuple[tuple[Method, int, int | None], _Space] | None = None
        self._eigenmaps: dict[int, tuple[Eigenmaps, float]] = {}

    @cached_property
    def graph(self) -> Graph:
        """The pixel graph of the small image."""
        chosen = self.settings
        return self._timed(
            "graph",
            lambda: build_pixel_graph(
                self.small_image,
                chosen.neighbours,
                chosen.features,
                chosen.sigma,
                self._texture if chosen.features == "pmi" else None,
                chosen.seed,
            ),
        )

    @cached_property
    def solver(self) -> Solver:
        """The solver on the graph, its systems factorised once."""
        solver = Solver(self.graph, self.settings.solver, keep=not self._once)
        if not self._once:
            solver.factorise()  # now, so that no dimension's time includes it
        return solver

    def segment(
        self,
        n_dims: int,
        n_segments: int | None = None,
        method: Method | None = None,
        on_iteration: OnIteration | None = None,
        *,
        hierarchy: bool = False,
    ) -> Segmentation:
        """Cut the image into clusters.

        Parameters
        ----------
        n_dims : int
            Dimension d.
        n_segments : int, optional
            Number k of clusters; d unless given.
        method : str, optional
            That of the settings unless given.
        on_iteration : callable, optional
            Called with each `IterationRecord` of the solver.
        hierarchy : bool
            Build the hierarchy too, which needs the method "pfe".
        """
        method = method or self.settings.method
        k = n_segments or n_dims
        self._check_counts(n_dims, k)
        space = self._space(method, n_dims, k, on_iteration)
        timings = dict(space.timings)
        flat, timings["cluster"] = _clocked(lambda: self._cluster(method, space.coordinates, k))
        small_labels = flat.reshape(self.small_image.shape[:2])
        labels, timings["full_size"] = _clocked(lambda: self.full_labels(small_labels))
        tree = None
        if hierarchy:
            both, timings["hierarchy"] = _clocked(lambda: self._hierarchies(space))
            tree = both[1]
        chosen = self.settings.changed(
            n_dims=n_dims, n_segments="dims" if n_segments is None else n_segments, method=method
        )
        return self._result(labels, small_labels, tree, space, n_dims, k, timings, chosen)

    def cut(
        self,
        n_dims: int,
        n_regions: int | None = None,
        level: float | None = None,
        on_iteration: OnIteration | None = None,
    ) -> Segmentation:
        """Cut the image into the regions of one level of its hierarchy, by the method "pfe".

        Parameters
        ----------
        n_dims : int
            Dimension d.
        n_regions : int, optional
            Take the level with so many regions.
        level : float, optional
            Take this level; `DEFAULT_LEVEL` if neither is given.
        on_iteration : callable, optional
            Called with each `IterationRecord` of the solver.
        """
        self._check_counts(n_dims, n_dims)
        space = self._space("pfe", n_dims, n_dims, on_iteration)
        timings = dict(space.timings)
        (small, full), timings["hierarchy"] = _clocked(lambda: self._hierarchies(space))
        small_labels, labels = (tree.choose(n_regions, level) for tree in (small, full))
        if self.settings.min_region:
            cut = labels
            labels, timings["full_size"] = _clocked(lambda: self.clean(cut))
        chosen = self.settings.changed(
            n_dims=n_dims, n_segments=None, n_regions=n_regions, level=level, method="pfe"
        )
        return self._result(labels, small_labels, full, space, n_dims, None, timings, chosen)

    def full_labels(self, small_labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Bring labels to the size of the image; refine and clean them if the settings say so."""
        labels = self._enlarged(small_labels)
        return self.clean(labels) if self.settings.min_region else labels

    def clean(
        self, labels: NDArray[np.int32], min_region: float | None = None
    ) -> NDArray[np.int32]:
        """Split labels of full size into connected regions and absorb the small ones.

        `min_region` is that of the settings unless given.
        """
        smallest = min_pixels(
            self.settings.min_region if min_region is None else min_region, labels.size
        )
        return clean_by_colours(labels, self._full_lab, smallest)

    def describe(self) -> Appearance:
        """Describe the appearance of the image, from which the hierarchy is built."""
        return describe(
            self._detailed,
            self._contrast,
            self.small_image.shape,
            self.full_image.shape,
            self.settings.seed,
        )

    def _enlarged(self, small_labels: NDArray[np.int32]) -> NDArray[np.int32]:
        return to_full_size(small_labels, self.full_image, self.settings.refine)

    def _hierarchies(self, space: _Space) -> tuple[Hierarchy, Hierarchy]:
        """Build the hierarchy, at its own size and at that of the image."""
        if space.graph is None or space.embedding is None:
            raise InvalidInputError("a hierarchy needs the method pfe")
        Y = unit_rows(space.embedding.Y, space.graph.degrees)
        height, width = self.small_image.shape[:2]
        appearance = self.describe()
        threads = self.settings.solver.threads or available_threads()
        small = build_hierarchy(appearance, Y.reshape(height, width, -1), threads)
        return small, small.resized(self._enlarged(small.base))

    def _result(
        self,
        labels: NDArray[np.int32],
        small_labels: NDArray[np.int32],
        hierarchy: Hierarchy | None,
        space: _Space,
        n_dims: int,
        n_segments: int | None,
        timings: dict[str, float],
        settings: Settings,
    ) -> Segmentation:
        return Segmentation(
            labels=labels,
            small_image=self.small_image,
            graph=space.graph,
            coordinates=space.coordinates,
            Y0=space.Y0,
            embedding=space.embedding,
            small_labels=small_labels,
            hierarchy=hierarchy,
            n_dims=n_dims,
            n_segments=n_segments,
            timings=timings,
            settings=settings,
        )

    @cached_property
    def _detailed(self) -> FloatArray:
        return detailed_lab(self.full_image, self.small_image.shape)

    @cached_property
    def _contrast(self) -> FloatArray:
        return local_contrast(self._detailed[..., 0])

    @cached_property
    def _texture(self) -> FloatArray | None:
        """What the graph and the mixture see beside the colours of the small image."""
        if not self.settings.texture:
            return None
        height, width = self.small_image.shape[:2]
        return self.settings.texture * area_average(self._contrast, (height, width))

    @cached_property
    def _full_lab(self) -> FloatArray:
        return as_lab(self.full_image)

    def _space(
        self, method: Method, n_dims: int, k: int, on_iteration: OnIteration | None
    ) -> _Space:
        """Compute what is to be clustered; the last one is kept for other values of k."""
        key = (method, n_dims, k if method in ("gmm", "ncut") else None)
        if self._last_space is not None and self._last_space[0] == key:
            return self._last_space[1]
        graph = None if method in ("gmm", "kmeans") else self.graph
        timings = {"downsample": self._seconds["downsample"]}
        if graph:
            timings["graph"] = self._seconds["graph"]
        if method == "pfe":
            Y0, timings["init"] = _clocked(lambda: self._start(n_dims))
            solver = self.solver
            solved, timings["embed"] = _clocked(lambda: solver.embed(Y0, on_iteration))
            space = _Space(solved.Y, timings, graph, Y0, solved)
        elif method == "gmm":
            Y0, timings["init"] = _clocked(lambda: self._start(k))
            space = _Space(Y0, timings, graph, Y0)
        elif method == "kmeans":
            space = _Space(self.small_image.reshape(-1, 3), timings, graph)
        else:
            vectors, timings["embed"] = self._eigenvectors(method, n_dims, k)
            space = _Space(vectors, timings, graph)
        if not self._once:
            self._last_space = key, space
        return space

    def _start(self, n_components: int) -> NDArray[np.float32]:
        chosen = self.settings
        return gmm_initial_embedding(
            self.small_image, n_components, chosen.assignment, chosen.seed, self._texture
        )

    def _eigenvectors(self, method: Method, n_dims: int, k: int) -> tuple[FloatArray, float]:
        """Return the coordinates of a spectral method, and the seconds of their computation."""
        needed = {"le": n_dims, "sc": n_dims + 1, "wsc": n_dims + 1, "ncut": k}[method]
        block = -(-needed // BLOCK_VECTORS)
        if block not in self._eigenmaps:
            self._eigenmaps[block] = _clocked(lambda: laplacian_eigenmaps(self.graph, needed))
        eigenmaps, seconds = self._eigenmaps[block]
        if method == "sc":
            return spectral_coordinates(eigenmaps, n_dims), seconds
        if method == "wsc":
            return weighted_coordinates(eigenmaps, n_dims), seconds
        return eigenmaps.vectors[:, :needed], seconds

    def _cluster(
        self, method: Method, coordinates: NDArray[np.floating[Any]], k: int
    ) -> NDArray[np.int32]:
        if method == "gmm":
            return consecutive(coordinates.argmax(axis=1))
        if method == "ncut":
            rng = np.random.default_rng(self.settings.seed)
            return consecutive(discretise(np.asarray(coordinates, dtype=np.float64), rng))
        return cluster_embedding(coordinates, k, self.settings.seed)

    def _timed(self, stage: str, work: Callable[[], T]) -> T:
        value, self._seconds[stage] = _clocked(work)
        return value

    def _check_counts(self, n_dims: int, n_segments: int) -> None:
        height, width = self.small_image.shape[:2]
        for name, count in (("dimension d", n_dims), ("number of segments k", n_segments)):
            if count > height * width:
                raise InvalidInputError(
                    f"the {name} is {count}, more than the {width} x {height} pixels that are "
                    f"left after downsampling by {self.factor:g}; lower it or downsample less"
                )


def _clocked(work: Callable[[], T]) -> tuple[T, float]:
    started = time.perf_counter()
    return work(), time.perf_counter() - started
