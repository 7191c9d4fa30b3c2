from __future__ import annotations

import dataclasses

import numpy as np
import pytest

from pfeseg import InvalidInputError, Settings, SolverSettings


def test_json_round_trip():
    changed = Settings(
        n_dims=9, n_segments=4, sigma=0.1, neighbours=2.5, solver=SolverSettings(lam=5.0, threads=2)
    )
    assert Settings.from_json(changed.to_json()) == changed
    assert Settings.from_json(Settings().to_json()) == Settings()
    numpy_made = Settings(
        n_dims=np.int64(5), sigma=np.float32(0.5), solver=SolverSettings(r=np.int8(3))
    )
    assert Settings.from_json(numpy_made.to_json()) == numpy_made
    assert type(Settings(n_dims=3.0).n_dims) is int
    assert isinstance(Settings.from_json(Settings(neighbours=4.0).to_json()).neighbours, float)


def test_presets():
    assert Settings.preset("default") == Settings()
    paper = Settings.preset("paper")
    assert paper.solver == SolverSettings()
    assert (paper.n_dims, paper.n_segments, paper.texture, paper.refine) == (15, "dims", 0, False)
    assert (paper.solver.lam, paper.solver.r, paper.solver.r_relaxed) == (1e4, 100, 10)
    caps = paper.solver.soc_iterations, paper.solver.split_iterations
    assert (*caps, paper.solver.relaxed_iterations) == (10, 5, 100)
    assert (paper.downsample, paper.neighbours, paper.sigma) == (4, 4, "rms")
    assert Settings.preset("paper", n_dims=7).n_dims == 7
    clusters = Settings.preset("clusters")
    assert clusters.by_kmeans
    assert clusters.solver.r_relaxed < Settings().solver.r_relaxed  # flatter


def test_changed_reaches_the_solver():
    changed = Settings().changed(solver=SolverSettings(r=7), lam=5.0, n_dims=3)
    assert (changed.solver.r, changed.solver.lam, changed.n_dims) == (7, 5, 3)


def test_a_new_way_to_cut_takes_the_place_of_the_old_one():
    cut = Settings(n_segments=4).changed(n_regions=3)
    assert (cut.n_segments, cut.n_regions, cut.level) == (None, 3, None)
    assert cut.changed(n_dims=5).n_regions == 3
    assert Settings.preset("paper", level=0.2).n_segments is None
    assert not cut.by_kmeans
    assert cut.changed(n_segments=4).by_kmeans


def test_settings_left_out_keep_the_defaults():
    assert Settings.from_dict({"solver": {"threads": 2}}) == Settings().changed(threads=2)


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Settings(n_dims=0), "n_dims must be a whole number from 1"),
        (lambda: Settings(n_segments=0), "n_segments must be a whole number from 1"),
        (lambda: Settings(downsample=0.5), "downsample must be at least 1"),
        (lambda: Settings(sigma=-1), "sigma"),
        (lambda: Settings(sigma="-1rms"), "sigma must be"),
        (lambda: Settings(sigma="rms2"), "sigma must be"),
        (lambda: Settings(level=1.5), "level must lie between 0 and 1"),
        (lambda: Settings(n_regions=0), "n_regions must be a whole number"),
        (lambda: Settings(n_regions=3, level=0.5), "n_regions and level are given"),
        (lambda: Settings(method="sc", level=0.5), "needs the hierarchy of the method pfe"),
        (lambda: Settings(refine=1), "refine must be true or false"),
        (lambda: Settings(texture=-1), "texture"),
        (lambda: Settings(neighbours=0.5), "neighbours"),
        (lambda: Settings(neighbours="4"), "neighbours"),
        (lambda: Settings(features="hsv"), "features"),
        (lambda: Settings(assignment="firm"), "assignment"),
        (lambda: Settings(n_dims=float("nan")), "n_dims"),
        (lambda: Settings(n_dims=float("inf")), "n_dims"),
        (lambda: Settings(n_dims=None), "n_dims"),
        (lambda: Settings(seed=1.5), "seed"),
        (lambda: Settings(solver=3), "solver"),
        (lambda: Settings.from_json("[1]"), "names and values"),
        (lambda: Settings(seed=-1), "seed"),
        (lambda: Settings.preset("best"), "the presets are: default, clusters, paper"),
        (lambda: Settings.from_dict({"dims": 3}), "unknown settings: dims"),
        (lambda: Settings.from_dict({"solver": {"mu": 3}}), "unknown settings: mu"),
    ],
)
def test_wrong_settings_are_rejected(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
