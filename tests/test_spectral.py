"""Spectral rivals against dense eigensolvers and scikit-learn."""

from __future__ import annotations

import os
import subprocess
import sys

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import SAMPLES, same_partition

from pfeseg import (
    Clusters,
    Graph,
    InvalidInputError,
    Settings,
    build_pixel_graph,
    downsample,
    score,
    segment,
)
from pfeseg.solver.spectral import (
    BLOCK_VECTORS,
    Eigenmaps,
    discretise,
    laplacian_eigenmaps,
    spectral_coordinates,
    weighted_coordinates,
)

COLOURS = Settings(neighbours=4, features="lab")
"""A graph whose weights are told by colours alone."""


def squares(side: int = 8) -> Graph:
    """30 equal squares with nothing between them: every eigenvalue is there 30 times or more."""
    board = np.kron(np.indices((5, 6)).sum(axis=0) % 2 * 0.8 + 0.1, np.ones((side, side)))
    return build_pixel_graph(board, sigma=0.02)


GRAPHS = {
    "photograph": lambda: build_pixel_graph(
        downsample(iio.imread(SAMPLES / "coffee.jpg"), 14), features="lab"
    ),
    "flat": lambda: build_pixel_graph(np.full((30, 30), 0.5)),  # double eigenvalues
    "squares": lambda: squares(6),
    "cliques": lambda: Graph.from_edges(
        1000,
        [[i, j] for b in range(0, 1000, 5) for i in range(b, b + 5) for j in range(i + 1, b + 5)],
        np.ones(2000),
    ),
    "one edge": lambda: Graph.from_edges(600, [[3, 4]], [1.0]),
}


@pytest.mark.parametrize("name", GRAPHS)
@pytest.mark.parametrize("count", [5, 45])
def test_eigenmaps_are_those_of_a_dense_solver(name, count):
    graph = GRAPHS[name]()
    found = laplacian_eigenmaps(graph, count)
    W = graph.W.toarray()
    L = np.diag(W.sum(axis=1)) - W
    scale = 1 / np.sqrt(graph.degrees)
    exact = np.linalg.eigvalsh(scale[:, None] * L * scale)
    assert np.abs(found.values - exact[: len(found.values)]).max() < 1e-9
    Y, D = found.vectors, np.diag(graph.degrees)
    assert np.abs(Y.T @ D @ Y - np.eye(Y.shape[1])).max() < 1e-9
    assert np.abs(L @ Y - D @ Y * found.values).max() < 1e-5 * np.sqrt(graph.degrees.max())


def test_the_first_vectors_do_not_depend_on_how_many_are_asked_for():
    graph = GRAPHS["photograph"]()
    few, more = laplacian_eigenmaps(graph, 3), laplacian_eigenmaps(graph, BLOCK_VECTORS)
    assert few.vectors.tobytes() == more.vectors.tobytes()
    assert laplacian_eigenmaps(graph, BLOCK_VECTORS + 1).vectors.shape[1] == 2 * BLOCK_VECTORS


@pytest.mark.parametrize("n", [1, 2, 20])
def test_small_graphs_have_all_their_eigenvectors(n):
    path = [[i, i + 1] for i in range(n - 1)]
    found = laplacian_eigenmaps(Graph.from_edges(n, path, np.ones(n - 1)), 25)
    assert found.vectors.shape == (n, n)
    assert found.values[0] < 1e-12


@pytest.mark.parametrize("edge", range(3, 18))
@pytest.mark.parametrize("method", ["sc", "wsc", "le", "ncut"])
def test_two_pieces_are_told_apart_wherever_the_edge(edge, method):
    image = np.full((20, 20), 0.9)
    image[:, :edge] = 0
    for d in (1, 2) if method in ("sc", "wsc") else (2,):
        chosen = COLOURS.changed(method=method, n_dims=d, cut=Clusters(2), sigma=0.05)
        assert same_partition(segment(image, chosen).labels, image > 0)


