"""Clusters of regions: how many, of what, and the same by every way to them."""

from __future__ import annotations

import json
import math

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import run, same_partition

from pfeseg import (
    Clusters,
    Embedding,
    Hierarchy,
    InvalidInputError,
    Regions,
    Segmentation,
    Settings,
    build_hierarchy,
    cluster_regions,
    refine_labels,
    segment,
)
from pfeseg.files.labels import read_labels
from pfeseg.regions.clusters import CLUSTER_WEIGHTS, REGIONS_PER_CLUSTER, group_regions
from pfeseg.regions.merging import MergedImage


def discs(*, large: bool = False) -> tuple[np.ndarray, np.ndarray]:
    """Draw two equal discs far apart on a background, noisy; returns which pixels they are."""
    y, x = np.indices((120, 180))
    inside = np.zeros((120, 180), bool)
    for cy, cx in ((40, 40), (80, 135)):
        inside |= (y - cy) ** 2 + (x - cx) ** 2 < 22**2
    if large:
        inside = np.kron(inside, np.ones((6, 6), bool))
    colours = np.where(inside[..., None], (220, 180, 40), (40, 90, 160))
    noise = np.random.default_rng(0).normal(0, 4, colours.shape)
    return np.clip(colours + noise, 0, 255).astype(np.uint8), inside


def merged_by_hand() -> MergedImage:
    """Make six regions in a row, of three kinds of looks, that merge from left to right."""
    kinds = np.array([0, 0, 1, 0, 2, 1])
    areas = np.array([12.0, 10.0, 8.0, 9.0, 11.0, 10.0])
    base = np.repeat(np.arange(6, dtype=np.int32), areas.astype(int))[None]
    tree = Hierarchy(base, np.array([[0, k] for k in range(1, 6)], np.int32), np.arange(5) / 5)
    rng = np.random.default_rng(0)
    looks = {"embedding": np.eye(3), "materials": np.eye(3), "textons": np.full((3, 2), 0.5)}
    sums = {
        name: (rows[kinds] + 0.01 * rng.random((6, rows.shape[1]))) * areas[:, None]
        for name, rows in looks.items()
    }
    return MergedImage(tree, areas, sums)


def result_of(chelsea, **changes) -> Segmentation:
    return segment(chelsea, Settings(**{"n_dims": 6, **changes}))


@pytest.mark.parametrize("k", [1, 2, 3, 8, 15, 40])
def test_exactly_k_clusters_come_out(chelsea, k):
    result = result_of(chelsea, cut=Clusters(k))
    assert set(np.unique(result.labels)) == set(range(k))
    assert result.n_clusters == k
    assert result.level is None
    report = result.report()
    assert (report["segments"], report["regions"], report["level"]) == (k, k, None)
    assert list(report["timings"])[-3:] == ["hierarchy", "cluster", "full_size"]
    assert result.hierarchy is None


@pytest.mark.parametrize("large", [False, True])
def test_a_cluster_may_lie_in_two_places(large):
    """In a small image, whose hierarchy is larger than itself, and in a large one."""
    image, inside = discs(large=large)
    labels = segment(image, Settings(cut=Clusters(2))).labels
    assert set(np.unique(labels)) == {0, 1}
    assert ((labels == 1) == inside).mean() > 0.99
    three = segment(image, Settings(cut=Clusters(3))).labels
    assert set(np.unique(three)) == {0, 1, 2}  # where there are three regions, they are apart


def test_clusters_are_unions_of_regions_of_the_hierarchy(chelsea):
    k = 6
    clusters = result_of(chelsea, cut=Clusters(k))
    n_regions = math.ceil(REGIONS_PER_CLUSTER * k)
    regions = result_of(chelsea, cut=Regions(n_regions)).labels
    pairs = set(zip(regions.ravel().tolist(), clusters.labels.ravel().tolist(), strict=True))
    assert len(pairs) == n_regions


def test_k_means_groups_regions_by_their_looks(monkeypatch):
    monkeypatch.setattr("pfeseg.regions.clusters.REGIONS_PER_CLUSTER", 1.5)
    merged = merged_by_hand()
    labels = group_regions(merged, 3)
    assert labels.shape == merged.hierarchy.base.shape
    assert labels[0, [0, 12, 22, 30, 39, 50]].tolist() == [0, 0, 1, 0, 2, 1]
    assert group_regions(merged, 1).max() == 0
    assert group_regions(merged, 6)[0, [0, 12, 22, 30, 39, 50]].tolist() == [*range(6)]


def test_each_feature_counts():
    merged = merged_by_hand()
    for name in CLUSTER_WEIGHTS:
        alike = {other: np.ones((6, 2)) * merged.areas[:, None] for other in CLUSTER_WEIGHTS} | {
            name: np.eye(2)[[0, 0, 0, 0, 1, 0]] * merged.areas[:, None]
        }
        labels = group_regions(MergedImage(merged.hierarchy, merged.areas, alike), 2)
        assert labels[0, 30] == labels[0, 50] != labels[0, 40]


def test_large_regions_decide():
    """A small region has a cluster of its own only where the large ones look alike."""
    base = np.repeat(np.arange(3, dtype=np.int32), [100, 100, 1])[None]
    tree = Hierarchy(base, np.array([[0, 1], [0, 2]], np.int32), np.array([0.1, 0.2]))
    areas = np.array([100.0, 100.0, 1.0])
    for places, expected in (((0.0, 1.0, 5.0), [0, 1, 1]), ((0.0, 0.001, 5.0), [0, 0, 1])):
        one = np.ones((3, 1)) * areas[:, None]
        means = np.array(places)[:, None] * areas[:, None]
        sums = {"embedding": means, "materials": one, "textons": one}
        labels = group_regions(MergedImage(tree, areas, sums), 2)
        assert labels[0, [0, 100, 200]].tolist() == expected


