"""The method on one graph: from starts to embeddings to labels."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.embedding import cluster_embedding
from pfeseg.data.choice import balanced_cut
from pfeseg.data.start import one_hot
from pfeseg.solver.embed import Solver
from pfeseg.solver.embedding import Embedding
from pfeseg.solver.graph import Graph
from pfeseg.solver.settings import SolverSettings

Labels = NDArray[np.int32]

FIDELITIES = (10.0, 1.0, 0.3)
"""Values of r_relaxed that are tried: the smaller, the further from the start."""

REFERENCE_SIZE = 9_600
"""Number of nodes for which the paper chose its lam; with others, lam grows by the square root."""


@dataclass(frozen=True, eq=False)
class Candidate:
    """One way to cluster the graph."""

    start: str
    embedding: Embedding
    labels: Labels


def settings_for(graph: Graph, r_relaxed: float) -> SolverSettings:
    """Return the solver's settings for a graph, unless the user has some."""
    lam = 1e4 * float(np.sqrt(graph.n_nodes / REFERENCE_SIZE))
    return SolverSettings(lam=lam, r=10.0, r_relaxed=r_relaxed)


def candidates(
    graph: Graph,
    starts: dict[str, NDArray[Any]],
    n_clusters: int,
    settings: list[SolverSettings],
    seed: int,
    threads: int | None,
) -> Iterator[Candidate]:
    """Embed the graph from every start, (n, d), with each of the settings, and cluster the rows."""
    for each in settings:
        solver = Solver(graph, each, threads=threads)
        for name, Y0 in starts.items():
            embedding = solver.embed(Y0)
            yield Candidate(name, embedding, cluster_embedding(embedding.Y, n_clusters, seed))


def best_candidate(graph: Graph, found: list[Candidate]) -> Candidate:
    """Return the candidate of most clusters and, of those, the lowest balanced cut."""
    return min(found, key=lambda c: (-c.labels.max(), balanced_cut(graph, c.labels)))


def start_of(labels: Labels) -> NDArray[np.float32]:
    """Make the indicators of labels a start."""
    return one_hot(labels, int(labels.max()) + 1)
