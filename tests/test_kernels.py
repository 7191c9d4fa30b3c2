from __future__ import annotations

import numpy as np
import pytest
from helpers import random_graph, relative_error
from hypothesis import given, settings
from hypothesis import strategies as st
from reference import dense_incomplete_cholesky
from scipy.sparse import csr_array, eye_array

from pfeseg import Graph, InvalidInputError, SolverError, build_pixel_graph, kernels
from pfeseg.kernels import variant
from pfeseg.solver.cholesky import CholeskyLoop, eliminate
from pfeseg.solver.pcg import PcgLoop
from pfeseg.solver.split_bregman import DirectLoop, SplitBregmanLoop, shrink, system_matrix

RNG = np.random.default_rng(1)


GRAPHS = {
    "4 neighbours": build_pixel_graph(RNG.random((12, 9, 3))),
    "8 neighbours": build_pixel_graph(RNG.random((12, 9, 3)), 8),
    "radius 2.5": build_pixel_graph(RNG.random((9, 8, 3)), 2.5),
    "any": random_graph(60, 400, RNG),
    "sparse": random_graph(60, 20, RNG),
    "no edges": Graph.from_edges(5, [], []),
    "several domains": build_pixel_graph(RNG.random((100, 130, 3))),
}
PRECONDITIONERS = ["ic0", "cholesky"]


def make_loop(
    preconditioner: str, graph: Graph, *, precision="double", threads=2, rtol=1e-12
) -> SplitBregmanLoop:
    if preconditioner == "ic0":
        return PcgLoop(graph, 1e4, 10.0, rtol=rtol, precision=precision, threads=threads)
    order = eliminate(graph, np.inf)
    return CholeskyLoop(graph, order, 1e4, 10.0, precision=precision, threads=threads)


@pytest.fixture(params=GRAPHS)
def graph(request) -> Graph:
    return GRAPHS[request.param]


def incomplete_cholesky(A: csr_array, relaxation: float = 0.0) -> tuple[csr_array, np.ndarray]:
    """Factorise a symmetric sparse matrix without fill-in: A ~ L diag(pivots) L^T."""
    indptr, indices = (part.astype(np.int32) for part in (A.indptr, A.indices))
    indptr, indices, values, pivots = kernels.incomplete_cholesky(
        indptr, indices, A.data, relaxation
    )
    upper = csr_array((values, indices, indptr), shape=A.shape)
    return csr_array(upper.T + eye_array(A.shape[0])), pivots


@pytest.mark.parametrize("name", [name for name in GRAPHS if GRAPHS[name].n_nodes < 1000])
@pytest.mark.parametrize("relaxation", [0.0, 0.9, 1.0])
def test_incomplete_cholesky_equals_textbook_elimination(name, relaxation):
    graph = GRAPHS[name]
    A = system_matrix(graph, 1e4, 100.0)
    L, pivots = incomplete_cholesky(A, relaxation)
    exact_L, exact_pivots = dense_incomplete_cholesky(A.toarray(), relaxation)
    np.testing.assert_allclose(L.toarray(), exact_L, rtol=1e-10, atol=1e-14)
    np.testing.assert_allclose(pivots, exact_pivots, rtol=1e-10)


def test_modified_incomplete_cholesky_keeps_row_sums(graph):
    A = system_matrix(graph, 1e4, 100.0)
    L, pivots = incomplete_cholesky(A, 1.0)
    ones = np.ones(graph.n_nodes)
    np.testing.assert_allclose(L @ (pivots * (L.T @ ones)), A @ ones, rtol=1e-9)


def test_incomplete_cholesky_is_exact_without_fill_in():
    n = 30  # a tridiagonal matrix has none
    A = np.diag(np.full(n, 2.5)) - np.eye(n, k=1) - np.eye(n, k=-1)
    L, pivots = incomplete_cholesky(csr_array(A))
    np.testing.assert_allclose(L.toarray() @ np.diag(pivots) @ L.toarray().T, A, atol=1e-14)


