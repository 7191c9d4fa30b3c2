"""The experiment on a data set: the same in parts, resumed, and by the benchmark's own rules."""

from __future__ import annotations

import csv
import json
import os
import shutil
from dataclasses import replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, run, save_truth
from scipy.io import loadmat, savemat

from pfeseg import Clusters, InvalidInputError, Level, Segmentation, Settings, segment
from pfeseg.benchmark.dataset import find_items
from pfeseg.benchmark.levels import compare_levels
from pfeseg.benchmark.rows import Row, read_rows, rows_text
from pfeseg.benchmark.runs import HIERARCHY, Plan, start_run
from pfeseg.benchmark.tables import gather, markdown
from pfeseg.files.matlab import (
    UCM_THRESHOLDS,
    read_ground_truths,
    read_segmentations,
    read_true_boundaries,
)
from pfeseg.labels.boundaries import contours_at, count_boundaries, summarise_boundaries
from pfeseg.labels.metrics import compare, summarise

FAST = ("--downsample", "8", "-d", "3,4")


@pytest.fixture(scope="session")
def tiny(tmp_path_factory) -> Path:
    """Make a data set of three images laid out as BSDS500 is."""
    root = tmp_path_factory.mktemp("tiny")
    samples = Path(__file__).parent.parent / "sample_images"
    for name in ("chelsea.jpg", "coffee.jpg", "scene.png"):
        image = iio.imread(samples / name)[:160, :200]
        (root / "images" / "train").mkdir(parents=True, exist_ok=True)
        (root / "groundTruth" / "train").mkdir(parents=True, exist_ok=True)
        iio.imwrite(root / "images" / "train" / f"{Path(name).stem}.png", image)
        halves = (np.indices(image.shape[:2])[0] > 80).astype(int)
        bright = (image.mean(axis=2) > image.mean()).astype(int)
        save_truth(root / "groundTruth" / "train" / f"{Path(name).stem}.mat", halves, bright)
    return root


def scores_without_times(folder: Path) -> list[dict[str, str]]:
    rows = list(csv.DictReader((folder / "scores.csv").read_text().splitlines()))
    return [{k: v for k, v in row.items() if not k.startswith("seconds")} for row in rows]


@pytest.fixture(scope="session")
def finished(tiny, tmp_path_factory) -> Path:
    out = tmp_path_factory.mktemp("run") / "out"
    result = run("bsds", tiny, "-o", out, "--methods", "pfe,sc,gmm,auto", *FAST)
    assert result.exit_code == 0, result.stderr
    assert result.stdout.startswith("# BSDS500 train, d = k from 3 to 4")
    return out


def test_command_writes_table_scores_figures_and_segmentations(finished):
    assert names(finished) == [
        *("figure1.pdf", "figure1.png", "figure2.pdf", "figure2.png"),
        *("inputs.json", "rows", "run.json", "scores.csv", "segs", "table.md"),
    ]
    table = (finished / "table.md").read_text()
    assert "Images: 3." in table
    assert "0.53 / 0.79 / 2.10" in table
    assert "## PFE less the others" in table
    assert "share of the way from ODS to OIS" in table
    assert len(scores_without_times(finished)) == 3 * 2 * (2 + 2 + 2 + 1)
    for name in ("figure1.png", "figure2.png"):
        assert iio.imread(finished / name).std() > 10
    assert (finished / "figure1.pdf").read_bytes().startswith(b"%PDF")


def test_the_table_follows_from_the_segmentations_by_the_official_rules(finished, tiny):
    rows = [r for p in (finished / "rows").rglob("*.csv") for r in read_rows(p)]
    benchmark = gather(rows)
    once = np.ones((1, 3))
    for method, cleaned, folder in (("pfe", 0, "pfe"), ("gmm", 1, "gmm-clean")):
        images = []
        for path in sorted((finished / "segs" / folder).glob("*.mat")):
            truths = read_ground_truths(tiny / "groundTruth" / "train" / path.name)
            images.append([compare(labels, truths) for labels in read_segmentations(path)])
        official = summarise(images)
        measured = benchmark.measured[method, cleaned]
        for ours, theirs in (
            (measured.ods(once)[0], official.ods),
            (measured.ois(once)[0], official.ois),
        ):
            expected = (theirs.covering, theirs.pri, theirs.vi)
            np.testing.assert_allclose(ours, expected, atol=2e-6)


