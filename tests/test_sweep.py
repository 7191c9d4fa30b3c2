"""Sweeps over dimensions, and the consensus that recommends one."""

from __future__ import annotations

import csv
import json
import shlex

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, run, save_truth

from pfeseg import Clusters, InvalidInputError, Level, Regions, Settings, score, segment
from pfeseg.files.sweep_data import read_sweep_data
from pfeseg.run.sweep import sweep_rows, sweep_sheet
from pfeseg.segmentation import steps
from pfeseg.segmentation.consensus import consensus
from pfeseg.segmentation.pairs import AUTO_CLUSTERS, AUTO_DIMS, auto_pairs
from pfeseg.segmentation.sweep import sweep
from pfeseg.solver.embed import Solver

SMALL = Settings(downsample=8)


def test_trials_have_the_bytes_of_single_runs_with_one_and_two_jobs(chelsea):
    pairs = [(3, None), (5, 4), (5, 2), (4, None)]
    one, two = (sweep(chelsea, pairs, settings=SMALL, jobs=jobs) for jobs in (1, 2))
    assert [(t.n_dims, t.n_clusters) for t in one.trials] == [(3, 3), (5, 4), (5, 2), (4, 4)]
    assert one.recommended == two.recommended
    for mine, other, (d, k) in zip(one.trials, two.trials, pairs, strict=True):
        alone = segment(chelsea, SMALL.changed(n_dims=d, cut=Clusters(k or "dims")))
        assert one.labels(mine).tobytes() == alone.labels.tobytes()
        assert mine.small_labels.tobytes() == other.small_labels.tobytes()
        assert mine.n_regions == alone.n_regions
        assert mine.agreement == other.agreement
        last = alone.embedding.history[-1]
        assert mine.orthogonality_error == pytest.approx(last.orthogonality_error, rel=1e-3)
        assert mine.energy == pytest.approx(alone.embedding.channel_energies.mean())
        assert 0 < mine.flatness < 1


def test_trials_are_cleaned_as_single_runs_are(chelsea):
    chosen = SMALL.changed(min_region=0.1)
    swept = sweep(chelsea, [(6, None)], settings=chosen)
    alone = segment(chelsea, chosen.changed(n_dims=6, cut=Clusters("dims")))
    assert swept.labels(swept.best).tobytes() == alone.labels.tobytes()
    assert swept.best.n_regions == alone.n_regions != 6


def test_one_hierarchy_serves_all_k_of_a_dimension(chelsea, monkeypatch):
    made = {"outline": 0, "merge_regions": 0}

    def counted(name):
        step = getattr(steps, name)

        def count(*args):
            made[name] += 1
            return step(*args)

        return count

    for name in made:
        monkeypatch.setattr(steps, name, counted(name))
    result = sweep(chelsea, [(4, 2), (4, 5), (3, 4), (3, 2)], settings=SMALL)
    assert made == {"outline": 1, "merge_regions": 2}
    for trial in result.trials:
        assert list(trial.timings)[-2:] == ["hierarchy", "cluster"]
        assert trial.timings["hierarchy"] > 0
        assert trial.n_regions == trial.n_clusters
    first, second = result.trials[:2]
    assert first.timings["hierarchy"] == second.timings["hierarchy"]  # of the one they share


def test_a_sweep_of_pixels_builds_no_hierarchy(chelsea):
    trial = sweep(chelsea, [(4, 3)], settings=SMALL.changed(cluster="pixels")).best
    assert "hierarchy" not in trial.timings
    assert trial.small_labels.shape == (37, 56)


def test_consensus_is_the_mean_rand_index_with_the_others():
    rng = np.random.default_rng(0)
    maps = [rng.integers(0, k, (30, 20), dtype=np.int32) for k in (2, 3, 5, 4)]
    for labels in maps:
        labels.flat[: labels.max() + 1] = np.arange(labels.max() + 1)
    voters = np.array([True, True, False, True])
    expected = [
        np.mean([score(a, [maps[v]]).pri for v in np.flatnonzero(voters) if maps[v] is not a])
        for a in maps
    ]
    np.testing.assert_allclose(consensus(maps, voters), expected, rtol=1e-12)