def test_equal_regions_still_make_k_clusters():
    base = np.repeat(np.arange(8, dtype=np.int32), 5)[None]
    merges = np.array([[0, k] for k in range(1, 8)], np.int32)
    sums = {name: np.ones((8, 2)) for name in CLUSTER_WEIGHTS}
    merged = MergedImage(Hierarchy(base, merges, np.arange(7) / 7), np.full(8, 5.0), sums)
    for k in range(1, 9):
        assert set(np.unique(group_regions(merged, k))) == set(range(k))


def test_more_clusters_than_regions_are_all_regions():
    _, inside = discs()
    clean = np.where(inside, 200, 50).astype(np.uint8)
    result = segment(clean, Settings(n_dims=2, cut=Clusters(300)), hierarchy=True)
    assert 3 <= result.n_regions < 300
    assert same_partition(result.labels, result.hierarchy.with_regions(300))


@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (30, 1), (7, 3), (40, 60)])
def test_flat_and_tiny_images(shape):
    for k in (1, 3):
        if k <= math.prod(shape):
            chosen = Settings(n_dims=min(2, math.prod(shape)), cut=Clusters(k))
            flat = segment(np.full(shape, 0.5), chosen)
            assert flat.labels.shape == shape
            assert flat.n_regions == 1
            noisy = segment(np.random.default_rng(0).random(shape), chosen, hierarchy=True)
            assert noisy.n_regions == min(k, len(noisy.hierarchy.merges) + 1)


def test_the_hierarchy_beside_clusters_is_the_default_one(chelsea):
    default = result_of(chelsea)
    both = segment(chelsea, Settings(n_dims=6, cut=Clusters(5)), hierarchy=True)
    assert both.hierarchy.base.tobytes() == default.hierarchy.base.tobytes()
    assert both.hierarchy.levels.tobytes() == default.hierarchy.levels.tobytes()
    assert (both.labels == result_of(chelsea, cut=Clusters(5)).labels).all()


def test_the_seed_decides_and_threads_do_not(chelsea):
    chosen = Settings(cut=Clusters(8), seed=3)
    runs = [segment(chelsea, chosen, threads=threads).labels for threads in (1, 2, 2)]
    assert len({labels.tobytes() for labels in runs}) == 1
    assert segment(chelsea, chosen.changed(seed=4)).labels.tobytes() != runs[0].tobytes()


def test_clusters_are_cleaned_and_refined_as_pixels_are(chelsea):
    large = np.kron(chelsea, np.ones((3, 3, 1), np.uint8))  # 1353 pixels, merged at 480
    plain = result_of(large, cut=Clusters(5))
    assert max(plain.small_labels.shape) == 480
    assert (plain.labels == refine_labels(plain.small_labels, large)).all()
    tidy = result_of(large, cut=Clusters(5), min_region=0.01)
    assert np.bincount(tidy.labels.ravel()).min() >= 0.01 * tidy.labels.size


def stages_of(result: Segmentation) -> tuple[np.ndarray, np.ndarray, tuple[int, int]]:
    assert isinstance(result.embedding, Embedding)
    height, width = result.small_image.shape[:2]
    return result.embedding.Y, result.graph.degrees, (height, width)


@pytest.mark.parametrize("name", ["scene.png", "rocket.jpg"])
def test_the_stage_function_gives_the_same_labels(samples, name):
    image = iio.imread(samples / name)
    for refine in (True, False):
        result = segment(image, Settings(n_dims=5, cut=Clusters(7), seed=2, refine=refine))
        labels = cluster_regions(image, *stages_of(result), 7, seed=2, refine=refine)
        assert labels.tobytes() == result.labels.tobytes()


def test_wrong_arguments_are_refused(chelsea):
    Y, degrees, shape = stages_of(result_of(chelsea, cut=Clusters(2)))
    with pytest.raises(
        InvalidInputError, match="n_clusters must be a whole number of at least 1, got 0"
    ):
        cluster_regions(chelsea, Y, degrees, shape, 0)
    for make in (lambda *a: cluster_regions(*a, 3), build_hierarchy):
        with pytest.raises(InvalidInputError, match="one for each pixel"):
            make(chelsea, Y[1:], degrees, shape)
        with pytest.raises(InvalidInputError, match="finite"):
            make(chelsea, np.full_like(Y, np.nan), degrees, shape)


def test_the_paper_clusters_pixels(chelsea):
    paper = segment(chelsea, Settings.preset("paper", n_dims=6))
    assert paper.small_labels.shape == paper.small_image.shape[:2]
    assert "hierarchy" not in paper.timings


def test_a_report_of_an_earlier_version_gives_the_labels_it_gave(samples, tmp_path):
    image = samples / "scene.png"
    args = ("segment", image, "-d", 5, "-k", 4, "-o")
    assert run(*args, tmp_path / "old", "--cluster", "pixels").exit_code == 0
    assert run(*args, tmp_path / "new").exit_code == 0
    old = json.loads((tmp_path / "old" / "scene.json").read_text())
    del old["settings"]["cluster"]
    (tmp_path / "report.json").write_text(json.dumps(old))
    again = run("segment", image, "--config", tmp_path / "report.json", "-o", tmp_path / "again")
    assert again.exit_code == 0, again.stderr
    labels = {name: read_labels(tmp_path / name / "scene_labels.png")
              for name in ("old", "new", "again")}  # fmt: skip
    assert (labels["again"] == labels["old"]).all()
    assert (labels["new"] != labels["old"]).any()
