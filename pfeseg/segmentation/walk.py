"""The walk of the data: from a prepared image to its segmentation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import MAX_DIMS, check_callback, check_kind, check_truth, whole_number
from pfeseg.errors import InvalidInputError, argument
from pfeseg.regions.merging import MergedImage
from pfeseg.segmentation.clock import Clock
from pfeseg.segmentation.cuts import AUTOMATIC, Clusters, Cut
from pfeseg.segmentation.methods import METHODS, Coordinates, MethodName
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.result import Segmentation
from pfeseg.segmentation.settings import Settings
from pfeseg.segmentation.steps import cut_finally, cut_hierarchy
from pfeseg.solver.embedding import OnIteration
from pfeseg.solver.graph import Graph


@dataclass(frozen=True, eq=False)
class SmallCut:
    """A segmentation before it is brought to the size of the image.

    Attributes
    ----------
    labels : (h', w') int32 array
        Of the size of the small image or of the hierarchy, which is finer.
    merged : MergedImage or None
        The regions that were merged, if they were.
    graph, coordinates, n_clusters, timings, settings
        As those of a `Segmentation`.
    """

    labels: NDArray[np.int32]
    merged: MergedImage | None
    graph: Graph | None
    coordinates: Coordinates
    n_clusters: int | None
    timings: dict[str, float]
    settings: Settings


def cut_small(
    prepared: PreparedImage,
    n_dims: int,
    cut: Cut,
    on_iteration: OnIteration | None,
    method: MethodName | None = None,
    hierarchy: bool = False,
) -> SmallCut:
    """Do as `segment_prepared`, all but the step to full size."""
    name = prepared.settings.method if method is None else method
    settings = prepared.settings.changed(method=name, n_dims=n_dims, cut=cut)
    cut = settings.resolved_cut
    k = cut.count(n_dims) if isinstance(cut, Clusters) else None
    placed = prepared.place(name, n_dims, k or n_dims, on_iteration)
    found, clock = placed.coordinates, Clock(prepared.on_stage)

    merged = None
    if k is None or hierarchy or settings.clusters_regions:
        if found.embedding is None:
            raise InvalidInputError(f"a hierarchy needs {argument('method', 'pfe')}, not {name}")
        merged, clock.seconds["hierarchy"] = prepared.merge(found.embedding)
    if isinstance(cut, Clusters):
        assert k is not None
        with clock("cluster"):
            if settings.clusters_regions:
                assert merged is not None
                labels = prepared.cluster(merged, k)
            else:
                flat = METHODS[name].label(found.rows, k, settings.seed)
                labels = prepared.lay_out(flat)
    else:
        assert merged is not None
        labels = cut_hierarchy(merged.hierarchy, cut)
    return SmallCut(
        labels,
        merged,
        prepared.graph if METHODS[name].has_graph else None,
        found,
        k,
        placed.timings | clock.seconds,
        settings,
    )


def segment_prepared(
    prepared: PreparedImage,
    n_dims: int,
    cut: Cut = AUTOMATIC,
    method: MethodName | None = None,
    on_iteration: OnIteration | None = None,
    *,
    hierarchy: bool = False,
) -> Segmentation:
    """Cut an image that was prepared, by any method, dimension and cut.

    Parameters
    ----------
    prepared : PreparedImage
    n_dims : int
        Dimension d.
    cut : Automatic, Clusters, Regions or Level
        How the labels are cut.
    method : str, optional
        That of the settings unless given.
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    hierarchy : bool
        Return the hierarchy of regions even if the labels are not cut from it.

    Returns
    -------
    Segmentation

    Raises
    ------
    InvalidInputError
        For values that cannot be used; the message says what to change.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> image[:, 30:] = (250, 200, 0)
    >>> prepared = pfeseg.PreparedImage(image, pfeseg.Settings())
    >>> [pfeseg.segment_prepared(prepared, d, pfeseg.Clusters(2)).n_regions for d in (2, 3)]
    [2, 2]
    """
    check_kind("prepared", prepared, PreparedImage)
    n_dims = whole_number("n_dims", n_dims, 1, MAX_DIMS)
    hierarchy = check_truth("hierarchy", hierarchy)
    check_callback("on_iteration", on_iteration)
    small = cut_small(prepared, n_dims, cut, on_iteration, method, hierarchy)
    cut, tree, clock = small.settings.resolved_cut, None, Clock(prepared.on_stage)
    with clock("full_size"):
        if small.merged is not None and (hierarchy or not isinstance(cut, Clusters)):
            tree = prepared.full_hierarchy(small.merged.hierarchy)
        if isinstance(cut, Clusters):
            labels = prepared.full_labels(small.labels)
        else:
            assert tree is not None
            labels = prepared.clean(cut_finally(tree, cut))

    return Segmentation(
        labels=labels,
        small_mask=prepared.small.mask,
        small_image=prepared.small.features,
        graph=small.graph,
        coordinates=small.coordinates.rows,
        Y0=small.coordinates.Y0,
        embedding=small.coordinates.embedding,
        small_labels=small.labels,
        hierarchy=tree,
        n_dims=n_dims,
        n_clusters=small.n_clusters,
        timings=small.timings | clock.seconds,
        settings=small.settings,
        image=prepared.image,
    )