@pytest.fixture(scope="session")
def layered(tiny, tmp_path_factory) -> Path:
    """Run the hierarchy beside clusters."""
    out = tmp_path_factory.mktemp("run") / "out"
    result = run("bsds", tiny, "-o", out, "--methods", "gmm,hierarchy", *FAST)
    assert result.exit_code == 0, result.stderr
    return out


@pytest.fixture(scope="session")
def trees(tiny) -> dict[str, Segmentation]:
    """Segment the images of the data set one by one, as the hierarchy in `layered` is built."""
    settings = Settings(downsample=8)
    return {
        path.stem: segment(iio.imread(path), settings)
        for path in sorted((tiny / "images" / "train").iterdir())
    }


def test_rows_of_the_hierarchy_are_its_levels(layered, trees):
    assert names(layered / "rows" / "hierarchy") == [f"{name}.csv" for name in trees]
    for name, result in trees.items():
        rows = read_rows(layered / "rows" / "hierarchy" / f"{name}.csv")
        assert [row.level for row in rows] == UCM_THRESHOLDS.tolist()
        # Whatever -d is, d is that of the settings.
        assert {(r.method, r.cleaned, r.d, r.k) for r in rows} == {(HIERARCHY, 0, 8, None)}
        assert rows[0].seconds > rows[0].seconds_hierarchy > 0
        for k in (0, 35, 49, 60, 98):
            assert rows[k].regions == result.hierarchy.cut(UCM_THRESHOLDS[k]).max() + 1
    of_clusters = read_rows(layered / "rows" / "gmm" / "scene.csv")
    assert {(r.d, r.k, r.level, r.drawn) for r in of_clusters} == {
        (d, d, None, None) for d in (3, 4)
    }


def test_rows_of_the_hierarchy_are_scored_as_label_maps_are(layered, tiny, trees):
    for name, result in trees.items():
        path = tiny / "groundTruth" / "train" / f"{name}.mat"
        truths, boundaries = read_ground_truths(path), read_true_boundaries(path)
        rows = read_rows(layered / "rows" / "hierarchy" / f"{name}.csv")
        ucm2 = result.hierarchy.contour_map()
        for k in (0, 35, 49, 60, 98):
            row, exact = rows[k], compare(result.hierarchy.cut(UCM_THRESHOLDS[k]), truths)
            found = (row.covered, row.pixels, row.pri, row.vi)
            expected = (exact.covered, exact.region_sizes.sum(), exact.pri, exact.vi)
            assert found == pytest.approx(expected, abs=1e-3)
            assert found[2:] == pytest.approx(expected[2:], abs=1e-6)
            counts = count_boundaries(contours_at(ucm2, UCM_THRESHOLDS[k]), boundaries)
            assert (row.drawn, row.right, row.human, row.found) == (
                *(counts.drawn, counts.right, counts.human, counts.found),
            )


def test_labels_as_written_are_those_of_segment(layered, trees):
    for name, result in trees.items():
        (labels,) = read_segmentations(layered / "segs" / "hierarchy" / f"{name}.mat")
        assert (labels - 1 == result.labels).all()