def test_consensus_finds_what_most_found():
    truth = np.kron(np.array([[0, 1], [2, 3]]), np.ones((8, 8), np.int32)).astype(np.int32)
    odd = np.arange(256, dtype=np.int32).reshape(16, 16) % 2
    flat = np.zeros((16, 16), np.int32)
    agreement = consensus([odd, truth, flat, truth], np.ones(4, bool))
    assert agreement.argmax() == 1
    assert agreement[1] == agreement[3]
    assert consensus([odd], np.ones(1, bool)).tolist() == [1.0]


def test_the_recommended_one_is_a_candidate(chelsea):
    shown, candidates = [(6, 6), (7, 7)], [(6, 3), (6, 4), (7, 3)]
    result = sweep(chelsea, shown, candidates, SMALL)
    assert len(result.trials) == 5
    assert (result.best.n_dims, result.best.n_clusters) in candidates
    assert result.best.agreement == max(t.agreement for t in result.trials[2:])


def test_colour_methods_have_no_energy(chelsea):
    result = sweep(chelsea, [(3, None), (4, None)], settings=SMALL.changed(method="kmeans"))
    assert {(t.energy, t.flatness, t.orthogonality_error) for t in result.trials} == {(None,) * 3}
    spectral = sweep(chelsea, [(3, None)], settings=SMALL.changed(method="le"))
    assert spectral.trials[0].orthogonality_error < 1e-10


def test_an_empty_sweep_is_refused(chelsea):
    with pytest.raises(InvalidInputError, match="at least one"):
        sweep(chelsea, [])


@pytest.fixture(scope="module")
def by_levels(chelsea):
    return sweep(chelsea, levels=[0.0, 0.2, 0.5, 0.8, 1.0], settings=SMALL)


def test_cuts_of_one_hierarchy_have_the_bytes_of_single_runs(chelsea, by_levels):
    assert [trial.level for trial in by_levels.trials] == [0.0, 0.2, 0.5, 0.8, 1.0]
    by_regions = sweep(chelsea, n_regions=[2, 9], settings=SMALL)
    asked = [trial for trial in by_regions.trials if isinstance(trial.cut, Regions)]
    assert [trial.n_regions for trial in asked] == [2, 9]
    for result, trials in ((by_levels, by_levels.trials), (by_regions, asked)):
        for trial in trials:
            alone = segment(chelsea, SMALL.changed(cut=trial.cut))
            assert result.labels(trial).tobytes() == alone.labels.tobytes()
            assert trial.n_regions == alone.n_regions
            assert trial.n_clusters is None
            assert trial.agreement is None


def test_many_cuts_of_a_hierarchy_need_one_solve(chelsea, monkeypatch):
    embedded = []
    embed = Solver.embed

    def counted(self, Y0, on_iteration=None):
        embedded.append(Y0.shape)
        return embed(self, Y0, on_iteration)

    monkeypatch.setattr(Solver, "embed", counted)
    assert len(sweep(chelsea, levels=np.linspace(0, 1, 9), settings=SMALL).trials) == 9
    assert len(embedded) == 1


def test_of_levels_the_default_is_recommended_and_of_regions_what_it_has(chelsea, by_levels):
    assert by_levels.best.cut == Level(0.5)
    usual = by_levels.best.n_regions
    within = sweep(chelsea, n_regions=range(1, usual + 2), settings=SMALL)
    assert within.best.cut == Regions(usual)
    assert len(within.trials) == usual + 1  # none for the default level again
    beyond = sweep(chelsea, n_regions=[usual + 1], settings=SMALL)
    assert beyond.best.cut == Level(0.5)
    assert len(beyond.trials) == 2


def test_a_dimension_is_chosen_for_the_hierarchy(chelsea):
    result, shared = (
        sweep(chelsea, dims=[3, 4, 5], levels=[0.05], settings=SMALL, jobs=jobs) for jobs in (1, 2)
    )
    voters = [trial for trial in result.trials if trial.cut == Level(0.5)]
    assert [trial.n_dims for trial in voters] == [3, 4, 5]
    assert result.best in voters
    assert result.best.agreement == max(trial.agreement for trial in voters)
    others = [v.small_labels for v in voters if v is not result.best]
    expected = np.mean([score(result.best.small_labels, other).pri for other in others])
    assert result.best.agreement == pytest.approx(expected)
    assert shared.recommended == result.recommended
    one, other = (r.labels(r.trials[0]).tobytes() for r in (result, shared))
    assert one == other


