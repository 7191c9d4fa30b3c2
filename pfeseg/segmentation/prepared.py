"""An image made ready to be cut by any method, dimension and number of clusters.

Whatever does not depend on these is computed once and kept: the small image, the graph, the
factorised systems of the solver, the eigenvectors, the outlines of regions.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any
from weakref import proxy

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import check_callback, check_threads, check_truth, whole_number
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import ImageLike, as_raster
from pfeseg.image.detail import Detail, look_closely, measure_contrast
from pfeseg.image.masks import spread
from pfeseg.pixels.small import SmallImage
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.merging import MergedImage, Outlines
from pfeseg.segmentation import steps
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.segmentation.methods import METHODS, Coordinates, MethodName
from pfeseg.segmentation.settings import Settings, choose_settings
from pfeseg.solver.embed import Solver
from pfeseg.solver.embedding import Embedding, OnIteration
from pfeseg.solver.graph import Graph
from pfeseg.solver.spectral import BLOCK_VECTORS, Eigenmaps, laplacian_eigenmaps

Labels = NDArray[np.int32]


@dataclass(frozen=True, eq=False)
class Placed:
    """Coordinates, and the seconds of the stages that led to them."""

    coordinates: Coordinates
    timings: dict[str, float]


class PreparedImage:
    """One image and all settings but the method, the dimension and the cut.

    Parameters
    ----------
    image : (H, W) or (H, W, c) array
        As for `as_raster`; one that was checked already stays as it is, whatever the settings say.
    settings : Settings
    once : bool
        Promises that there will be one segmentation only, which saves memory.
    threads : int, optional
        All processors unless given; never changes a result.
    on_stage : callable, optional
        Called with the name of each stage when it begins.
    """

    def __init__(
        self,
        image: ImageLike,
        settings: Settings,
        *,
        once: bool = False,
        threads: int | None = None,
        on_stage: OnStage | None = None,
    ) -> None:
        settings = choose_settings(settings)
        check_callback("on_stage", on_stage)
        threads, once = check_threads(threads), check_truth("once", once)
        self.image = as_raster(image, settings.stretch, settings.bands)
        self.settings = settings = settings.changed(**self.image.choices)
        self.threads, self._once, self.on_stage = threads, once, on_stage
        self._clock = Clock(on_stage)
        with self._clock("downsample"):
            small = steps.shrink_image(self.image, settings)
        # A proxy: in a circle of references, arrays would outlive their image in a long batch.
        this = proxy(self)
        self.small = SmallImage(small, lambda: steps.weighted_texture(this._contrast, settings))
        self._last: tuple[tuple[MethodName, int, int | None], Placed] | None = None
        self._merged: tuple[Embedding, MergedImage, float] | None = None
        self._eigenmaps: dict[int, tuple[Eigenmaps, float]] = {}

    @cached_property
    def graph(self) -> Graph:
        """The pixel graph of the small image."""
        with self._clock("graph"):
            return steps.build_graph(self.small, self.settings)

    @cached_property
    def solver(self) -> Solver:
        """The solver on the graph, its systems factorised once."""
        solver = Solver(self.graph, self.settings.solver, keep=not self._once, threads=self.threads)
        if not self._once:
            solver.factorise()  # now, so that no dimension's time includes it
        return solver

    @cached_property
    def detail(self) -> Detail:
        """The image as texture and the merging of regions see it."""
        return look_closely(self.image, self.small.shape)

    @cached_property
    def outlines(self) -> Outlines:
        """What the merging of regions knows before it looks at an embedding."""
        with self._clock("outlines"):
            return steps.outline(
                self.detail, self.small.shape, self.image.shape, self.settings.seed, self.threads
            )

    def start(self, n_components: int) -> NDArray[np.float32]:
        """Make a start of so many components."""
        n_components = whole_number("n_components", n_components, 1, self.small.n_pixels)
        with self._clock("init"):
            return steps.make_start(self.small, n_components, self.settings)

    def embed(
        self, solver: Solver, Y0: NDArray[np.float32], on_iteration: OnIteration | None
    ) -> Embedding:
        """Solve for the embedding."""
        with self._clock("embed"):
            return solver.embed(Y0, on_iteration)

    def eigenmaps(self, n_vectors: int) -> Eigenmaps:
        """Compute at least so many eigenvectors, unless they are there."""
        n_vectors = whole_number("n_vectors", n_vectors, 1, 10**6)
        graph, block = self.graph, -(-n_vectors // BLOCK_VECTORS)
        if block not in self._eigenmaps:
            with self._clock("embed"):
                found = laplacian_eigenmaps(graph, n_vectors)
            self._eigenmaps[block] = found, self._clock.seconds["embed"]
        found, self._clock.seconds["embed"] = self._eigenmaps[block]
        return found

    def place(
        self, name: MethodName, n_dims: int, k: int, on_iteration: OnIteration | None = None
    ) -> Placed:
        """Compute the coordinates of a method; the last ones are kept for other values of k."""
        self._check_counts(n_dims, k)
        method = METHODS[name]
        key = (name, n_dims, k if method.follows_k else None)
        if self._last is not None and self._last[0] == key:
            return self._last[1]
        coordinates = method.place(self, n_dims, k, on_iteration)
        timings = {stage: self._clock.seconds[stage] for stage in method.stages}
        placed = Placed(coordinates, timings)
        if not self._once:
            self._last = key, placed
        return placed

    def lay_out(self, labels: Labels) -> Labels:
        """Lay the labels of the pixels of the small image out; with a mask they count from 1."""
        if self.small.mask is None:
            return labels.reshape(self.small.shape)
        return spread(labels + np.int32(1), self.small.mask)

    def merge(self, embedding: Embedding) -> tuple[MergedImage, float]:
        """Merge the regions of the image; returns the seconds of that too.

        The last ones are kept for other values of k.
        """
        if self._merged is not None and self._merged[0] is embedding:
            return self._merged[1:]
        outlines = self.outlines
        with self._clock("merge"):
            merged = steps.merge_regions(
                outlines, embedding.Y, self.graph.degrees, self.small.shape, self.small.mask
            )
        seconds = self._clock.seconds["outlines"] + self._clock.seconds["merge"]
        if not self._once:
            self._merged = embedding, merged, seconds
        return merged, seconds

    def cluster(self, merged: MergedImage, k: int) -> Labels:
        """Cluster regions of the image, at the size of the hierarchy or of the image itself."""
        return steps.cluster_merged(merged, k, self.image, self.settings.seed)

    def full_hierarchy(self, tree: Hierarchy) -> Hierarchy:
        """Bring a hierarchy to the size of the image."""
        return steps.enlarge_hierarchy(tree, self.image, self.settings.refine, self.threads)

    def full_labels(self, small_labels: Labels) -> Labels:
        """Bring labels to the size of the image, and clean them if the settings say so."""
        refine, threads = self.settings.refine, self.threads
        return self.clean(steps.enlarge_clusters(small_labels, self.image, refine, threads))

    def clean(self, labels: Labels, min_region: float | None = None) -> Labels:
        """Clean labels of full size; 0 leaves them as they are.

        `min_region` is that of the settings unless given.
        """
        smallest = self.settings.min_region if min_region is None else min_region
        masked = self.image.mask is not None
        return steps.clean_labels(labels, self.image, smallest, masked) if smallest else labels

    def clean_small(self, small_labels: Labels) -> Labels:
        """Clean labels of any size as `clean` would, about: by colours of that size."""
        share = self.settings.min_region
        if not share:
            return small_labels
        height, width = self.image.shape
        if share >= 1:
            share = min(share / (height * width), 1 - 1e-9)
        masked = self.image.mask is not None
        for lab in (self.detail.lab, self.small.lab):
            if lab.shape[:2] == small_labels.shape:
                return steps.clean_labels(small_labels, lab, share, masked)
        return steps.clean_labels(small_labels, self.image, share, masked)

    def _contrast(self) -> NDArray[np.floating[Any]]:
        return measure_contrast(self.detail, self.small.shape)

    def _check_counts(self, n_dims: int, k: int) -> None:
        (height, width), n = self.small.shape, self.small.n_pixels
        factor = self.settings.shrinking(self.image.shape)
        for name, count in (("n_dims", n_dims), ("n_clusters", k)):
            if count > n:
                left = f"{width} x {height}" if self.image.mask is None else f"{n} unmasked"
                raise InvalidInputError(
                    f"{argument(name)} is {count}, more than the {left} pixels that "
                    f"are left after downsampling by {factor:g}; lower it or downsample less"
                )
