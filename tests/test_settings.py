from __future__ import annotations

import dataclasses
import subprocess
import sys

import numpy as np
import pytest

from pfeseg import Clusters, InvalidInputError, Level, Regions, Settings, SolverSettings
from pfeseg.segmentation.cuts import AUTOMATIC, DEFAULT_LEVEL, make_cut


def test_json_round_trip():
    changed = Settings(
        n_dims=9, cut=Clusters(4), sigma=0.1, neighbours=2.5, solver=SolverSettings(lam=5.0)
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
    assert (paper.n_dims, paper.cut) == (15, Clusters("dims"))
    assert (paper.texture, paper.refine) == (0, False)
    assert (paper.solver.lam, paper.solver.r, paper.solver.r_relaxed) == (1e4, 100, 10)
    caps = paper.solver.soc_iterations, paper.solver.split_iterations
    assert (*caps, paper.solver.relaxed_iterations) == (10, 5, 100)
    assert (paper.downsample, paper.neighbours, paper.sigma) == (4, 4, "rms")
    assert Settings.preset("paper", n_dims=7).n_dims == 7
    assert (Settings().cluster, paper.cluster) == ("regions", "pixels")


def test_changed_reaches_the_solver():
    changed = Settings().changed(solver=SolverSettings(r=7), lam=5.0, n_dims=3)
    assert (changed.solver.r, changed.solver.lam, changed.n_dims) == (7, 5, 3)


@pytest.mark.parametrize("cut", [AUTOMATIC, Clusters(4), Clusters("auto"), Regions(3), Level(0.2)])
def test_every_cut_survives_json(cut):
    assert Settings.from_json(Settings(cut=cut).to_json()).cut == cut


def test_an_automatic_cut_suits_the_method():
    assert Settings().resolved_cut == Level(DEFAULT_LEVEL)
    assert Settings(method="sc").resolved_cut == Clusters("dims")
    assert Settings(method="sc", cut=Clusters(3)).resolved_cut == Clusters(3)
    assert Clusters("dims").count(7) == 7
    assert Clusters(3).count(7) == 3
    with pytest.raises(InvalidInputError, match='n_clusters="auto" needs all stages at once'):
        Clusters("auto").count(7)


def test_settings_of_version_0_1_are_understood():
    old = {"n_segments": None, "n_regions": 6, "level": None, "solver": {"threads": 2, "r": 7}}
    assert Settings.from_dict(old) == Settings(cut=Regions(6)).changed(r=7)
    nothing = {"n_segments": None, "n_regions": None, "level": None}
    assert Settings.from_dict(nothing) == Settings()
    assert Settings.from_dict({"n_segments": "dims"}).cut == Clusters("dims")


def test_clusters_of_earlier_versions_are_those_of_pixels():
    for cut in (Clusters(8), Clusters("dims"), Clusters("auto")):
        old = Settings(cut=cut).to_dict()
        del old["cluster"]
        assert Settings.from_dict(old) == Settings(cut=cut, cluster="pixels")
    assert Settings.from_dict({"n_segments": 5}).cluster == "pixels"
    for cut in (AUTOMATIC, Level(0.2), Regions(4)):  # nothing to tell: as for new ones
        old = Settings(cut=cut).to_dict()
        del old["cluster"]
        assert Settings.from_dict(old) == Settings(cut=cut)
    for cluster in ("regions", "pixels"):
        new = Settings(cut=Clusters(8), cluster=cluster)
        assert Settings.from_json(new.to_json()) == new


def test_only_methods_with_a_hierarchy_cluster_regions():
    assert Settings().clusters_regions
    assert not Settings(cluster="pixels").clusters_regions
    assert not Settings(method="sc").clusters_regions


def test_presets_can_be_read_without_numpy():
    program = (
        "import sys; from pfeseg.segmentation.settings import PRESETS; "
        "sys.exit('numpy' in sys.modules)"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_settings_left_out_keep_the_defaults():
    assert Settings.from_dict({"solver": {"lam": 2}}) == Settings().changed(lam=2)


def test_settings_are_frozen():
    with pytest.raises(dataclasses.FrozenInstanceError):
        Settings().seed = 1  # type: ignore[misc]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Settings(n_dims=0), "n_dims must be a whole number of at least 1"),
        (lambda: Clusters(0), "n_clusters must be a whole number of at least 1"),
        (lambda: Clusters("many"), "n_clusters must be a whole number of at least 1"),
        (lambda: Settings(cut=3), "cut must be Clusters, Regions, Level or Automatic"),
        (lambda: Settings.from_dict({"cut": {"pieces": 3}}), "cut must name what it cuts by"),
        (lambda: Settings(downsample=0.5), "downsample must be at least 1"),
        (lambda: Settings(sigma=-1), "sigma"),
        (lambda: Settings(sigma="-1rms"), "sigma must be"),
        (lambda: Settings(sigma="rms2"), "sigma must be"),
        (lambda: Level(1.5), "level must lie between 0 and 1"),
        (lambda: Regions(0), "n_regions must be a whole number"),
        (lambda: make_cut(n_regions=3, level=0.5), "give one of n_regions and level"),
        (
            lambda: Settings(method="sc", cut=Level(0.5)),
            'level needs a hierarchy of regions, which method="sc" does not build; give n_clusters',
        ),
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
        (lambda: Settings.preset("best"), "the presets are: default, paper"),
        (lambda: Settings(cluster="basins"), "cluster must be one of regions, pixels"),
        (lambda: Settings.from_dict({"dims": 3}), "unknown settings: dims"),
        (lambda: Settings.from_dict({"solver": {"mu": 3}}), "unknown settings: mu"),
    ],
)
def test_wrong_settings_are_rejected(make, message):
    with pytest.raises(InvalidInputError, match=message):
        make()