@pytest.mark.parametrize("side", [5, 6, 12, 20])
def test_normalised_cuts_never_cut_a_piece_when_there_are_enough(side):
    truth = np.kron(np.arange(9).reshape(3, 3), np.ones((side, side), int))
    colours = np.random.default_rng(3).random((9, 3))
    chosen = COLOURS.changed(method="ncut", n_dims=4, sigma=0.02)
    labels = segment(colours[truth], chosen).labels
    assert all(len(np.unique(labels[truth == piece])) == 1 for piece in range(9))


def test_the_first_vector_is_constant():
    for graph in (squares(), squares(5), GRAPHS["photograph"]()):
        vectors = laplacian_eigenmaps(graph, 5).vectors
        assert np.ptp(vectors[:, 0]) < 1e-12 * abs(vectors[0, 0])


def test_asking_for_no_vector_is_refused():
    with pytest.raises(InvalidInputError, match="at least one"):
        laplacian_eigenmaps(squares(), 0)


def test_weights_follow_the_eigenvalues_and_stay_finite():
    vectors = np.ones((4, 4))
    weighted = weighted_coordinates(Eigenmaps(np.array([0.0, 0.01, 0.04, 1.0]), vectors), 2)
    assert np.allclose(weighted[0], [10, 5])
    # With 30 zero eigenvalues, those are raised to a share of the largest.
    apart = laplacian_eigenmaps(squares(), 45)
    weighted = weighted_coordinates(apart, 40)
    plain = spectral_coordinates(apart, 40)
    assert np.isfinite(weighted).all()
    assert np.allclose(weighted[:, 0] / plain[:, 0], 100 / np.sqrt(apart.values[40]))
    # All of them zero: they are left as they are.
    assert np.isfinite(weighted_coordinates(apart, 10)).all()


def test_discretise_finds_the_pieces_of_a_disconnected_graph():
    graph = squares()
    labels = discretise(laplacian_eigenmaps(graph, 30).vectors[:, :30], np.random.default_rng(0))
    truth = np.kron(np.arange(30).reshape(5, 6), np.ones((8, 8), int))
    assert same_partition(labels, truth)


def test_discretise_agrees_with_scikit_learn(chelsea):
    from sklearn.cluster import SpectralClustering

    graph = build_pixel_graph(downsample(chelsea, 10))
    ours = discretise(laplacian_eigenmaps(graph, 6).vectors[:, :6], np.random.default_rng(0))
    theirs = SpectralClustering(
        6, affinity="precomputed", assign_labels="discretize", random_state=0
    ).fit_predict(graph.W)
    shape = (30, 45)
    assert score(ours.reshape(shape), [theirs.reshape(shape)]).covering > 0.95


def test_a_row_of_zeros_does_not_break_discretise():
    vectors = np.zeros((6, 2))
    vectors[:3, 0], vectors[3:5, 1] = 1, 1
    labels = discretise(vectors, np.random.default_rng(0))
    assert len(set(labels[:3])) == 1
    assert set(labels[3:5]) != set(labels[:3])


def test_the_number_of_threads_never_changes_the_bytes_not_even_of_the_first_vectors():
    program = (
        "import imageio.v3 as iio, hashlib, sys, pfeseg\n"
        "from pfeseg.solver.spectral import laplacian_eigenmaps\n"
        "image = pfeseg.downsample(iio.imread(sys.argv[1]), 4)\n"
        "found = laplacian_eigenmaps(pfeseg.build_pixel_graph(image), 3)\n"
        "print(hashlib.sha256(found.vectors.tobytes()).hexdigest())"
    )
    digests = {
        subprocess.run(
            [sys.executable, "-c", program, str(SAMPLES / "astronaut.jpg")],
            env=os.environ | {"OPENBLAS_NUM_THREADS": threads},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for threads in ("1", "2")
    }
    assert len(digests) == 1