def test_auto_chooses_the_dimension_by_the_labels_that_are_written(chelsea):
    settings = SMALL.changed(cut=Regions(7))
    best = sweep(chelsea, [(d, Regions(7)) for d in AUTO_DIMS], settings=settings).best
    result = segment(chelsea, settings.changed(n_dims="auto"))
    assert result.n_dims == best.n_dims
    assert result.n_regions == 7


@pytest.mark.parametrize(
    ("numbers", "message"),
    [
        ({"levels": []}, "levels must be at least one number from 0 to 1"),
        ({"levels": [2]}, "level must lie between 0 and 1, got 2"),
        ({"n_regions": [0]}, "n_regions must be a whole number"),
        ({"levels": [0.3], "n_regions": [3]}, "one of levels and n_regions"),
        ({"levels": [0.3], "n_clusters": [3]}, "one of n_clusters and levels"),
        ({"pairs": [(3, 3)], "levels": [0.3]}, "pairs, or levels, but not both"),
        ({"levels": [0.3], "settings": Settings(method="gmm")}, "needs a hierarchy of regions"),
    ],
)
def test_cuts_that_cannot_be_tried_are_refused(chelsea, numbers, message):
    with pytest.raises(InvalidInputError, match=message):
        sweep(chelsea, **numbers)


def test_auto_chooses_what_the_sweep_recommends(chelsea):
    chosen = SMALL.changed(n_dims="auto", cut=Clusters("auto"))
    pairs = auto_pairs(chosen, chelsea.shape)
    assert len(pairs) == len(AUTO_DIMS) * len(AUTO_CLUSTERS)
    swept = sweep(chelsea, pairs, settings=SMALL)
    best = swept.best
    result = segment(chelsea, chosen)
    assert (result.labels == swept.labels(best)).all()
    assert (result.n_dims, result.n_clusters) == (best.n_dims, best.n_clusters)
    report = result.report()
    assert (report["dims"], report["segments"]) == (best.n_dims, best.n_clusters)
    assert report["settings"]["n_dims"] == "auto"
    assert Settings.from_dict(report["settings"]) == chosen


def test_auto_of_one_of_the_two(chelsea):
    dims = segment(chelsea, SMALL.changed(n_dims="auto", cut=Clusters(4)))
    assert dims.n_clusters == 4
    assert dims.n_dims in AUTO_DIMS
    segments = segment(chelsea, SMALL.changed(n_dims=4, cut=Clusters("auto")))
    assert segments.n_dims == 4
    assert segments.n_clusters in AUTO_CLUSTERS
    by_dims = Settings(n_dims="auto", cut=Clusters("dims"))
    assert auto_pairs(by_dims, (99, 99)) == [(d, Clusters(d)) for d in AUTO_DIMS]
    assert auto_pairs(Settings(n_dims="auto"), (99, 99)) == [(d, Level(0.5)) for d in AUTO_DIMS]


def test_auto_of_small_images_and_of_methods_without_a_dimension():
    both = Settings(n_dims="auto", cut=Clusters("auto"), downsample=1)
    assert max(max(d, cut.n_clusters) for d, cut in auto_pairs(both, (2, 3, 3))) == 6
    image = np.random.default_rng(0).random((3, 3, 3))
    assert segment(image, both).n_regions > 1
    mixture = both.changed(method="gmm")
    assert auto_pairs(mixture, (99, 99)) == [(k, Clusters(k)) for k in AUTO_CLUSTERS]


def test_sweep_and_auto_agree_when_all_candidates_are_equal():
    colours = np.array([[0.8, 0.1, 0.1], [0.1, 0.8, 0.1], [0.1, 0.1, 0.8], [0.9, 0.9, 0.2]])
    image = colours[np.kron(np.array([[0, 1], [2, 3]]), np.ones((12, 12), int))]
    settings = Settings.preset("paper", downsample=2)
    auto = segment(image, settings.changed(n_dims="auto", cut=Clusters("auto")))
    shown = [(d, d) for d in AUTO_DIMS]
    best = sweep(image, shown, [(d, k) for d in AUTO_DIMS for k in AUTO_CLUSTERS], settings).best
    assert (auto.n_dims, auto.n_clusters) == (best.n_dims, best.n_clusters) == (5, 4)