def test_the_table_has_the_hierarchy_as_evaluate_has_its_files(layered, tiny):
    table = (layered / "table.md").read_text()
    assert table.startswith("# BSDS500 train, d = k from 3 to 4")
    assert "| GMM of the colours |" in table
    truths = tiny / "groundTruth" / "train"

    def judged(folder: str, *options: str) -> dict[str, dict[str, float]]:
        result = run("evaluate", layered / folder, truths, "--format", "json", *options)
        assert result.exit_code == 0, result.stderr
        return {row["image"]: row for row in json.loads(result.stdout)}

    def line(name: str, row: dict[str, float], *metrics: str) -> str:
        return f"| {name} | " + " | ".join(f"{row[metric]:.3f}" for metric in metrics) + " |"

    metrics = ("covering", "pri", "vi")
    written = judged("segs/hierarchy")["all (ODS)"]
    assert line("0.5, the labels as written", written, *metrics) in table
    regions, contours = judged("ucm"), judged("ucm", "--boundaries")
    for name, rule in (("all images", "all (ODS)"), ("each image", "all (OIS)")):
        title = f"best for {name} ({rule[5:8]})"
        assert line(title, regions[rule], *metrics) in table
        assert line(title, contours[rule], "precision", "recall", "f") in table
    precision = contours["all (average precision)"]["precision"]
    assert f"| all, average precision | {precision:.3f} |" in table
    rows = [r for p in (layered / "rows").rglob("*.csv") for r in read_rows(p)]
    total = summarise_boundaries(gather(rows).contours)
    assert total.ods.f == pytest.approx(contours["all (ODS)"]["f"], rel=1e-12)
    assert total.ois.f == pytest.approx(contours["all (OIS)"]["f"], rel=1e-12)


def test_the_hierarchy_has_figures(layered):
    assert [p.name for p in sorted(layered.glob("figure*"))] == [
        *("figure1_hierarchy.pdf", "figure1_hierarchy.png", "figure2.pdf", "figure2.png")
    ]
    for path in layered.glob("figure*.png"):
        assert iio.imread(path).std() > 10


def test_a_stopped_run_of_the_hierarchy_goes_on(layered, tiny, tmp_path):
    out = tmp_path / "out"
    shutil.copytree(layered, out)
    rows, kept = out / "rows" / "hierarchy", out / "ucm" / "chelsea.mat"
    before = kept.stat().st_mtime_ns
    (rows / "scene.csv").unlink()  # as if killed before the rows of the last image were there
    (out / "ucm" / "scene.mat").unlink()
    args = ("bsds", tiny, "-o", out, *FAST, "--no-figures", "--methods")
    result = run(*args, "gmm,hierarchy")
    assert result.exit_code == 0
    assert "2 of 3 images are done already" in result.stderr
    assert kept.stat().st_mtime_ns == before
    assert names(out / "ucm") == ["chelsea.mat", "coffee.mat", "scene.mat"]
    assert scores_without_times(out) == scores_without_times(layered)
    assert (out / "table.md").read_text() == (layered / "table.md").read_text()
    alone = run(*args, "hierarchy")  # a table of it alone, with nothing to compute
    assert alone.exit_code == 0, alone.stderr
    assert "3 of 3 images are done already" in alone.stderr
    assert alone.stdout.startswith("# BSDS500 train, pfeseg ")
    assert "GMM" not in alone.stdout
    assert len(scores_without_times(out)) == 3 * 99


def test_damaged_human_boundaries_are_reported_and_cost_no_clusters(tiny, tmp_path):
    root, out = tmp_path / "data", tmp_path / "out"
    shutil.copytree(tiny, root)
    truths = root / "groundTruth" / "train"
    content = loadmat(truths / "chelsea.mat")["groundTruth"]
    cells = np.empty((1, 1), dtype=object)
    cells[0, 0] = {"Segmentation": content[0, 0][0, 0]["Segmentation"]}
    savemat(truths / "chelsea.mat", {"groundTruth": cells})
    cells[0, 0] |= {"Boundaries": np.zeros((10, 10), np.uint8)}
    savemat(truths / "scene.mat", {"groundTruth": cells})
    args = ("bsds", root, "-o", out, "--methods", "gmm,hierarchy", *FAST, "--no-figures")
    result = run(*args)
    assert result.exit_code == 1
    errors = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert len(errors) == 2
    assert "chelsea.mat: its 'groundTruth' is not laid out as BSDS's" in errors[0]
    assert "scene.png: hierarchy: boundaries of shape (160, 200)" in errors[1]
    assert names(out / "rows" / "gmm") == ["chelsea.csv", "coffee.csv", "scene.csv"]
    assert names(out / "rows" / "hierarchy") == ["coffee.csv"]
    assert "Images: 1." in (out / "table.md").read_text()