@pytest.mark.parametrize(
    ("A", "message"),
    [
        ([[1.0, 2.0], [2.0, 1.0]], "pivot 1 is -3"),
        ([[0.0, 1.0], [1.0, 1.0]], "pivot 0 is 0"),
        ([[np.nan, 1.0], [1.0, 1.0]], "pivot 0 is nan"),
    ],
)
def test_incomplete_cholesky_breaks_down_clearly(A, message):
    with pytest.raises(RuntimeError, match=message):
        incomplete_cholesky(csr_array(np.array(A)))


def test_shrink_is_the_proximal_map_of_l1():
    X = RNG.normal(size=(40, 3))
    grid = np.linspace(-4, 4, 8001)
    cost = 0.7 * np.abs(grid) + 0.5 * (grid - X[..., None]) ** 2
    np.testing.assert_allclose(shrink(X, 0.7), grid[cost.argmin(axis=-1)], atol=1e-3)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("d", [1, 3, 4, 5, 8, 13, 17])
def test_loop_equals_exact_loop(graph, d, preconditioner):
    F = RNG.normal(size=(graph.n_nodes, d))
    exact = DirectLoop(graph, 1e4, 10.0)
    fast = make_loop(preconditioner, graph)
    for loop in (exact, fast):
        loop.start(F)
    for iterations in (1, 4, 7):  # paused and continued
        a, b = exact.advance(iterations), fast.advance(iterations)
        np.testing.assert_allclose(b.energy, a.energy, rtol=1e-7, atol=1e-9)
        np.testing.assert_allclose(b.fidelity, a.fidelity, rtol=1e-7, atol=1e-9)
        assert relative_error(fast.solution(), exact.solution()) < 1e-8
    assert (b.pcg_iterations >= 1).all() or not graph.n_edges  # then it is exact at once
    assert not b.pcg_capped.any()


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("precision", ["single", "double"])
@pytest.mark.parametrize("name", ["4 neighbours", "8 neighbours", "any", "several domains"])
def test_bytes_depend_on_no_number_of_threads_nor_on_pauses(name, precision, preconditioner):
    graph, d = GRAPHS[name], 15
    F = RNG.normal(size=(graph.n_nodes, d))
    results = set()
    for threads, parts in ((1, [12]), (2, [12]), (3, [5, 7]), (4, [12]), (15, [1, 11])):
        loop = make_loop(preconditioner, graph, rtol=1e-3, precision=precision, threads=threads)
        loop.start(F)
        for iterations in parts:
            loop.advance(iterations)
        results.add(loop.solution().tobytes())
    assert len(results) == 1


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
@pytest.mark.parametrize("precision", ["single", "double"])
def test_all_variants_agree(graph, precision, preconditioner, monkeypatch):
    if kernels.best_variant() == "baseline":
        pytest.skip("this processor has no AVX2: there is one variant only")
    solutions = []
    F = RNG.normal(size=(graph.n_nodes, 11))
    for name in ("baseline", kernels.best_variant()):
        monkeypatch.setenv("PFESEG_KERNELS", name)
        assert variant() == name
        loop = make_loop(preconditioner, graph, rtol=1e-6, precision=precision, threads=1)
        loop.start(F)
        loop.advance(10)
        solutions.append(loop.solution())
    assert len(solutions) == 2
    assert relative_error(*solutions) < 1e-4


def test_unknown_variant_is_refused(monkeypatch):
    monkeypatch.setenv("PFESEG_KERNELS", "avx1024")
    with pytest.raises(InvalidInputError, match="avx1024"):
        PcgLoop(GRAPHS["any"], 1e4, 10.0, rtol=1e-3, precision="single", threads=1)


def raw_loop(A: np.ndarray, weights: list[float]) -> kernels.PcgLoopDouble:
    """Make a loop on any matrix, which PcgLoop would not."""
    A = csr_array(A)
    return kernels.PcgLoopDouble(
        A.indptr, A.indices, A.data, np.array(weights), np.ones(A.shape[0]),
        1e4, 10.0, 0.0, 1e-12, 100, variant(),
    )  # fmt: skip


def test_indefinite_factor_is_reported():
    with pytest.raises(RuntimeError, match="pivot"):
        raw_loop(np.array([[1.0, -2.0], [-2.0, 1.0]]), [1.0])


