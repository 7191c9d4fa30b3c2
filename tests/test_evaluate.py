from __future__ import annotations

import csv
import io
import json

import numpy as np
import pytest
from helpers import run, save_truth
from scipy.io import savemat

from pfeseg.files.labels import write_labels
from pfeseg.files.matlab import cut_contour_map
from pfeseg.files.writing import write_png

RNG = np.random.default_rng(2)
TRUTH = np.kron(np.array([[0, 1], [2, 3]]), np.ones((10, 12), int))


@pytest.fixture
def folders(tmp_path):
    """Make results beside overlays, and ground truths in .mat files."""
    for name in ("a", "b"):
        write_labels(tmp_path / "out" / f"{name}_labels.png", TRUTH)
        write_png(tmp_path / "out" / f"{name}_overlay.png", np.zeros((20, 24, 3), np.uint8))
    (tmp_path / "truth").mkdir()
    save_truth(tmp_path / "truth" / "a.mat", TRUTH, TRUTH)
    save_truth(tmp_path / "truth" / "b.mat", np.zeros_like(TRUTH))
    return tmp_path


def test_a_file_against_a_file(folders):
    result = run("evaluate", folders / "out" / "a_labels.png", folders / "truth" / "a.mat")
    assert result.exit_code == 0
    assert result.stdout.splitlines() == [
        "image  covering     PRI      VI     ARI     IoU    Dice",
        "a        1.0000  1.0000  0.0000  1.0000  1.0000  1.0000",
    ]


def test_a_folder_against_a_folder_in_all_formats(folders):
    args = ("evaluate", folders / "out", folders / "truth")
    rows = {row["image"]: row for row in json.loads(run(*args, "--format", "json").stdout)}
    perfect = dict.fromkeys(("covering", "pri", "ari", "iou", "dice"), 1.0)
    assert rows["a"] == {"image": "a", "vi": 0.0, **perfect}
    assert rows["b"]["iou"] == pytest.approx(0.25)
    assert rows["b"]["dice"] == pytest.approx(0.4)
    assert rows["all (OIS)"]["dice"] == pytest.approx(0.7)
    assert rows["b"]["covering"] == pytest.approx(0.25)
    assert rows["b"]["vi"] == pytest.approx(2.0)
    assert rows["all (ODS)"]["covering"] == pytest.approx((2 * 1 + 0.25) / 3)  # by annotators
    assert rows["all (ODS)"]["vi"] == pytest.approx(1.0)
    read = list(csv.DictReader(io.StringIO(run(*args, "--format", "csv").stdout)))
    assert [row["image"] for row in read] == ["a", "b", "all (ODS)", "all (OIS)", "all (best)"]
    assert "all (best)" in run(*args).stdout


@pytest.mark.parametrize("ending", ["png", "tif", "npy"])
def test_ground_truth_as_a_label_map(folders, ending):
    write_labels(folders / f"truth.{ending}", TRUTH)
    result = run("evaluate", folders / "out" / "a_labels.png", folders / f"truth.{ending}")
    assert "1.0000" in result.stdout


def test_several_segmentations_of_one_image(folders):
    segs = np.empty((1, 2), dtype=object)
    segs[0, 0], segs[0, 1] = TRUTH + 1, np.ones_like(TRUTH)
    savemat(folders / "segs.mat", {"segs": segs})
    result = run("evaluate", folders / "segs.mat", folders / "truth" / "a.mat", "--format", "json")
    rows = {row["image"]: row for row in json.loads(result.stdout)}
    assert rows["all (ODS)"]["covering"] == 1.0


def test_boundaries_of_label_maps_and_contour_maps(folders):
    args = ("evaluate", folders / "out", folders / "truth", "--boundaries")
    for name in "ab":  # the maps hold no boundaries of their own
        write_labels(folders / "truth" / f"{name}.png", TRUTH if name == "a" else TRUTH * 0)
        (folders / "truth" / f"{name}.mat").unlink()
    rows = {row["image"]: row for row in json.loads(run(*args, "--format", "json").stdout)}
    assert rows["a"] == {"image": "a", "precision": 1.0, "recall": 1.0, "f": 1.0}
    assert (rows["b"]["precision"], rows["b"]["recall"]) == (0.0, 1.0)
    assert rows["all (ODS)"]["precision"] == pytest.approx(0.5)
    assert run(*args).stdout.splitlines()[0].split() == ["image", "precision", "recall", "F"]
    ucm2 = np.zeros((41, 49))
    ucm2[:, 24] = 0.6  # one of the two lines of TRUTH, and at half the strength one that is not
    ucm2[:, 8] = 0.3
    savemat(folders / "a_ucm.mat", {"ucm2": ucm2})
    truth = folders / "truth" / "a.png"
    result = run("evaluate", folders / "a_ucm.mat", truth, "--boundaries", "--format", "csv")
    rows = {row["image"]: row for row in csv.DictReader(io.StringIO(result.stdout))}
    assert float(rows["all (ODS)"]["precision"]) == 1.0
    assert 0.4 < float(rows["all (ODS)"]["recall"]) < 0.5  # 20 of 43 pixels
    assert rows["all (average precision)"]["recall"] == ""


def test_contour_maps_are_cut_between_the_pixels():
    ucm2 = np.zeros((7, 9))
    ucm2[:, 4] = 0.6  # between the second and the third column
    ucm2[2, :4] = 0.3
    assert len(np.unique(cut_contour_map(ucm2, 0.2))) == 3
    assert cut_contour_map(ucm2, 0.4).tolist() == [[1, 1, 2, 2]] * 3
    assert len(np.unique(cut_contour_map(ucm2, 0.7))) == 1


def test_bad_input_gets_a_clear_line_and_never_a_score(folders):
    (folders / "broken.mat").write_bytes(b"not a mat file")
    (folders / "empty").mkdir()
    save_truth(folders / "small.mat", TRUTH[:5])
    savemat(folders / "other.mat", {"x": np.arange(3)})
    good = folders / "out" / "a_labels.png"
    for args, code, message in [
        (
            (good, folders / "small.mat"),
            1,
            "cannot be compared with a ground truth of shape (5, 24)",
        ),
        ((good, folders / "broken.mat"), 1, "not a MATLAB file"),
        ((good, folders / "other.mat"), 1, "expected 'groundTruth', found 'x'"),
        ((folders / "other.mat", folders / "truth" / "a.mat"), 1, "expected 'segs' or 'ucm2'"),
        ((good, folders / "missing.mat"), 1, "no such file or folder"),
        ((folders / "empty", folders / "truth"), 1, "holds no label maps"),
        (
            (folders / "out" / "a_overlay.png", folders / "truth" / "a.mat"),
            1,
            "one integer per pixel",
        ),
        ((good, folders / "truth"), 2, "two files or two folders"),
    ]:
        result = run("evaluate", *args)
        assert result.exit_code == code
        assert result.stdout == ""
        assert message in result.stderr
        assert result.stderr.count("\n") == 1


def test_a_missing_ground_truth_does_not_stop_the_others(folders):
    (folders / "truth" / "b.mat").unlink()
    result = run("evaluate", folders / "out", folders / "truth")
    assert result.exit_code == 1
    assert "there is no ground truth b.*" in result.stderr
    assert "a   " in result.stdout
