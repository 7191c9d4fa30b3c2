"""Piecewise flat embeddings for image segmentation and clustering.

Names are loaded when they are first used, so that ``import pfeseg`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfeseg.clustering.embedding import cluster_embedding
    from pfeseg.data.clusterer import PFEClustering
    from pfeseg.data.embedder import PiecewiseFlatEmbedding
    from pfeseg.errors import (
        CutWarning,
        ImageWarning,
        InvalidInputError,
        PfesegError,
        PfesegWarning,
        SolverError,
        SolverWarning,
    )
    from pfeseg.files.labels import write_labels
    from pfeseg.files.raster import read_raster
    from pfeseg.image.arrays import Raster, as_raster
    from pfeseg.image.detail import measure_texture
    from pfeseg.image.georeference import Georeference
    from pfeseg.image.resize import downsample, enlarge_labels
    from pfeseg.labels.metrics import Scores, score
    from pfeseg.pictures.overlay import draw_overlay
    from pfeseg.pixels.graph import build_pixel_graph
    from pfeseg.pixels.start import gmm_initial_embedding
    from pfeseg.regions.clean import clean_regions
    from pfeseg.regions.hierarchy import Hierarchy
    from pfeseg.regions.refine import refine_labels
    from pfeseg.segmentation.cuts import Automatic, Clusters, Level, Regions
    from pfeseg.segmentation.prepared import PreparedImage
    from pfeseg.segmentation.result import Segmentation
    from pfeseg.segmentation.segment import segment
    from pfeseg.segmentation.settings import Settings
    from pfeseg.segmentation.steps import build_hierarchy, cluster_regions
    from pfeseg.segmentation.sweep import Sweep, sweep
    from pfeseg.segmentation.trials import Trial
    from pfeseg.segmentation.walk import segment_prepared
    from pfeseg.solver.embed import embed
    from pfeseg.solver.embedding import Embedding, IterationRecord
    from pfeseg.solver.graph import Graph
    from pfeseg.solver.settings import SolverSettings
    from pfeseg.volumes.segment import VolumeSegmentation, segment_volume
    from pfeseg.volumes.settings import VolumeSettings

__version__ = "0.2.0"

_HOME = {
    "Automatic": "segmentation.cuts",
    "Clusters": "segmentation.cuts",
    "CutWarning": "errors",
    "Embedding": "solver.embedding",
    "Georeference": "image.georeference",
    "Graph": "solver.graph",
    "Hierarchy": "regions.hierarchy",
    "ImageWarning": "errors",
    "InvalidInputError": "errors",
    "IterationRecord": "solver.embedding",
    "Level": "segmentation.cuts",
    "PFEClustering": "data.clusterer",
    "PfesegError": "errors",
    "PfesegWarning": "errors",
    "PiecewiseFlatEmbedding": "data.embedder",
    "PreparedImage": "segmentation.prepared",
    "Raster": "image.arrays",
    "Regions": "segmentation.cuts",
    "Scores": "labels.metrics",
    "Segmentation": "segmentation.result",
    "Settings": "segmentation.settings",
    "SolverError": "errors",
    "SolverSettings": "solver.settings",
    "SolverWarning": "errors",
    "Sweep": "segmentation.sweep",
    "Trial": "segmentation.trials",
    "VolumeSegmentation": "volumes.segment",
    "VolumeSettings": "volumes.settings",
    "as_raster": "image.arrays",
    "build_hierarchy": "segmentation.steps",
    "build_pixel_graph": "pixels.graph",
    "clean_regions": "regions.clean",
    "cluster_embedding": "clustering.embedding",
    "cluster_regions": "segmentation.steps",
    "downsample": "image.resize",
    "draw_overlay": "pictures.overlay",
    "embed": "solver.embed",
    "enlarge_labels": "image.resize",
    "gmm_initial_embedding": "pixels.start",
    "measure_texture": "image.detail",
    "read_raster": "files.raster",
    "refine_labels": "regions.refine",
    "score": "labels.metrics",
    "segment": "segmentation.segment",
    "segment_prepared": "segmentation.walk",
    "segment_volume": "volumes.segment",
    "sweep": "segmentation.sweep",
    "write_labels": "files.labels",
}

__all__ = [
    "Automatic",
    "Clusters",
    "CutWarning",
    "Embedding",
    "Georeference",
    "Graph",
    "Hierarchy",
    "ImageWarning",
    "InvalidInputError",
    "IterationRecord",
    "Level",
    "PFEClustering",
    "PfesegError",
    "PfesegWarning",
    "PiecewiseFlatEmbedding",
    "PreparedImage",
    "Raster",
    "Regions",
    "Scores",
    "Segmentation",
    "Settings",
    "SolverError",
    "SolverSettings",
    "SolverWarning",
    "Sweep",
    "Trial",
    "VolumeSegmentation",
    "VolumeSettings",
    "as_raster",
    "build_hierarchy",
    "build_pixel_graph",
    "clean_regions",
    "cluster_embedding",
    "cluster_regions",
    "downsample",
    "draw_overlay",
    "embed",
    "enlarge_labels",
    "gmm_initial_embedding",
    "measure_texture",
    "read_raster",
    "refine_labels",
    "score",
    "segment",
    "segment_prepared",
    "segment_volume",
    "sweep",
    "write_labels",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pfeseg' has no attribute {name!r}")
    return getattr(import_module(f"pfeseg.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
