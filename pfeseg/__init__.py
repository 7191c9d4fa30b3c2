"""Piecewise flat embeddings for image segmentation and clustering.

Names are loaded when they are first used, so that ``import pfeseg`` is quick.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfeseg.cluster import cluster_embedding
    from pfeseg.errors import InvalidInputError, PfesegError, SolverError, SolverWarning
    from pfeseg.graph import Graph, build_pixel_graph
    from pfeseg.hierarchy import Hierarchy
    from pfeseg.image import downsample, enlarge_labels
    from pfeseg.initial import gmm_initial_embedding
    from pfeseg.metrics import Scores, score
    from pfeseg.pictures import draw_overlay
    from pfeseg.pipeline import segment
    from pfeseg.prepared import PreparedImage
    from pfeseg.refine import refine_labels
    from pfeseg.regions import clean_regions
    from pfeseg.segmentation import Segmentation
    from pfeseg.settings import Settings
    from pfeseg.solver import Embedding, IterationRecord, embed
    from pfeseg.solver_settings import SolverSettings
    from pfeseg.trials import Sweep, Trial, sweep

__version__ = "0.1.0"

_HOME = {
    "Embedding": "solver",
    "Graph": "graph",
    "Hierarchy": "hierarchy",
    "InvalidInputError": "errors",
    "IterationRecord": "solver",
    "PfesegError": "errors",
    "PreparedImage": "prepared",
    "Scores": "metrics",
    "Segmentation": "segmentation",
    "Settings": "settings",
    "SolverError": "errors",
    "SolverSettings": "solver_settings",
    "SolverWarning": "errors",
    "Sweep": "trials",
    "Trial": "trials",
    "build_pixel_graph": "graph",
    "clean_regions": "regions",
    "cluster_embedding": "cluster",
    "downsample": "image",
    "draw_overlay": "pictures",
    "embed": "solver",
    "enlarge_labels": "image",
    "gmm_initial_embedding": "initial",
    "refine_labels": "refine",
    "score": "metrics",
    "segment": "pipeline",
    "sweep": "trials",
}

__all__ = [
    "Embedding",
    "Graph",
    "Hierarchy",
    "InvalidInputError",
    "IterationRecord",
    "PfesegError",
    "PreparedImage",
    "Scores",
    "Segmentation",
    "Settings",
    "SolverError",
    "SolverSettings",
    "SolverWarning",
    "Sweep",
    "Trial",
    "build_pixel_graph",
    "clean_regions",
    "cluster_embedding",
    "downsample",
    "draw_overlay",
    "embed",
    "enlarge_labels",
    "gmm_initial_embedding",
    "refine_labels",
    "score",
    "segment",
    "sweep",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module 'pfeseg' has no attribute {name!r}")
    return getattr(import_module(f"pfeseg.{_HOME[name]}"), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
