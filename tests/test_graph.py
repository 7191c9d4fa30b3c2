from __future__ import annotations

import numpy as np
import pytest
from helpers import random_graph
from scipy.sparse import coo_array, csr_array, diags_array

from pfeseg import Graph, InvalidInputError, build_pixel_graph
from pfeseg.solver.graph import DEGREE_FLOOR, WEIGHT_FLOOR

RNG = np.random.default_rng(5)


def test_M_transposed_M_is_the_laplacian_of_the_squared_weights(oracle):
    graph = oracle.graph
    squared = Graph.from_edges(graph.n_nodes, graph.edges, graph.weights**2)
    laplacian = diags_array(squared.W.sum(axis=1)) - squared.W
    np.testing.assert_allclose((graph.M.T @ graph.M).toarray(), laplacian.toarray(), atol=1e-15)


def test_degrees_are_row_sums_of_W(oracle):
    np.testing.assert_allclose(oracle.graph.W.sum(axis=1), oracle.graph.degrees, rtol=1e-14)
    assert abs(oracle.graph.W - oracle.graph.W.T).max() == 0


def test_edges_are_ordered_and_keep_their_place():
    graph = Graph.from_edges(4, [[3, 0], [1, 2]], [0.5, 0.25])
    assert graph.edges.tolist() == [[0, 3], [1, 2]]
    assert graph.M.toarray().tolist() == [[0.5, 0, 0, -0.5], [0, 0.25, -0.25, 0]]


def test_zero_weights_and_isolated_nodes_get_the_floor():
    graph = Graph.from_edges(3, [[0, 1]], [0.0])
    assert graph.weights.tolist() == [WEIGHT_FLOOR]
    assert (graph.degrees > 0).all()
    isolated = Graph.from_edges(3, [[0, 1]], [0.9])
    np.testing.assert_allclose(isolated.degrees, [0.9, 0.9, 0.6 * DEGREE_FLOOR])
    assert Graph.from_edges(2, [], []).degrees.tolist() == [1, 1]