def test_a_run_of_an_earlier_version_is_refused_in_one_line(layered, tiny, tmp_path):
    stored = json.loads((layered / "run.json").read_text())
    del stored["score_columns"]
    (tmp_path / "run.json").write_text(json.dumps(stored))
    result = run("bsds", tiny, "-o", tmp_path, "--methods", "gmm,hierarchy", *FAST)
    assert result.exit_code == 1
    assert result.stderr.splitlines() == [
        f"Error: {tmp_path} holds a run with other score_columns; choose another folder, or "
        "delete this one"
    ]


def test_levels_are_scored_as_their_label_maps_are(chelsea):
    tree = segment(chelsea).hierarchy
    rows, columns = np.indices(chelsea.shape[:2])
    truths = [(rows // 90) * 7 + columns // 100, (columns > 200).astype(int)]
    found = compare_levels(tree, truths)
    assert len(found) == len(UCM_THRESHOLDS) == 99
    for k in (0, 20, 45, 70, 98):
        exact = compare(tree.cut(UCM_THRESHOLDS[k]), truths)
        for mine, other in zip(
            (found[k].covered, found[k].pri, found[k].vi),
            (exact.covered, exact.pri, exact.vi),
            strict=True,
        ):
            assert mine == pytest.approx(other, rel=1e-12)


@pytest.mark.parametrize("kept", [0, 1, 3])
def test_rows_that_are_not_whole_are_made_again(finished, tiny, tmp_path, kept):
    shutil.copytree(finished, tmp_path / "out")
    rows = tmp_path / "out" / "rows" / "gmm" / "coffee.csv"
    rows.write_text("".join(rows.read_text().splitlines(keepends=True)[:kept]))
    args = ("--methods", "pfe,sc,gmm,auto", "--no-figures", *FAST)
    again = run("bsds", tiny, "-o", tmp_path / "out", *args)
    assert again.exit_code == 0
    assert "2 of 3 images are done already" in again.stderr
    assert scores_without_times(tmp_path / "out") == scores_without_times(finished)


def test_a_stopped_run_goes_on_and_jobs_do_not_matter(finished, tiny, tmp_path):
    out = tmp_path / "out"
    args = ("bsds", tiny, "-o", out, "--methods", "pfe,sc,gmm,auto", *FAST, "--no-figures", "-q")
    assert run(*args, "--limit", "1").exit_code == 0
    first = out / "rows" / "pfe" / "chelsea.csv"
    before = first.stat().st_mtime_ns
    (out / "rows" / "sc" / "chelsea.csv").unlink()  # as if killed between two methods
    assert run(*args, "--jobs", "2").exit_code == 0
    assert first.stat().st_mtime_ns == before
    assert scores_without_times(out) == scores_without_times(finished)
    table = (out / "table.md").read_text()
    assert table == (finished / "table.md").read_text()


def test_other_settings_do_not_mix(finished, tiny):
    for change in (("-d", "3"), ("--downsample", "6"), ("--seed", "1")):
        result = run("bsds", tiny, "-o", finished, "--methods", "pfe", *FAST, *change)
        assert result.exit_code == 1
        assert "holds a run with other" in result.stderr


def test_another_data_set_does_not_mix(finished, tiny, tmp_path):
    root = tmp_path / "data"
    shutil.copytree(tiny, root)
    truth = np.zeros((160, 200), int)
    save_truth(root / "groundTruth" / "train" / "scene.mat", truth)
    result = run("bsds", root, "-o", finished, "--methods", "pfe", *FAST)
    assert result.exit_code == 1
    assert "holds results of another scene" in result.stderr
    (root / "images" / "train" / "scene.tif").write_bytes(b"")
    with pytest.raises(InvalidInputError, match="have the same name"):
        find_items(root, "train")


def test_the_config_file_cannot_change_what_the_command_varies(finished, tiny, tmp_path):
    chosen = Settings(min_region=0.3, method="ncut", cut=Clusters(7), downsample=8)
    (tmp_path / "config.json").write_text(chosen.to_json())
    args = ("--config", tmp_path / "config.json", "-d", "3,4", "--methods", "pfe,sc,gmm,auto", "-q")
    result = run("bsds", tiny, "-o", tmp_path / "out", *args, "--no-figures")
    assert result.exit_code == 0, result.stderr
    assert scores_without_times(tmp_path / "out") == scores_without_times(finished)


def test_the_config_file_cannot_change_the_cut_of_the_hierarchy(layered, tiny, tmp_path):
    chosen = Settings(min_region=0.3, cut=Level(0.2), downsample=8)
    (tmp_path / "config.json").write_text(chosen.to_json())
    args = ("--config", tmp_path / "config.json", "-d", "3,4", "--methods", "gmm,hierarchy", "-q")
    result = run("bsds", tiny, "-o", tmp_path / "out", *args, "--no-figures")
    assert result.exit_code == 0, result.stderr
    assert scores_without_times(tmp_path / "out") == scores_without_times(layered)
    name = Path("segs", "hierarchy", "scene.mat")
    (found,), (expected,) = (read_segmentations(p / name) for p in (tmp_path / "out", layered))
    assert (found == expected).all()


def test_one_failing_method_costs_no_other(tiny, tmp_path):
    args = ("bsds", tiny, "-o", tmp_path / "out", "--downsample", 80, "-d", "3,4", "--no-figures")
    good = run(*args, "--methods", "kmeans,pfe,auto")
    assert good.exit_code == 1  # 2 x 2 pixels are too few for d = 5
    assert "auto: -d is 5" in good.stderr
    assert names(tmp_path / "out" / "rows" / "kmeans") == ["chelsea.csv", "coffee.csv", "scene.csv"]


def test_a_bad_image_is_reported_and_the_others_count(tiny, tmp_path):
    root = tmp_path / "data"
    shutil.copytree(tiny, root)
    truths = root / "groundTruth" / "train"
    (truths / "chelsea.mat").write_bytes(b"broken")
    save_truth(truths / "scene.mat", np.zeros((10, 10), int))
    args = ("bsds", root, "-o", tmp_path / "out", "--methods", "gmm", *FAST, "--no-figures")
    result = run(*args)
    assert result.exit_code == 1
    assert "chelsea.mat: not a MATLAB file" in result.stderr
    assert "a ground truth of 10 x 10 pixels for an image of 200 x 160" in result.stderr
    assert "Images: 1." in (tmp_path / "out" / "table.md").read_text()
    (truths / "coffee.mat").unlink()
    shutil.rmtree(tmp_path / "out")
    result = run(*args)
    assert result.exit_code == 1
    assert "coffee.mat: no such file" in result.stderr
    assert "no image was segmented" in result.stderr


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda root: shutil.rmtree(root / "images"), "expected the folders 'images'"),
        (lambda root: (root / "images" / "train").rename(root / "images" / "x"), "there are: x"),
        (
            lambda root: [p.unlink() for p in (root / "images" / "train").iterdir()],
            "holds no images",
        ),
    ],
)
def test_folders_that_are_no_data_set(tiny, tmp_path, change, message):
    root = tmp_path / "data"
    shutil.copytree(tiny, root)
    change(root)
    with pytest.raises(InvalidInputError, match=message):
        find_items(root, "train")


