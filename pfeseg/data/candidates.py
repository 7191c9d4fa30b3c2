"""Ways to cluster data, each from a graph and a start, and which of them to keep."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.embedding import cluster_embedding
from pfeseg.data.choice import uneven_cut
from pfeseg.data.graph import DataGraph, pieces
from pfeseg.labels.maps import consecutive
from pfeseg.solver.embed import Solver
from pfeseg.solver.embedding import Embedding
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import SolverSettings

Labels = NDArray[np.int32]

FIDELITY = 0.5
FIDELITY_RELAXED = 0.1
"""The solver's r and r_relaxed, in units of the square root of the sum of all degrees: then neither
the number of points nor that of neighbours changes how far the embedding leaves its start."""

REFERENCE_NODES = 9_600
"""Number of nodes for which the paper chose its lam; with others, lam grows by the square root."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One way to cluster the points: a graph, a start, and what came of them."""

    data: DataGraph
    start: str
    embedding: Embedding
    labels: Labels


def settings_for(graph: Graph) -> SolverSettings:
    """Return the solver's usual settings for a graph."""
    unit = float(np.sqrt(graph.degrees.sum()))
    return replace(
        SolverSettings(),
        lam=1e4 * float(np.sqrt(graph.n_nodes / REFERENCE_NODES)),
        r=FIDELITY * unit,
        r_relaxed=FIDELITY_RELAXED * unit,
    )


def find_candidates(
    graphs: list[DataGraph],
    starts: Callable[[DataGraph], dict[str, NDArray[Any]]],
    n_clusters: int,
    settings: SolverSettings | None,
    seed: int,
    threads: int | None,
) -> list[Candidate]:
    """Embed every graph from every one of its starts, (n, d), and cluster the rows."""
    found = []
    for data in graphs:
        solver = Solver(data.graph, settings or settings_for(data.graph), threads=threads)
        for name, Y0 in starts(data).items():
            embedding = solver.embed(Y0)
            labels = cluster_embedding(embedding.Y, n_clusters, seed)
            if Y0.shape[1] > labels.max() + 1:  # what Y no longer tells apart, its start does
                labels = _finer(labels, consecutive(np.abs(Y0).argmax(axis=1)))
            found.append(Candidate(data, name, embedding, labels))
    return found


def best_candidate(found: list[Candidate]) -> Candidate:
    """Return the candidate to keep.

    Clusters must not mix pieces of the graph, and none should be missing; then the least uneven
    cut counts.
    """
    graphs = list({id(each.data): each.data.graph for each in found}.values())
    parts = pieces(graphs[0])

    def worth(candidate: Candidate) -> tuple[int, int, float]:
        labels = candidate.labels
        return _mixed(parts, labels), -int(labels.max()), uneven_cut(graphs, labels)

    return min(found, key=worth)


def _finer(labels: Labels, others: Labels) -> Labels:
    """Return that of two labellings which has more clusters, the first if none has."""
    return others if others.max() > labels.max() else labels


def _mixed(parts: Labels, labels: Labels) -> int:
    """Count the clusters that hold points of several pieces of the graph."""
    pairs = np.unique(np.stack([labels, parts]), axis=1)
    return int((np.bincount(pairs[0]) > 1).sum())
