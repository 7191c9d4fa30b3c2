"""From an image to its segmentation: all stages in a row."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.cluster import cluster_embedding
from pfeseg.errors import InvalidInputError
from pfeseg.graph import Graph, build_pixel_graph
from pfeseg.image import as_rgb, downsample, enlarge_labels
from pfeseg.initial import gmm_initial_embedding
from pfeseg.settings import Settings
from pfeseg.solver import Embedding, OnIteration, embed


@dataclass(frozen=True, eq=False)
class Segmentation:
    """Result of `segment`, with the result of every stage.

    Attributes
    ----------
    labels : (H, W) int32 array
        At the size of the image; 0, 1, ... none left out.
    small_image : (h, w, 3) float array
        The downsampled image, of h w = n pixels.
    graph : Graph
    Y0 : (n, d) array
        Initial embedding.
    embedding : Embedding
    small_labels : (h, w) int32 array
    timings : dict
        Seconds by stage.
    settings : Settings
    """

    labels: NDArray[np.int32]
    small_image: NDArray[np.float64]
    graph: Graph
    Y0: NDArray[np.float32]
    embedding: Embedding
    small_labels: NDArray[np.int32]
    timings: dict[str, float]
    settings: Settings

    @property
    def n_regions(self) -> int:
        """Number of different labels."""
        return int(self.labels.max()) + 1

    def report(self) -> dict[str, Any]:
        """Return what a sidecar file holds: settings, timings and how the solver ended."""
        last = self.embedding.history[-1]
        return {
            "settings": self.settings.to_dict(),
            "image_size": [int(side) for side in self.labels.shape[::-1]],
            "solved_size": [int(side) for side in self.small_labels.shape[::-1]],
            "regions": self.n_regions,
            "stop_reason": self.embedding.stop_reason,
            "objective": last.objective,
            "orthogonality_error": last.orthogonality_error,
            "pcg_iterations": sum(r.pcg_iterations for r in self.embedding.history),
            "pcg_capped": sum(r.pcg_capped for r in self.embedding.history),
            "timings": {stage: round(seconds, 4) for stage, seconds in self.timings.items()},
        }


def segment(
    image: ArrayLike, settings: Settings | None = None, on_iteration: OnIteration | None = None
) -> Segmentation:
    """Cut an image into regions.

    Parameters
    ----------
    image : (H, W) or (H, W, 3) array
        uint8, uint16 or float in [0, 1].
    settings : Settings, optional
    on_iteration : callable, optional
        Called with each `IterationRecord` of the solver.
    """
    settings = settings or Settings()
    timings: dict[str, float] = {}
    with _timed(timings, "downsample"):
        full = as_rgb(image)
        factor = settings.shrinking(full.shape)
        small = downsample(full, factor)
    n_segments = settings.n_segments or settings.n_dims
    _check_counts(settings.n_dims, n_segments, small.shape, factor)
    with _timed(timings, "graph"):
        graph = build_pixel_graph(small, settings.neighbours, settings.features, settings.sigma)
    with _timed(timings, "init"):
        Y0 = gmm_initial_embedding(small, settings.n_dims, settings.assignment, settings.seed)
    with _timed(timings, "embed"):
        embedding = embed(graph, Y0, settings.solver, on_iteration)
    with _timed(timings, "cluster"):
        flat = cluster_embedding(embedding.Y, n_segments, settings.seed)
        small_labels = flat.reshape(small.shape[:2])
        labels = enlarge_labels(small_labels, full.shape[:2])
    return Segmentation(labels, small, graph, Y0, embedding, small_labels, timings, settings)


@contextmanager
def _timed(timings: dict[str, float], stage: str) -> Iterator[None]:
    started = time.perf_counter()
    yield
    timings[stage] = time.perf_counter() - started


def _check_counts(n_dims: int, n_segments: int, shape: tuple[int, ...], factor: float) -> None:
    height, width = shape[:2]
    for name, count in (("dimension d", n_dims), ("number of segments k", n_segments)):
        if count > height * width:
            raise InvalidInputError(
                f"the {name} is {count}, more than the {width} x {height} pixels that are left "
                f"after downsampling by {factor:g}; lower it or downsample less"
            )
