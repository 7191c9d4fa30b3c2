from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import same_partition

from pfeseg import (
    Clusters,
    InvalidInputError,
    PreparedImage,
    Settings,
    clean_regions,
    segment,
    segment_prepared,
)
from pfeseg.segmentation.methods import METHODS
from pfeseg.solver import cholesky


def test_the_generated_scene_is_recovered_exactly(samples):
    scene, truth = (iio.imread(samples / f"scene{end}.png") for end in ("", "_labels"))
    result = segment(scene, Settings.preset("paper", n_dims=6, downsample=1))
    assert same_partition(result.labels, truth)  # so covering is 1


def test_flat_colours_are_recovered_exactly():
    truth = np.kron(np.array([[0, 1, 1], [2, 2, 3]]), np.ones((16, 12), int))
    colours = np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200], [220, 220, 40]], np.uint8)
    result = segment(
        colours[truth], Settings.preset("paper", n_dims=9)
    )  # more than there are colours
    assert same_partition(result.labels, truth)


def test_a_flat_image_is_one_region():
    result = segment(np.full((40, 60), 128, np.uint8))
    assert result.n_regions == 1


@pytest.mark.parametrize("shape", [(1, 80), (80, 1), (30, 40), (30, 40, 3)])
def test_odd_shapes(shape):
    image = np.random.default_rng(0).integers(0, 256, shape, dtype=np.uint8)
    result = segment(image, Settings(n_dims=3, downsample=2))
    assert result.labels.shape == shape[:2]
    assert set(np.unique(result.labels)) == set(range(result.n_regions))


def test_stages_and_report(chelsea):
    result = segment(
        chelsea, Settings.preset("paper", n_dims=8, cut=Clusters(5), downsample=6, seed=3)
    )
    assert result.labels.shape == chelsea.shape[:2]
    assert result.small_labels.shape == result.small_image.shape[:2] == (50, 75)
    assert result.Y0.shape == result.embedding.Y.shape == (50 * 75, 8)
    assert result.graph.n_nodes == 50 * 75
    assert result.n_regions == 5
    report = result.report()
    assert report["regions"] == 5
    assert Settings.from_dict(report["settings"]) == result.settings
    assert list(report["timings"]) == [
        "downsample",
        "graph",
        "init",
        "embed",
        "cluster",
        "full_size",
    ]
    assert report["image_size"] == [451, 300]
    assert "stage 2" in report["stop_reason"]


def test_same_bytes_for_1_and_2_threads_and_repeated_runs(chelsea):
    runs = [segment(chelsea, Settings(n_dims=10), threads=threads) for threads in (1, 2, 2)]
    assert len({run.labels.tobytes() for run in runs}) == 1
    assert len({run.embedding.Y.tobytes() for run in runs}) == 1


def test_uint16_equals_uint8(chelsea):
    chosen = Settings(n_dims=5, downsample=10)
    eight, sixteen = segment(chelsea, chosen), segment(chelsea.astype(np.uint16) * 257, chosen)
    assert (eight.labels == sixteen.labels).mean() > 0.99


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (Settings.preset("paper", n_dims=26), "n_dims is 26, more than the 5 x 5 pixels"),
        (Settings.preset("paper", n_dims=5, cut=Clusters(26)), "n_clusters is 26"),
    ],
)
def test_more_than_there_are_pixels(chosen, message):
    with pytest.raises(InvalidInputError, match=message):
        segment(np.random.default_rng(0).random((20, 20)), chosen)


@pytest.mark.parametrize("method", METHODS)
def test_every_method_cuts_a_photograph_and_reports_it(method, chelsea):
    chosen = Settings(method=method, n_dims=6, cut=Clusters("dims"), downsample=8)
    result = segment(chelsea, chosen)
    assert result.labels.shape == chelsea.shape[:2]
    assert 2 <= result.n_regions <= 6
    assert result.coordinates.shape[0] == result.small_image[..., 0].size
    assert (result.coordinates.shape[0] == result.small_labels.size) == (method != "pfe")
    report = result.report()
    assert ("stop_reason" in report) == (method == "pfe")
    assert report["settings"]["method"] == method
    assert ("graph" in report["timings"]) == (method not in ("gmm", "kmeans"))


