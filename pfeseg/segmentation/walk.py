"""The walk of the data: from a prepared image to its segmentation."""

from __future__ import annotations

from pfeseg.errors import InvalidInputError, argument
from pfeseg.segmentation.clock import Clock
from pfeseg.segmentation.cuts import AUTOMATIC, Clusters, Cut
from pfeseg.segmentation.methods import METHODS, MethodName
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.result import Segmentation
from pfeseg.segmentation.steps import cut_hierarchy
from pfeseg.solver.embedding import OnIteration


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
    cut : Cut
    method : str, optional
        That of the settings unless given.
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    hierarchy : bool
        Return the hierarchy of regions even if the labels are not cut from it.
    """
    name = method or prepared.settings.method
    settings = prepared.settings.changed(method=name, n_dims=n_dims, cut=cut)
    cut = settings.resolved_cut
    k = cut.count(n_dims) if isinstance(cut, Clusters) else None
    placed = prepared.place(name, n_dims, k or n_dims, on_iteration)
    found, clock = placed.coordinates, Clock()

    merged = tree = None
    wants_tree = k is None or hierarchy
    if wants_tree or settings.clusters_regions:
        if found.embedding is None:
            raise InvalidInputError(f"a hierarchy needs {argument('method', 'pfe')}, not {name}")
        merged, clock.seconds["hierarchy"] = prepared.merge(found.embedding)
    if k is not None:
        with clock("cluster"):
            if settings.clusters_regions:
                assert merged is not None
                small_labels = prepared.cluster(merged, k)
            else:
                flat = METHODS[name].label(found.rows, k, settings.seed)
                small_labels = flat.reshape(prepared.small.shape)
    with clock("full_size"):
        if merged is not None and wants_tree:
            tree = prepared.full_hierarchy(merged.hierarchy)
        if isinstance(cut, Clusters):
            labels = prepared.full_labels(small_labels)
        else:
            assert merged is not None
            assert tree is not None
            small_labels = cut_hierarchy(merged.hierarchy, cut)
            labels = prepared.clean(cut_hierarchy(tree, cut))

    return Segmentation(
        labels=labels,
        small_image=prepared.small.rgb,
        graph=prepared.graph if METHODS[name].has_graph else None,
        coordinates=found.rows,
        Y0=found.Y0,
        embedding=found.embedding,
        small_labels=small_labels,
        hierarchy=tree,
        n_dims=n_dims,
        n_clusters=k,
        timings=placed.timings | clock.seconds,
        settings=settings,
    )