def test_an_unknown_method_is_refused(tiny, tmp_path):
    result = run("bsds", tiny, "-o", tmp_path / "out", "--methods", "pfe,magic")
    assert result.exit_code == 2
    assert "'magic' is not one of" in result.stderr
    assert not (tmp_path / "out").exists()


def test_the_downloaded_archive_is_understood(tiny, tmp_path):
    shutil.copytree(tiny, tmp_path / "BSR" / "BSDS500" / "data")
    assert [i.name for i in find_items(tmp_path, "train")] == ["chelsea", "coffee", "scene"]
    assert [i.name for i in find_items(tmp_path, "train", limit=2)] == ["chelsea", "coffee"]


def row(image: str, method: str, d: int, covered: float, pri: float, vi: float, clean=0) -> Row:
    return Row(image=image, method=method, cleaned=clean, d=d, k=d, regions=3, covered=covered,
               pixels=100.0, pri=pri, vi=vi, seconds_init=0.1, seconds_embed=0.2)  # fmt: skip


def test_rows_survive_the_file(tmp_path):
    rows = [row("a b,c", "pfe", 5, 1.5, 0.25, 2.0), row("ä", "pfe", 6, 2.5, 0.5, 1.0)]
    rows.append(replace(rows[0], k=None, level=0.29, drawn=9, right=0, human=8, found=7))
    assert rows[0].seconds == pytest.approx(0.3)
    (tmp_path / "rows.csv").write_text(rows_text(rows), encoding="utf-8")
    assert read_rows(tmp_path / "rows.csv") == rows
    header, line = rows_text(rows[:1]).splitlines()
    for broken in ("image,method\na,b\n", f"{header},more\n{line},1\n", f"{header}\n{line[:30]}\n"):
        (tmp_path / "rows.csv").write_text(broken)
        with pytest.raises(InvalidInputError, match="delete it and run again"):
            read_rows(tmp_path / "rows.csv")