@pytest.mark.parametrize(
    ("n", "edges", "weights", "message"),
    [
        (3, [[1, 1]], [1.0], "self-loops"),
        (3, [[0, 1], [1, 0]], [1.0, 1.0], "duplicate edge: nodes 0 and 1"),
        (3, [[0, 3]], [1.0], "0 to 2"),
        (3, [[-1, 2]], [1.0], "0 to 2"),
        (3, [[0, 1]], [-1.0], "from 0 to"),
        (3, [[0, 1]], [np.nan], "from 0 to"),
        (3, [[0, 1]], [1e13], "scale them"),
        (3, [[0, 1]], [1.0, 2.0], r"shape \(1,\)"),
        (3, [[0.0, 1.0]], [1.0], "integer"),
        (3, [0, 1], [1.0], r"\(m, 2\)"),
        (0, [], [], "n_nodes must be a whole number of at least 1"),
    ],
)
def test_wrong_edges_are_rejected(n, edges, weights, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_edges(n, edges, weights)


def by_hand(x: np.ndarray, radius2: float, sigma: float) -> np.ndarray:
    """Dense weight matrix, pixel by pixel."""
    height, width = x.shape[:2]
    places = [(i, j) for i in range(height) for j in range(width)]
    W = np.zeros((len(places), len(places)))
    for a, (i, j) in enumerate(places):
        for b, (p, q) in enumerate(places):
            if a != b and (i - p) ** 2 + (j - q) ** 2 <= radius2:
                W[a, b] = np.exp(-((x[i, j] - x[p, q]) ** 2).sum() / (2 * sigma**2))
    return W


@pytest.mark.parametrize(
    ("neighbours", "radius2"), [(4, 1), (8, 2), (2.5, 6.25), (4.0, 16), (3, 9)]
)
@pytest.mark.parametrize("shape", [(5, 6), (1, 7), (4, 2), (1, 1)])
def test_pixel_graph_matches_the_definition(neighbours, radius2, shape):
    image = RNG.random((*shape, 3))
    graph = build_pixel_graph(image, neighbours, sigma=0.4)
    np.testing.assert_allclose(graph.W.toarray(), by_hand(image, radius2, 0.4), atol=1e-14)
    keys = graph.edges[:, 0].astype(int) * graph.n_nodes + graph.edges[:, 1]
    assert (np.diff(keys) > 0).all()


def test_sigma_rms_is_the_root_mean_square_difference():
    image = RNG.random((6, 5, 3))
    i, j = build_pixel_graph(image).edges.T
    x = image.reshape(-1, 3)
    rms = np.sqrt(((x[i] - x[j]) ** 2).sum(axis=1).mean())
    np.testing.assert_allclose(
        build_pixel_graph(image, sigma="rms").weights, build_pixel_graph(image, sigma=rms).weights
    )


def test_lab_differs_from_rgb_and_grey_equals_three_channels():
    image = RNG.random((6, 5, 3))
    assert not np.allclose(
        build_pixel_graph(image, features="lab").weights, build_pixel_graph(image).weights
    )
    grey = RNG.integers(0, 256, (6, 5), dtype=np.uint8)
    coloured = np.repeat(grey[..., None], 3, axis=2)
    assert (build_pixel_graph(grey).weights == build_pixel_graph(coloured).weights).all()


def test_flat_colour_has_unit_weights():
    assert (build_pixel_graph(np.full((4, 4), 0.3)).weights == 1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"neighbours": 0}, "neighbours must be 4, 8"),
        ({"neighbours": np.nan}, "neighbours must be 4, 8"),
        ({"features": "hsv"}, "features must be one of rgb, lab, pmi; got 'hsv'"),
        ({"sigma": "max"}, "sigma"),
        ({"sigma": 0.0}, "sigma"),
    ],
)
def test_wrong_pixel_graph_options_are_rejected(options, message):
    with pytest.raises(InvalidInputError, match=message):
        build_pixel_graph(np.zeros((3, 3)), **options)


@pytest.mark.parametrize("form", ["csr", "csc", "coo", "lil", "dok", "bsr"])
def test_a_matrix_of_weights_is_the_graph_it_came_from(form):
    graph = random_graph(12, 30, np.random.default_rng(3))
    matrix = graph.W.tolil()
    matrix.setdiag(7.0)  # which joins a node to itself, and is left out
    again = Graph.from_matrix(matrix.asformat(form))
    order = np.lexsort(graph.edges.T[::-1])
    np.testing.assert_array_equal(again.edges, graph.edges[order])
    np.testing.assert_array_equal(again.weights, graph.weights[order])


def test_what_a_matrix_holds_twice_is_added_and_zeros_are_no_edges():
    entries = [(0.2, 0, 1), (0.3, 0, 1), (0.5, 1, 0), (0.0, 1, 2), (0.0, 2, 1)]
    values, rows, columns = zip(*entries, strict=True)
    graph = Graph.from_matrix(coo_array((values, (rows, columns)), shape=(3, 3)))
    assert graph.edges.tolist() == [[0, 1]]
    assert graph.weights.tolist() == [0.5]


@pytest.mark.parametrize(
    ("matrix", "message"),
    [
        (np.eye(2), "square SciPy sparse matrix"),
        (csr_array((2, 3)), "of shape \\(2, 3\\)"),
        (csr_array([[0, 1], [0.5, 0]]), r"symmetric, but \[0, 1\] is 1 and \[1, 0\] is 0.5"),
        (csr_array([[0, -1], [-1, 0]]), "found -1 to -1"),
        (csr_array([[0, np.nan], [np.nan, 0]]), "found nan"),
        (csr_array([[0, 1j], [1j, 0]]), "must be numbers, got complex"),
    ],
)
def test_odd_matrices_of_weights_are_refused(matrix, message):
    with pytest.raises(InvalidInputError, match=message):
        Graph.from_matrix(matrix)
