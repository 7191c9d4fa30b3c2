from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest

from pfeseg import InvalidInputError, Settings, SolverSettings, segment


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    pairs = set(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


def test_the_generated_scene_is_recovered_exactly(samples):
    scene, truth = (iio.imread(samples / f"scene{end}.png") for end in ("", "_labels"))
    result = segment(scene, Settings(n_dims=6, downsample=1))
    assert same_partition(result.labels, truth)  # so covering is 1


def test_flat_colours_are_recovered_exactly():
    truth = np.kron(np.array([[0, 1, 1], [2, 2, 3]]), np.ones((16, 12), int))
    colours = np.array([[200, 30, 30], [30, 200, 30], [30, 30, 200], [220, 220, 40]], np.uint8)
    result = segment(colours[truth], Settings(n_dims=9))  # more than there are colours
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
    result = segment(chelsea, Settings(n_dims=8, n_segments=5, downsample=6, seed=3))
    assert result.labels.shape == chelsea.shape[:2]
    assert result.small_labels.shape == result.small_image.shape[:2] == (50, 75)
    assert result.Y0.shape == result.embedding.Y.shape == (50 * 75, 8)
    assert result.graph.n_nodes == 50 * 75
    assert result.n_regions == 5
    report = result.report()
    assert report["regions"] == 5
    assert Settings.from_dict(report["settings"]) == result.settings
    assert list(report["timings"]) == ["downsample", "graph", "init", "embed", "cluster"]
    assert report["image_size"] == [451, 300]
    assert "stage 2" in report["stop_reason"]


def test_same_bytes_for_1_and_2_threads_and_repeated_runs(chelsea):
    runs = [
        segment(chelsea, Settings(n_dims=10, solver=SolverSettings(threads=threads)))
        for threads in (1, 2, 2)
    ]
    assert len({run.labels.tobytes() for run in runs}) == 1
    assert len({run.embedding.Y.tobytes() for run in runs}) == 1


def test_uint16_equals_uint8(chelsea):
    chosen = Settings(n_dims=5, downsample=10)
    eight, sixteen = segment(chelsea, chosen), segment(chelsea.astype(np.uint16) * 257, chosen)
    assert (eight.labels == sixteen.labels).mean() > 0.99


@pytest.mark.parametrize(
    ("chosen", "message"),
    [
        (Settings(n_dims=26), "dimension d is 26, more than the 5 x 5 pixels"),
        (Settings(n_dims=5, n_segments=26), "number of segments k is 26"),
    ],
)
def test_more_than_there_are_pixels(chosen, message):
    with pytest.raises(InvalidInputError, match=message):
        segment(np.random.default_rng(0).random((20, 20)), chosen)
