"""The library as one first tries it: keywords, single values, what results look like."""

from __future__ import annotations

import base64
import io
import re

import imageio.v3 as iio
import numpy as np
import pytest

import pfeseg
from pfeseg import Clusters, InvalidInputError, Level, Regions, Settings, score, segment, sweep

FAST = Settings(max_size=48)


@pytest.fixture(scope="module")
def image(samples) -> np.ndarray:
    return iio.imread(samples / "scene.png")[::3, ::3]


@pytest.mark.parametrize(
    ("keywords", "settings"),
    [
        ({"n_regions": 5}, {"cut": Regions(5)}),
        ({"level": 0.3}, {"cut": Level(0.3)}),
        ({"n_clusters": 4, "seed": 3}, {"cut": Clusters(4), "seed": 3}),
        ({"n_dims": 4}, {"n_dims": 4}),
        ({}, {}),
    ],
)
def test_keywords_are_settings(image, keywords, settings):
    by_keywords = segment(image, FAST, **keywords)
    by_settings = segment(image, FAST.changed(**settings))
    assert by_keywords.labels.tobytes() == by_settings.labels.tobytes()
    assert by_keywords.settings == by_settings.settings


def test_a_preset_is_named(image):
    by_name = segment(image, preset="paper", n_dims=4)
    by_settings = segment(image, Settings.preset("paper", n_dims=4))
    assert by_name.labels.tobytes() == by_settings.labels.tobytes()


@pytest.mark.parametrize(
    ("keywords", "reason"),
    [
        ({"n_regions": 3, "level": 0.5}, "one way only"),
        ({"preset": "paper", "settings": FAST}, "both given"),
        ({"preset": "nonsense"}, "nonsense"),
        ({"n_regions": 2.5}, "whole number"),
        ({"n_dims": "many"}, "n_dims"),
        ({"settings": {"n_dims": 3}}, "must be Settings"),
    ],
)
def test_wrong_keywords_get_our_errors(image, keywords, reason):
    with pytest.raises(InvalidInputError, match=reason):
        segment(image, **keywords)


def test_a_sweep_takes_dimensions(image):
    by_dims = sweep(image, dims=range(3, 5), n_clusters=[3, 4], settings=FAST)
    by_pairs = sweep(image, [(3, 3), (3, 4), (4, 3), (4, 4)], settings=FAST)
    assert by_dims.recommended == by_pairs.recommended
    for one, other in zip(by_dims.trials, by_pairs.trials, strict=True):
        assert one.small_labels.tobytes() == other.small_labels.tobytes()
    usual = sweep(image, dims=[3], settings=FAST)
    assert {trial.n_clusters for trial in usual.trials} == set(range(3, 9))
    with pytest.raises(InvalidInputError, match="not both"):
        sweep(image, [(3, 3)], dims=[3])


def test_one_ground_truth_is_a_list_of_one():
    rng = np.random.default_rng(0)
    labels, truth, other = rng.integers(0, 4, (3, 9, 7))
    assert score(labels, truth) == score(labels, [truth])
    assert score(labels, truth.tolist()) == score(labels, [truth])
    assert score(labels, np.stack([truth, other])) == score(labels, [truth, other])
    for wrong in ([], np.zeros((0, 9, 7), int), truth[:4], [truth[:4]], truth[0]):
        with pytest.raises(InvalidInputError):
            score(labels, wrong)


def test_results_have_one_line_and_show_themselves_in_a_notebook(image):
    result = segment(image, FAST)
    height, width = image.shape[:2]
    assert repr(result).startswith(f"<Segmentation of {width} x {height} pixels: ")
    assert f"{result.n_regions} regions, level 0.5, d = 8, " in repr(result)
    for part in (result, result.embedding, result.hierarchy):
        assert "\n" not in repr(part)
        assert len(repr(part)) < 150
    shown = result._repr_html_()
    content = base64.b64decode(re.search(r"base64,([^\"]+)", shown)[1])
    picture = iio.imread(io.BytesIO(content))
    assert picture.shape == image.shape
    assert np.abs(picture.astype(int) - pfeseg.draw_overlay(image, result.labels)).mean() < 10
    assert f"{result.n_regions} regions" in shown


def test_plots_draw_into_a_figure(image):
    from matplotlib.figure import Figure

    result = segment(image, FAST)
    panels = Figure().subplots(1, 3)
    assert result.plot(panels[0]) is panels[0]
    np.testing.assert_array_equal(
        panels[0].images[0].get_array(), pfeseg.draw_overlay(image, result.labels)
    )
    (line,) = result.embedding.plot(panels[1]).lines
    assert line.get_ydata().tolist() == [r.objective for r in result.embedding.history]
    (steps,) = result.hierarchy.plot(panels[2]).lines
    assert steps.get_ydata()[[0, -1]].tolist() == [result.hierarchy.n_regions, 1]