@pytest.mark.parametrize("method", ["pfe", "gmm", "kmeans", "le", "sc", "wsc", "ncut"])
def test_every_method_recovers_flat_colours(method):
    truth = np.kron(np.array([[0, 1], [2, 3]]), np.ones((12, 12), int))
    colours = np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200], [220, 220, 40]], np.uint8)
    chosen = Settings.preset("paper", method=method, n_dims=4, downsample=1, sigma=0.05)
    assert same_partition(segment(colours[truth], chosen).labels, truth)


@pytest.mark.parametrize("shape", [(1, 1), (1, 2), (2, 1), (2, 2), (2, 3), (1, 7), (3, 3), (1, 9)])
@pytest.mark.parametrize("colours", [1, 256])
def test_tiny_images_have_as_many_dimensions_as_pixels_at_most(shape, colours):
    image = np.random.default_rng(0).integers(0, colours, (*shape, 3), dtype=np.uint8)
    n_pixels = shape[0] * shape[1]
    for chosen in (Settings(), Settings(cut=Clusters(1)), Settings(method="kmeans", refine=False)):
        result = segment(image, chosen)
        assert result.labels.shape == shape
        assert result.n_dims == min(8, n_pixels)
        assert result.report()["dims"] == result.n_dims
        assert result.report().get("dims_lowered_from") == (8 if n_pixels < 8 else None)
        again = segment(image, Settings.from_dict(result.report()["settings"]))
        assert (again.labels == result.labels).all()
    with pytest.raises(InvalidInputError, match=f"n_dims is {n_pixels + 1}, more than the"):
        segment(image, Settings(n_dims=n_pixels + 1))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("shape", [(1, 1), (1, 40), (7, 3)])
def test_every_method_survives_odd_images(method, shape):
    for image in (np.zeros(shape), np.random.default_rng(0).random(shape)):
        for cluster in ("regions", "pixels"):
            n_dims = min(3, image.size)
            settings = Settings(method=method, n_dims=n_dims, cut=Clusters("dims"), cluster=cluster)
            assert segment(image, settings).labels.shape == shape


@pytest.mark.parametrize("cluster", ["regions", "pixels"])
def test_one_prepared_image_gives_the_bytes_of_separate_runs(chelsea, cluster):
    prepared = PreparedImage(chelsea, Settings(downsample=8, cluster=cluster))
    for method in METHODS:
        for d, k in ((9, None), (4, 6), (9, 3)):
            chosen = prepared.settings.changed(method=method, n_dims=d, cut=Clusters(k or "dims"))
            alone = segment(chelsea, chosen)
            shared = segment_prepared(prepared, d, chosen.cut, method)
            assert shared.labels.tobytes() == alone.labels.tobytes()
            assert shared.coordinates.tobytes() == alone.coordinates.tobytes()
            assert shared.settings == chosen


def test_the_systems_are_factorised_once_for_all_dimensions(chelsea, monkeypatch):
    made = []

    class Counted(cholesky.CholeskyLoop):
        def __init__(self, graph, elimination, lam, r, **options):
            made.append((elimination, r))
            super().__init__(graph, elimination, lam, r, **options)

    monkeypatch.setattr("pfeseg.solver.embed.CholeskyLoop", Counted)
    prepared = PreparedImage(chelsea, Settings.preset("paper", downsample=10))
    for d in (3, 5, 4):
        segment_prepared(prepared, d)
    assert [r for _, r in made] == [100.0, 10.0]
    assert made[0][0] is made[1][0]  # in one order of elimination


def test_small_regions_are_absorbed_on_demand(chelsea):
    plain = segment(chelsea, Settings.preset("paper", n_dims=6))
    tidy = segment(chelsea, Settings.preset("paper", n_dims=6, min_region=0.01))
    assert (tidy.small_labels == plain.small_labels).all()
    assert np.bincount(tidy.labels.ravel()).min() >= 0.01 * tidy.labels.size
    assert (tidy.labels == clean_regions(plain.labels, chelsea, 0.01 * tidy.labels.size)).all()
