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

from pfeseg.checks import (
    MAX_DIMS,
    MAX_REGIONS,
    check_callback,
    check_kind,
    check_threads,
    check_truth,
    number_array,
    positive_number,
    shown,
    whole_number,
)
from pfeseg.checks import small_labels as check_labels
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import ImageLike, as_raster
from pfeseg.image.detail import Detail, look_closely, measure_contrast
from pfeseg.image.masks import spread
from pfeseg.pixels.small import SmallImage
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.merging import MergedImage, Outlines
from pfeseg.segmentation import steps
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.segmentation.cuts import is_word
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

    Attributes
    ----------
    image : Raster
        The image as it was read.
    small : SmallImage
        The image at the size at which it is solved, of n pixels.
    settings : Settings
        Those that were given, with what was found out of the image.

    Raises
    ------
    InvalidInputError
        For values and images that cannot be used; the message says what to change.

    Examples
    --------
    `segment_prepared` cuts it as often as is wanted. Each of its steps can be taken alone:

    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> prepared = pfeseg.PreparedImage(image, pfeseg.Settings(max_size=30))
    >>> prepared.graph
    <Graph of 600 nodes and 1150 edges>
    >>> Y0 = prepared.start(2)
    >>> embedding = prepared.embed(prepared.solver, Y0)
    >>> merged, seconds = prepared.merge(embedding)
    >>> prepared.full_hierarchy(merged.hierarchy).cut(0.5).shape
    (40, 60)
    >>> labels = prepared.cluster(merged, 2)
    >>> full = prepared.full_labels(labels)
    >>> prepared.clean(full, min_region=4).shape, prepared.clean_small(labels).shape
    ((40, 60), (40, 60))

    So can those of other methods:

    >>> prepared.eigenmaps(2).vectors.shape[0]
    600
    >>> rows = prepared.place("gmm", n_dims=2, k=2).coordinates.rows
    >>> prepared.lay_out(rows.argmax(axis=1)).shape
    (20, 30)
    >>> prepared.detail.lab.shape, prepared.outlines.base.shape
    ((320, 480, 3), (320, 480))
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
        """Make a start.

        Parameters
        ----------
        n_components : int
            Number of the mixture's components, at most n.

        Returns
        -------
        (n, n_components) float32 array
            Y0.

        Raises
        ------
        InvalidInputError
            For another number.
        """
        n_components = whole_number("n_components", n_components, 1, self.small.n_pixels)
        with self._clock("init"):
            return steps.make_start(self.small, n_components, self.settings)

    def embed(
        self, solver: Solver, Y0: NDArray[np.float32], on_iteration: OnIteration | None = None
    ) -> Embedding:
        """Solve for the embedding.

        Parameters
        ----------
        solver : Solver
            `solver`, or one on the same graph with other settings.
        Y0 : (n, d) array
            Start.
        on_iteration : callable, optional
            Called with each `IterationRecord` of the solver.

        Returns
        -------
        Embedding

        Raises
        ------
        InvalidInputError
            For a start that does not fit the graph.
        SolverError
            Where the numbers break down.
        """
        check_kind("solver", solver, Solver)
        with self._clock("embed"):
            return solver.embed(Y0, on_iteration)

    def eigenmaps(self, n_vectors: int) -> Eigenmaps:
        """Compute eigenvectors of the graph, unless they are there.

        Parameters
        ----------
        n_vectors : int
            How many are wanted at least.

        Returns
        -------
        Eigenmaps

        Raises
        ------
        InvalidInputError
            For another number.
        SolverError
            Where they do not converge.
        """
        n_vectors = whole_number("n_vectors", n_vectors, 1, MAX_DIMS)
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
        """Compute the coordinates of a method; the last ones are kept for other values of k.

        Parameters
        ----------
        name : str
            A name in `pfeseg.segmentation.methods.METHODS`.
        n_dims, k : int
            Dimension and number of clusters, each at most n.
        on_iteration : callable, optional
            Called with each `IterationRecord` of the solver.

        Returns
        -------
        Placed

        Raises
        ------
        InvalidInputError
            Where the small image has fewer pixels.
        """
        if not is_word(name, *METHODS):
            raise InvalidInputError(
                f"{argument('method')} must be one of {', '.join(METHODS)}; got {shown(name)}"
            )
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
        """Lay out the labels of the pixels of the small image.

        Parameters
        ----------
        labels : (n,) integer array

        Returns
        -------
        (h, w) array
            With a mask, 0 is outside, and the labels count from 1.

        Raises
        ------
        InvalidInputError
            If there is not one label for each pixel.
        """
        labels = number_array(labels, "labels")
        if labels.shape != (self.small.n_pixels,):
            raise InvalidInputError(
                f"labels must have shape ({self.small.n_pixels},), one for each pixel of the small "
                f"image, got {labels.shape}"
            )
        if self.small.mask is None:
            return labels.reshape(self.small.shape)
        return spread(labels + np.int32(1), self.small.mask)

    def merge(self, embedding: Embedding) -> tuple[MergedImage, float]:
        """Merge the regions of the image. The last ones are kept for other values of k.

        Parameters
        ----------
        embedding : Embedding
            On `graph`.

        Returns
        -------
        merged : MergedImage
            At the size of the hierarchy, which is finer than the small image.
        seconds : float
            How long it took.

        Raises
        ------
        InvalidInputError
            If the embedding is one of another graph.
        """
        check_kind("embedding", embedding, Embedding)
        if len(embedding.Y) != self.small.n_pixels:
            raise InvalidInputError(
                f"the embedding must be one of {self.small.n_pixels} pixels, got {embedding!r}"
            )
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
        """Cluster regions of the image.

        Parameters
        ----------
        merged : MergedImage
            What `merge` returned.
        k : int
            Number of clusters.

        Returns
        -------
        (h', w') int32 array
            At the size of the hierarchy, or of the image if that is smaller.

        Raises
        ------
        InvalidInputError
            For another number.
        """
        check_kind("merged", merged, MergedImage)
        k = whole_number("n_clusters", k, 1, self.image.values.size)
        return steps.cluster_merged(merged, k, self.image, self.settings.seed)

    def full_hierarchy(self, tree: Hierarchy) -> Hierarchy:
        """Bring a hierarchy to the size of the image.

        Parameters
        ----------
        tree : Hierarchy
            Of the regions that `merge` found.

        Returns
        -------
        Hierarchy
            Of H W pixels.

        Raises
        ------
        InvalidInputError
            For what is no hierarchy.
        """
        check_kind("tree", tree, Hierarchy)
        return steps.enlarge_hierarchy(tree, self.image, self.settings.refine, self.threads)

    def full_labels(self, small_labels: Labels) -> Labels:
        """Bring labels to the size of the image, and clean them if the settings say so.

        Parameters
        ----------
        small_labels : (h, w) int32 array
            Of any size.

        Returns
        -------
        (H, W) int32 array

        Raises
        ------
        InvalidInputError
            For what is no label map.
        """
        labels, refine = check_labels(small_labels), self.settings.refine
        return self.clean(steps.enlarge_clusters(labels, self.image, refine, self.threads))

    def clean(self, labels: Labels, min_region: float | None = None) -> Labels:
        """Clean labels of full size.

        Parameters
        ----------
        labels : (H, W) int32 array
        min_region : float, optional
            As in `Settings`, from which it is taken unless given; 0 leaves the labels as they
            are.

        Returns
        -------
        (H, W) int32 array

        Raises
        ------
        InvalidInputError
            For labels of another size.
        """
        smallest = self.settings.min_region
        if min_region is not None:
            smallest = positive_number("min_region", min_region, or_zero=True)
        labels = check_labels(labels)
        masked = self.image.mask is not None
        return steps.clean_labels(labels, self.image, smallest, masked) if smallest else labels

    def clean_small(self, small_labels: Labels) -> Labels:
        """Clean labels of any size about as `clean` would: by colours of that size.

        Parameters
        ----------
        small_labels : (h, w) int32 array
            Of the size of the hierarchy, of the small image or of the image.

        Returns
        -------
        (h, w) int32 array

        Raises
        ------
        InvalidInputError
            For labels of another size.
        """
        share, small_labels = self.settings.min_region, check_labels(small_labels)
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
            if whole_number(name, count, 1, MAX_REGIONS) > n:
                left = f"{width} x {height}" if self.image.mask is None else f"{n} unmasked"
                raise InvalidInputError(
                    f"{argument(name)} is {count}, more than the {left} pixels that "
                    f"are left after downsampling by {factor:g}; lower it or downsample less"
                )
