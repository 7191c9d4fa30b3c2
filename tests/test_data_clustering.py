"""Clustering of data: identities, toy sets, graphs, and what is hard about input."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pytest
from helpers import same_partition
from scipy.sparse import csr_array
from sklearn.base import clone
from sklearn.datasets import load_digits, make_blobs, make_circles, make_moons
from sklearn.metrics import adjusted_rand_score
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import kneighbors_graph
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from pfeseg import (
    Graph,
    InvalidInputError,
    PFEClustering,
    PiecewiseFlatEmbedding,
    SolverSettings,
    SolverWarning,
)
from pfeseg.data.choice import NEGLIGIBLE_CUT, uneven_cut
from pfeseg.data.graph import DataGraph, neighbour_graphs, pieces
from pfeseg.data.neighbours import without_self
from pfeseg.data.tree import gini, tree_labels

BLOCKS = csr_array(np.kron(np.eye(4), np.ones((6, 6))))
"""Affinities of four groups of six that have nothing to do with each other."""


@pytest.fixture(scope="module")
def two_groups() -> np.ndarray:
    X = np.random.default_rng(0).standard_normal((60, 2))
    X[30:] += 8
    return X


TRUTH = np.repeat([0, 1], 30)

TOYS = {
    "moons": make_moons(300, noise=0.05, random_state=0),
    "circles": make_circles(300, factor=0.5, noise=0.05, random_state=0),
    "blobs": make_blobs(300, random_state=8),
}


@pytest.mark.parametrize("name", TOYS)
def test_toy_sets_are_recovered_whatever_the_seed(name):
    X, y = TOYS[name]
    for seed in range(3):
        labels = PFEClustering(len(set(y)), random_state=seed).fit_predict(X)
        assert same_partition(labels, y)
    assert same_partition(PFEClustering(random_state=0).fit_predict(X), y)  # the number too


def test_clusters_follow_order_scale_and_place_of_the_points():
    X, _ = make_blobs(200, centers=4, cluster_std=1.5, random_state=2)
    labels = PFEClustering(4, random_state=0).fit_predict(X)
    order = np.random.default_rng(0).permutation(200)
    shuffled = PFEClustering(4, random_state=0).fit_predict(X[order])
    assert adjusted_rand_score(labels[order], shuffled) > 0.95
    moved = PFEClustering(4, random_state=0).fit_predict(1000 * X + 5)
    assert same_partition(labels, moved)


def test_threads_do_not_change_a_byte():
    X, _ = TOYS["moons"]
    one = PFEClustering(3, random_state=0, n_jobs=1).fit(X)
    two = PFEClustering(3, random_state=0, n_jobs=2).fit(X)
    np.testing.assert_array_equal(one.embedding_, two.embedding_)
    np.testing.assert_array_equal(one.labels_, two.labels_)


def test_what_a_fit_tells(two_groups):
    fitted = PFEClustering(2, random_state=0).fit(two_groups.astype(np.float32))
    W = fitted.affinity_matrix_
    assert fitted.embedding_.shape == (60, 2)
    assert fitted.embedding_.dtype == np.float32
    assert abs(W - W.T).max() == 0
    assert fitted.n_iter_ > 0
    assert fitted.n_clusters_ == 2
    i, j = np.triu(W.toarray()).nonzero()
    steps = np.abs(fitted.embedding_[i] - fitted.embedding_[j]) * W.toarray()[i, j][:, None]
    assert fitted.energy_ == pytest.approx(steps.sum(), rel=1e-4)


@pytest.mark.parametrize("init", ["spectral", "tree", "kmeans", "gmm", "labels", "array"])
def test_every_start(init, two_groups):
    start = {"labels": TRUTH, "array": np.eye(2)[TRUTH]}.get(init, init)
    labels = PFEClustering(2, init=start, random_state=0).fit_predict(two_groups)
    assert same_partition(labels, TRUTH)


def test_every_affinity_and_new_points(two_groups):
    distances = kneighbors_graph(two_groups, 8, mode="distance")
    affinities = kneighbors_graph(two_groups, 8)
    inputs = {
        "nearest_neighbors": two_groups,
        "rbf": two_groups,
        "precomputed": affinities,
        "precomputed_nearest_neighbors": distances,
    }
    for affinity, X in inputs.items():
        fitted = PFEClustering(2, affinity=affinity, random_state=0).fit(X)
        assert same_partition(fitted.labels_, TRUTH), affinity
        np.testing.assert_array_equal(fitted.predict(X), fitted.labels_)
    gamma = PFEClustering(2, gamma=0.5, random_state=0).fit_predict(two_groups)
    sparse = PFEClustering(2, random_state=0).fit_predict(csr_array(two_groups))
    assert same_partition(gamma, TRUTH)
    assert same_partition(sparse, TRUTH)


def test_pieces_of_a_graph_are_never_joined():
    four = np.repeat(range(4), 6)
    with pytest.warns(SolverWarning, match="falls into 4 pieces.*raise n_clusters"):
        labels = PFEClustering(2, affinity="precomputed").fit_predict(BLOCKS)
    assert same_partition(labels, four)
    assert same_partition(PFEClustering(4, affinity="precomputed").fit_predict(BLOCKS), four)
    assert same_partition(PFEClustering(affinity="precomputed").fit_predict(BLOCKS), four)
    six = PFEClustering(6, affinity="precomputed", random_state=0).fit_predict(BLOCKS)
    assert len(np.unique(six)) == 6
    assert all(len(set(four[six == label])) == 1 for label in range(6))


def test_one_cluster_and_as_many_as_points(two_groups):
    assert not PFEClustering(1).fit_predict(two_groups).any()
    each = PFEClustering(60, random_state=0).fit_predict(two_groups)
    assert len(np.unique(each)) == 60
    assert not PFEClustering().fit_predict(two_groups[:1]).any()


def test_points_that_coincide_and_columns_that_say_nothing(two_groups):
    copies = np.repeat(two_groups[[0, 1, 40]], 20, axis=0)
    labels = PFEClustering(3, random_state=0).fit_predict(copies)
    assert same_partition(labels, np.repeat(range(3), 20))
    with pytest.warns(SolverWarning, match="found 1 of the 2 clusters asked for"):
        assert not PFEClustering(2, init="kmeans").fit_predict(np.ones((20, 3))).any()
    padded = np.c_[two_groups, np.full(60, 5.0)]
    assert same_partition(PFEClustering(2, random_state=0).fit_predict(padded), TRUTH)


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"n_clusters": 0}, 'n_clusters must be "auto" or a whole number from 1; got 0'),
        ({"n_clusters": 61}, "at most the number of points.*n_clusters=61 for n_samples=60"),
        ({"affinity": "cosine"}, "affinity must be one of nearest_neighbors, .*'cosine'"),
        ({"affinity": "precomputed"}, "takes a square matrix.*\\(60, 2\\)"),
        ({"n_neighbors": 0}, 'n_neighbors must be "auto" or a whole number from 1; got 0'),
        ({"gamma": -1.0}, "gamma must be a positive number or None; got -1.0"),
        ({"gamma": 1e9}, "all affinities vanish.*lower gamma"),
        ({"init": "random"}, "init must be auto, spectral, .*'random'"),
        ({"init": [1, 2]}, "init must hold .* for each of the 60 points"),
    ],
)
def test_errors_say_what_to_change(settings, message, two_groups):
    with pytest.raises(InvalidInputError, match=message):
        PFEClustering(**{"n_clusters": 2, **settings}).fit(two_groups)


def test_numbers_that_cannot_be_compared_are_refused(two_groups):
    with pytest.raises(ValueError, match="contains NaN"):
        PFEClustering(2).fit(np.where(two_groups > 9, np.nan, two_groups))
    with pytest.raises(InvalidInputError, match="scale the features"):
        PFEClustering(2).fit(two_groups * 1e200)
    with pytest.raises(InvalidInputError, match=r"must not be negative.*precomputed_nearest"):
        PFEClustering(2, affinity="precomputed").fit(-BLOCKS)
    with pytest.raises(InvalidInputError, match=r'needs points.*init="spectral"'):
        PFEClustering(4, affinity="precomputed", init="gmm").fit(BLOCKS)
    with pytest.raises(InvalidInputError, match=r"n_components must be .* n_components=0"):
        PiecewiseFlatEmbedding(0).fit(two_groups)


def test_estimators_work_in_scikit_learns_machinery(two_groups):
    pandas = pytest.importorskip("pandas")
    frame = pandas.DataFrame(two_groups, columns=["x", "y"])
    pipe = make_pipeline(StandardScaler(), PFEClustering(2, random_state=0)).fit(frame)
    assert same_partition(pipe.predict(frame), TRUTH)
    embedder = PiecewiseFlatEmbedding(2, random_state=0, solver=SolverSettings(r=5))
    embedded = clone(embedder).set_output(transform="pandas").fit_transform(frame)
    assert list(embedded.columns) == ["piecewiseflatembedding0", "piecewiseflatembedding1"]
    search = GridSearchCV(
        PFEClustering(random_state=0), {"n_clusters": [2, 5]}, scoring="adjusted_rand_score"
    )
    assert search.fit(frame, TRUTH).best_params_ == {"n_clusters": 2}


def test_new_points_are_embedded_among_their_neighbours(two_groups):
    embedder = PiecewiseFlatEmbedding(2, random_state=0).fit(two_groups)
    np.testing.assert_allclose(embedder.transform(two_groups), embedder.embedding_, atol=1e-6)
    low, high = embedder.embedding_.min(axis=0), embedder.embedding_.max(axis=0)
    new = embedder.transform(two_groups[:5] + 0.1)
    assert ((new >= low) & (new <= high)).all()


def test_the_graph_of_neighbours_is_in_one_piece(two_groups):
    X = np.concatenate([two_groups, two_groups[:4] + 100])
    for data in neighbour_graphs(X, (3, 7)):
        assert pieces(data.graph).max() == 0
        i, j = data.graph.edges.T
        np.testing.assert_allclose(data.lengths, np.linalg.norm(X[i] - X[j], axis=1), rtol=1e-6)
        assert data.graph.weights.max() <= 1


def test_the_tree_cuts_its_longest_edges_unless_that_is_uneven():
    places = np.array([0, 1, 2, 10, 11, 12, 13.0])
    edges = np.stack([np.arange(6), np.arange(1, 7)], axis=1)
    data = DataGraph(Graph.from_edges(7, edges, np.full(6, 0.5)), np.diff(places))
    assert same_partition(tree_labels(data, 2), np.repeat([0, 1], [3, 4]))
    assert gini(np.bincount([5, 5, 5]), 3) == 0
    sizes = np.array([1, 1, 2, 6])
    apart = np.abs(sizes[:, None] - sizes).sum() / 2
    assert gini(np.bincount(sizes), 4) == pytest.approx(apart / (3 * sizes.sum()))


def test_the_uneven_cut_is_what_it_says():
    graph = Graph.from_edges(4, [[0, 1], [2, 3], [1, 2]], [1, 1, 0.5])
    value = uneven_cut([graph], np.array([0, 0, 1, 1]))
    assert value == pytest.approx(np.log(0.5 / 2.5 + NEGLIGIBLE_CUT) - 2 * np.log(2))


def test_a_row_is_no_neighbour_of_its_own_wherever_the_search_puts_it():
    columns = np.array([[0, 1, 2], [2, 1, 0], [0, 1, 3]])  # the last row was not found itself
    distances = np.array([[0, 0.1, 0.2], [0, 0, 0.3], [0.1, 0.4, 0.5]])
    near, others = without_self(distances, columns)
    assert others.tolist() == [[1, 2], [2, 0], [0, 1]]
    assert near.tolist() == [[0.1, 0.2], [0, 0.3], [0.1, 0.4]]


def test_digits():
    X, y = load_digits(return_X_y=True)
    assert adjusted_rand_score(y, PFEClustering(10, random_state=0).fit_predict(X)) > 0.8


@pytest.mark.skipif("CLUSTERING_ROOT" not in os.environ, reason="CLUSTERING_ROOT is not set")
@pytest.mark.parametrize("name", ["fcps/atom", "fcps/target", "graves/dense", "wut/x1"])
def test_sets_of_the_benchmark_suite(name):
    path = Path(os.environ["CLUSTERING_ROOT"]) / name
    X, y = np.loadtxt(f"{path}.data.gz"), np.loadtxt(f"{path}.labels0.gz", dtype=int)
    labels = PFEClustering(int(y.max()), random_state=0).fit_predict(X)
    assert adjusted_rand_score(y, labels) > 0.99