def test_indefinite_matrix_is_reported_by_pcg():
    # IC(0) keeps positive pivots on a cycle of four nodes although A is indefinite.
    ring = np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1)
    A = 1.9 * np.eye(4) - ring
    assert np.linalg.eigvalsh(A).min() < 0
    loop = raw_loop(A, [1.0] * 4)
    loop.start(np.ones((4, 1)), 1)
    with pytest.raises(RuntimeError, match="not positive definite"):
        loop.advance(20, 1)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_nan_is_reported(preconditioner):
    graph = GRAPHS["4 neighbours"]
    loop = make_loop(preconditioner, graph, precision="single")
    F = np.ones((graph.n_nodes, 9))
    F[5, 7] = np.nan
    loop.start(F)
    with pytest.raises(SolverError, match="NaN or infinity"):
        loop.advance(1)


def test_targets_of_the_wrong_shape_are_refused():
    loop = raw_loop(np.array([[2.0, -1.0], [-1.0, 2.0]]), [1.0])
    for shape, threads in (((3, 1), 1), ((2, 0), 1), ((2, 1), 0)):
        with pytest.raises(ValueError, match=r"shape \(n, d\)|one thread"):
            loop.start(np.ones(shape), threads)


@pytest.mark.parametrize("preconditioner", PRECONDITIONERS)
def test_a_loop_can_be_started_again(preconditioner):
    graph = GRAPHS["any"]
    loop = make_loop(preconditioner, graph, rtol=1e-4, precision="single")
    F = RNG.normal(size=(60, 5))
    results = []
    for target in (F, 2 * F, F):
        loop.start(target)
        loop.advance(4)
        results.append(loop.solution().tobytes())
    assert results[0] == results[2] != results[1]


def test_mismatched_weights_are_refused():
    with pytest.raises(ValueError, match="weights"):
        raw_loop(np.array([[2.0, -1.0], [-1.0, 2.0]]), [1.0, 1.0])


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 24),
    density=st.floats(0, 1),
    exponent=st.integers(0, 28),
    d=st.integers(1, 6),
    preconditioner=st.sampled_from(PRECONDITIONERS),
    seed=st.integers(0, 2**31),
)
def test_random_graphs_solve_exactly(n, density, exponent, d, preconditioner, seed):
    """Disconnected graphs, tiny weights, one node, one column."""
    rng = np.random.default_rng(seed)
    graph = random_graph(n, int(density * n * (n - 1) / 2), rng)
    tiny = 10.0 ** -rng.integers(0, exponent + 1, graph.n_edges)
    graph = Graph.from_edges(n, graph.edges, graph.weights * tiny)
    F = rng.normal(size=(n, d))
    exact = DirectLoop(graph, 1e4, 10.0)
    fast = make_loop(preconditioner, graph, threads=1)
    scale = np.sqrt(graph.degrees)[:, None]
    for loop in (exact, fast):
        loop.start(F)
        loop.advance(6)
    assert relative_error(scale * fast.solution(), scale * exact.solution()) < 1e-6


@pytest.mark.parametrize(("shape", "most"), [((80, 120), 22), ((160, 240), 26), ((320, 480), 29)])
def test_the_factor_of_a_grid_has_few_entries(shape, most):
    graph = build_pixel_graph(np.zeros(shape))
    assert eliminate(graph, np.inf).entries < most * graph.n_nodes


def test_positions_change_the_order_of_elimination_only():
    graph = GRAPHS["several domains"]
    unplaced = Graph.from_edges(graph.n_nodes, graph.edges, graph.weights)
    F = RNG.normal(size=(graph.n_nodes, 5))
    loops = [make_loop("cholesky", g) for g in (graph, unplaced)]
    for loop in loops:
        loop.start(F)
        loop.advance(5)
    assert relative_error(loops[0].solution(), loops[1].solution()) < 1e-9