def test_measures_of_normalised_cuts_follow_k(chelsea):
    chosen = SMALL.changed(method="ncut")
    trials = sweep(chelsea, [(5, 3), (5, 6)], settings=chosen).trials
    alone = sweep(chelsea, [(5, 6)], settings=chosen).trials
    assert trials[1].energy == alone[0].energy != trials[0].energy


def test_command_prints_a_table_and_writes_table_and_sheet(samples, tmp_path):
    result = run("sweep", samples / "scene.png", "-d", "3:5", "-o", tmp_path, "--downsample", 2)
    assert result.exit_code == 0, result.stderr
    lines = result.stdout.splitlines()
    assert lines[0].split()[:3] == ["d", "k", "regions"]
    assert [line.split()[0] for line in lines[1:4]] == ["3", "4", "5"]
    assert lines[-1].startswith("recommended: -d ")
    assert sum("<- recommended" in line for line in lines) == 1
    assert names(tmp_path) == ["scene_sweep.csv", "scene_sweep.npz", "scene_sweep.png"]
    rows = list(csv.DictReader((tmp_path / "scene_sweep.csv").read_text().splitlines()))
    assert len(rows) == len({(r["d"], r["k"]) for r in rows}) == 3 * len(AUTO_CLUSTERS)
    sheet = iio.imread(tmp_path / "scene_sweep.png")
    assert sheet.ndim == 3
    again = run("sweep", samples / "scene.png", "-d", "3:5", "-o", tmp_path)
    assert again.exit_code == 1
    assert "--overwrite" in again.stderr


def test_results_of_a_command_appear_together(samples, tmp_path):
    args = ("sweep", samples / "chelsea.jpg", "-o", tmp_path, "-d", "3,4", "--overwrite")
    (tmp_path / "chelsea_sweep.csv").write_text("old")
    (tmp_path / "chelsea_sweep.png").mkdir()
    result = run(*args)
    assert result.exit_code == 1
    assert "chelsea_sweep.png: cannot be written, as it is a folder" in result.stderr
    assert (tmp_path / "chelsea_sweep.csv").read_text() == "old"
    assert len(names(tmp_path)) == 2
    (tmp_path / "chelsea_sweep.png").rmdir()
    assert run(*args).exit_code == 0
    assert (tmp_path / "chelsea_sweep.csv").read_text() != "old"


def test_command_goes_through_the_levels_of_a_hierarchy(samples, tmp_path):
    args = ("sweep", samples / "chelsea.jpg", "-o", tmp_path, "--max-size", 60)
    result = run(*args, "--levels", "0.3:0.5")
    assert result.exit_code == 0, result.stderr
    lines = [line.split() for line in result.stdout.splitlines()]
    assert lines[0][:3] == ["d", "level", "regions"]
    assert [line[1] for line in lines[1:6]] == ["0.3", "0.35", "0.4", "0.45", "0.5"]
    counts = [int(line[2]) for line in lines[1:6]]
    assert counts == sorted(counts, reverse=True)
    assert result.stdout.endswith("recommended: --level 0.5 (the default level)\n")
    alone = run("segment", *args[1:], "--save", "labels")
    assert alone.exit_code == 0, alone.stderr
    assert len(np.unique(iio.imread(tmp_path / "chelsea_labels.png"))) == counts[-1]
    both = run(*args, "--levels", "0.5", "--regions", "4")
    assert both.exit_code == 2
    assert "give one of --levels and --regions" in both.stderr


def test_the_command_of_a_trial_makes_its_labels(samples, tmp_path):
    """Even where regions are cleaned away afterwards, so that fewer are left than asked for."""
    args = (samples / "chelsea.jpg", "-o", tmp_path, "--max-size", 60, "--min-region", "3%")
    swept = run("sweep", *args, "--regions", "9,12", "--json")
    assert swept.exit_code == 0, swept.stderr
    data = read_sweep_data(tmp_path / "chelsea_sweep.npz")
    for n, row, trial in zip(
        (9, 12), json.loads(swept.stdout)["rows"], data.report["trials"], strict=False
    ):
        words = shlex.split(trial["command"])
        assert words[-2:] == ["--regions", str(n)]
        alone = run(*words[1:], "-o", tmp_path, "--save", "labels", "--overwrite", "--json")
        assert alone.exit_code == 0, alone.stderr
        assert json.loads(alone.stdout)["regions"] == row["regions"] < n