def test_bootstrap_intervals_are_those_of_the_mean():
    rng = np.random.default_rng(0)
    values = rng.normal(0.8, 0.05, 200)
    rows = [row(f"{i:03}", "pfe", 5, 50.0, v, 2.0, c) for i, v in enumerate(values) for c in (0, 1)]
    text = markdown(gather(rows), "train", "x")
    cell = text.split("| PFE |")[1].split("|")[2]
    mean, low, high = (float(part) for part in cell.replace("[", " ").replace("]", " ")
                       .replace(",", " ").split())  # fmt: skip
    error = 1.96 * values.std() / np.sqrt(200)
    assert mean == pytest.approx(values.mean(), abs=6e-4)
    assert (mean - low, high - mean) == pytest.approx((error, error), abs=1.5e-3)


def test_differences_are_paired():
    rng = np.random.default_rng(0)
    common = rng.normal(0.7, 0.1, 100)
    rows = [
        row(f"{i:03}", method, 5, 50.0, v + gain, 2.0, c)
        for i, v in enumerate(common)
        for method, gain in (("pfe", 0.02), ("sc", 0.0))
        for c in (0, 1)
    ]
    text = markdown(gather(rows), "train", "x")
    assert text.count("(SC) | +0.000 [+0.000, +0.000] | +0.020 [+0.020, +0.020]") == 2


def test_an_image_counts_only_with_all_methods():
    rows = [row(i, m, 5, 50.0, 0.5, 2.0, c) for i in "ab" for m in ("pfe", "sc") for c in (0, 1)]
    assert gather(rows).images == ("a", "b")
    assert gather(rows[:-2]).images == ("a",)
    with pytest.raises(InvalidInputError, match="no image"):
        gather([])


def test_plans_are_checked_against_what_is_there(tmp_path):
    plan = Plan(tmp_path, "train", ("pfe",), (3, 4), Settings(neighbours=4))
    start_run(plan, [])
    start_run(plan, [])
    with pytest.raises(InvalidInputError, match="other settings"):
        start_run(replace(plan, settings=Settings(neighbours=4.0)), [])  # a radius
    for broken, message in (("{", "not JSON that can be read"), ("[]", "not an object")):
        (tmp_path / "run.json").write_text(broken)
        with pytest.raises(InvalidInputError, match=message):
            start_run(plan, [])


def test_five_images_of_bsds(tmp_path):
    root = os.environ.get("BSDS500_ROOT")
    if not root or not Path(root).is_dir():
        pytest.skip("set BSDS500_ROOT to the folder of BSDS500")
    out = tmp_path / "out"
    result = run("bsds", root, "-o", out, "--methods", "pfe,sc,wsc,ncut,gmm", "-d", "5,8",
                 "--limit", "5", "--jobs", "2", "-q")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    rows = [r for p in (out / "rows").rglob("*.csv") for r in read_rows(p)]
    benchmark = gather(rows)
    assert len(benchmark.images) == 5
    covering = {m: benchmark.measured[m, 0].ois(np.ones((1, 5)))[0, 0] for m in benchmark.methods()}
    assert covering["pfe"] == max(covering.values())
    assert 0.35 < covering["pfe"] < 0.7
    # The same from the files, by the command for other people's results.
    truths = Path(root) / "groundTruth" / "train"
    judged = run("evaluate", out / "segs" / "pfe", truths, "--format", "csv").stdout
    assert f"all (OIS),{covering['pfe']:.6f}," in judged  # all digits that are printed