@pytest.mark.parametrize("name", ["path", "star", "complete", "scattered", "in one place"])
def test_graphs_that_are_hard_to_cut_are_eliminated(name):
    n = 300
    edges = {
        "path": [(i, i + 1) for i in range(n - 1)],
        "star": [(0, i) for i in range(1, n)],
        "complete": [(i, j) for i in range(60) for j in range(i)],
    }.get(name, [(i, (i * 7 + 3) % n) for i in range(0, n, 3)])
    edges = sorted({tuple(sorted(edge)) for edge in edges if edge[0] != edge[1]})
    positions = None
    if name == "scattered":
        positions = RNG.integers(-(2**29), 2**29, (n, 3))
    if name == "in one place":
        positions = np.zeros((n, 2), dtype=int)
    graph = Graph.from_edges(n, edges, RNG.uniform(0.1, 1, len(edges)), positions)
    F = RNG.normal(size=(n, 2))
    loops = [DirectLoop(graph, 1e4, 10.0), make_loop("cholesky", graph)]
    for loop in loops:
        loop.start(F)
        loop.advance(3)
    assert relative_error(loops[1].solution(), loops[0].solution()) < 1e-9


def test_an_elimination_that_is_too_full_says_so():
    graph = GRAPHS["any"]
    assert eliminate(graph, 100).fits
    assert not eliminate(graph, 0.5).fits
    with pytest.raises(ValueError, match="too many entries"):
        CholeskyLoop(graph, eliminate(graph, 0.5), 1e4, 10.0, precision="single", threads=1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
@pytest.mark.parametrize(("n", "d"), [(1, 1), (7, 9), (4097, 8), (5000, 15)])
def test_gram_matrix_by_definition(n, d, dtype):
    X, scale = RNG.normal(size=(n, d)).astype(dtype), RNG.random(n).astype(dtype)
    exact = X.astype(float)
    np.testing.assert_allclose(kernels.gram_matrix(X, None, 1), exact.T @ exact, atol=1e-9)
    exact *= scale[:, None]
    np.testing.assert_allclose(kernels.gram_matrix(X, scale, 1), exact.T @ exact, atol=1e-9)


def test_bytes_of_tall_matrices_depend_on_no_number_of_threads():
    n, d = 60_000, 7  # blocks enough for threads to share
    X, more = (RNG.normal(size=(n, d)).astype(np.float32) for _ in range(2))
    scale, factor = RNG.random(n, dtype=np.float32), RNG.random((d, d), dtype=np.float32)
    results = set()
    for threads in (1, 2, 3):
        rows, target = X.copy(), np.empty_like(X)
        gram = kernels.add_scaled(rows, more, scale, threads)
        np.testing.assert_allclose(rows, X + scale[:, None] * more, atol=1e-6)
        np.testing.assert_array_equal(gram, kernels.gram_matrix(rows, None, threads))
        whole = rows.copy()
        kernels.split_off(rows, factor, target, threads)
        np.testing.assert_allclose(rows, whole - whole @ factor, atol=1e-4)
        np.testing.assert_allclose(target + rows, whole @ factor, atol=1e-4)
        results.add((gram.tobytes(), rows.tobytes(), target.tobytes()))
    assert len(results) == 1


def test_tall_matrices_of_other_shapes_are_refused():
    X = np.zeros((5, 3))
    with pytest.raises(ValueError, match="one scale"):
        kernels.gram_matrix(X, np.ones(4), 1)
    with pytest.raises(ValueError, match="one shape"):
        kernels.add_scaled(X, X[:4].copy(), np.ones(5), 1)
    with pytest.raises(ValueError, match="square"):
        kernels.split_off(X, np.ones((2, 3)), X.copy(), 1)
    with pytest.raises(TypeError):  # a copy would be written to
        kernels.split_off(X.astype(np.float32), np.eye(3), X, 1)


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_energy_of_edges_by_definition(graph, dtype):
    Y = RNG.normal(size=(graph.n_nodes, 6)).astype(dtype)
    exact = np.abs(graph.M @ Y.astype(float)).sum(axis=0)
    np.testing.assert_allclose(
        kernels.edge_energy(graph.edges, graph.weights, Y), exact, rtol=1e-6, atol=1e-12
    )