def test_command_goes_through_numbers_of_regions(samples, tmp_path):
    args = ("sweep", samples / "scene.png", "-o", tmp_path, "--regions", "2,5,3")
    facts = json.loads(run(*args, "--json").stdout)
    assert [row["regions"] for row in facts["rows"]] == [2, 5, 3]
    assert set(facts["recommended"]) == {"d", "level"}  # that has six regions
    within = run(*args[:-1], "2:9", "-d", "7", "--overwrite").stdout
    assert within.endswith("recommended: -d 7 --regions 6 (what the default level 0.5 gives)\n")


def test_command_scores_against_ground_truth(samples, tmp_path):
    truth = iio.imread(samples / "scene_labels.png")
    save_truth(tmp_path / "scene.mat", truth)
    args = ("sweep", samples / "scene.png", "-d", "4,6", "-o", tmp_path, "--downsample", 1,
            "--preset", "paper")  # fmt: skip
    result = run(*args, "--ground-truth", tmp_path / "scene.mat", "--json")
    assert result.exit_code == 0, result.stderr
    facts = json.loads(result.stdout)
    assert [row["d"] for row in facts["rows"]] == [4, 6]
    assert {row["d"] for row in facts["best"].values()} == {6}
    assert facts["best"]["covering"]["covering"] == 1.0
    table = run(*args, "--ground-truth", tmp_path / "scene.mat", "--overwrite").stdout
    assert "best by covering: d = 6, k = 6 (1.0000)" in table


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["{scene}", "-d", "5:3"], 2, "'5:3' is not a range"),
        (["{scene}", "-d", "0"], 2, "'0' is not a range"),
        (["{scene}", "-d", "1:1000000000"], 2, "is not a range"),
        (
            ["{scene}", "-d", "3", "--ground-truth", "{tiny}"],
            1,
            "a ground truth of 4 x 4",
        ),
        (["{scene}", "-d", "3", "--ground-truth", "{none}"], 1, "no such file"),
        (["{none}", "-d", "3"], 1, "no such file"),
        (["{scene}", "-d", "3", "-k", "99999", "--downsample", "20"], 1, "lower it"),
    ],
)
def test_command_refuses_what_cannot_work(samples, tmp_path, args, code, message):
    save_truth(tmp_path / "tiny.mat", np.zeros((4, 4), int))
    places = {"scene": samples / "scene.png", "tiny": tmp_path / "tiny.mat",
              "none": tmp_path / "none.mat"}  # fmt: skip
    result = run("sweep", *[arg.format(**places) for arg in args], "-o", tmp_path / "out")
    assert result.exit_code == code
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_only_the_chosen_one_is_brought_to_full_size(chelsea, monkeypatch):
    brought = []
    refine = steps.enlarge_clusters

    def counted(labels, image, *args):
        brought.append(labels.shape)
        return refine(labels, image, *args)

    monkeypatch.setattr(steps, "enlarge_clusters", counted)
    result = sweep(chelsea, [(4, 2), (4, 5), (3, 4)], settings=SMALL)
    rows = sweep_rows(result, [])
    sweep_sheet(chelsea, result, rows, [0, 1, 2])
    assert brought == []
    segment(chelsea, SMALL.changed(n_dims=4, cut=Clusters("auto")))
    assert len(brought) == 1


@pytest.mark.parametrize("cluster", ["regions", "pixels"])
@pytest.mark.parametrize("min_region", [0.0, 0.05, 2000])
def test_numbers_of_regions_are_about_those_at_full_size(chelsea, cluster, min_region):
    settings = SMALL.changed(cluster=cluster, min_region=min_region)
    result = sweep(chelsea, [(4, 5), (4, 2)], settings=settings)
    for trial in result.trials:
        exact = int(result.labels(trial).max()) + 1
        assert trial.n_regions == exact if not min_region else abs(trial.n_regions - exact) <= 1
        assert result.shown_labels(trial).shape == trial.small_labels.shape
