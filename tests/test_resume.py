"""What ``pfeseg segment --skip-existing`` takes for done."""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, run

QUICK = ("-d", 3, "--soc-iterations", 1, "--relaxed-iterations", 5)


@pytest.fixture
def photos(tmp_path):
    """Make a folder of three small images."""
    rng = np.random.default_rng(0)
    (tmp_path / "in").mkdir()
    for name in ("a.png", "b.png", "c.png"):
        colours = rng.integers(0, 256, (3, 3, 3), dtype=np.uint8)
        iio.imwrite(tmp_path / "in" / name, colours.repeat(16, 0).repeat(12, 1))
    return tmp_path / "in"


@pytest.fixture
def done(photos):
    """Segment one of them, results beside it."""
    assert run("segment", photos / "a.png", *QUICK).exit_code == 0
    return photos


def again(folder, *args: object, name: str = "a.png"):
    return run("segment", folder / name, *QUICK, "--skip-existing", *args)


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def test_a_batch_is_resumed(photos, tmp_path):
    out = tmp_path / "out"
    run("segment", photos, "-o", out, *QUICK)
    first = contents(out)
    (out / "b.json").unlink()  # as if killed before the last file
    times = {name: (out / name).stat().st_mtime_ns for name in ("a.json", "c.json")}
    refused = run("segment", photos, "-o", out, *QUICK)
    assert refused.exit_code == 1
    assert "--skip-existing" in refused.stderr
    assert not (out / "b.json").exists()
    resumed = run("segment", photos, "-o", out, "--skip-existing", *QUICK)
    assert resumed.exit_code == 0, resumed.stderr
    assert "3 images: 1 done, 0 failed, 2 skipped" in resumed.stderr
    assert (out / "b.json").exists()
    assert times == {name: (out / name).stat().st_mtime_ns for name in times}
    assert {n: c for n, c in contents(out).items() if n != "b.json"} == {
        n: c for n, c in first.items() if n != "b.json"
    }


def test_a_batch_beside_its_inputs_is_resumed(photos):
    run("segment", photos, *QUICK)
    (photos / "b.json").unlink()
    resumed = run("segment", photos, "--skip-existing", "--json", *QUICK)
    assert resumed.exit_code == 0, resumed.stderr
    rows = [json.loads(line) for line in resumed.stdout.splitlines()]
    assert sorted(row["status"] for row in rows) == ["done", "skipped", "skipped"]


def test_what_is_done_and_what_is_chosen_by_itself_is_skipped(done):
    before = contents(done)
    for args in ((), ("--save", "labels"), ("--threads", 1)):
        skipped = again(done, *args, "--json")
        assert json.loads(skipped.stdout)["status"] == "skipped"
    assert contents(done) == before
    auto = ("segment", done / "b.png", "-d", "auto", "-k", "auto", "--stretch", "1:99", "--json")
    assert json.loads(run(*auto).stdout)["status"] == "done"
    assert json.loads(run(*auto, "--skip-existing").stdout)["status"] == "skipped"


def test_results_that_are_missing_or_empty_are_made_again(done):
    before = contents(done)
    (done / "a_overlay.png").unlink()
    (done / "a_labels.png").write_bytes(b"")
    redone = again(done)
    assert redone.exit_code == 0, redone.stderr
    assert {**contents(done), "a.json": b""} == {**before, "a.json": b""}
    more = again(done, "--save", "labels,regions", "--json")
    assert list(json.loads(more.stdout)["results"]) == ["regions", "report"]
    files = json.loads((done / "a.json").read_text())["files"]
    assert files == {
        name: (done / name).stat().st_size
        for name in ("a_labels.png", "a_overlay.png", "a_regions.csv")
    }
    (done / "a.json").write_bytes(b"")
    assert json.loads(again(done, "--json").stdout)["status"] == "done"
    assert (done / "a.json").stat().st_size > 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("-k", 4), "made without --level, not with -k 4"),
        (("--tol", 0.5), "not with --tol 0.5"),
        (("--seed", 1), "made with --seed 0, not with --seed 1"),
        (("--nodata", 7), "made without --nodata, not with --nodata 7.0"),
        (("--overlay-size", 9), "made without --overlay-size, not with --overlay-size 9"),
    ],
)
def test_results_of_other_settings_are_refused_or_made_again(done, args, message):
    before = contents(done)
    refused = again(done, *args)
    assert refused.exit_code == 1
    assert message in refused.stderr
    assert "--overwrite" in refused.stderr
    assert refused.stderr.count("\n") == 1
    assert contents(done) == before
    assert json.loads(again(done, *args, "--overwrite", "--json").stdout)["status"] == "done"
    assert json.loads(again(done, *args, "--json").stdout)["status"] == "skipped"


def test_an_input_that_changed_is_not_done(done):
    os.utime(done / "a.png", ns=(1, 1))
    assert "a.png has changed since" in again(done).stderr
    shutil.copy(done / "b.png", done / "a.png")
    assert "a.png has changed since" in again(done).stderr
    assert again(done, "--overwrite").exit_code == 0
    assert again(done).exit_code == 0


def test_reports_of_earlier_versions_match_nothing(done, monkeypatch):
    report = json.loads((done / "a.json").read_text())
    for name in ("method_version", "files"):
        old = {key: value for key, value in report.items() if key != name}
        (done / "a.json").write_text(json.dumps(old | {"pfeseg_version": "0.1.0"}))
        assert "by an earlier version (0.1.0)" in again(done).stderr
    (done / "a.json").write_text(json.dumps(report | {"method_version": 0}))
    assert "by version 0 of the method" in again(done).stderr
    for odd in ("[]", "{", '{"a": 1}', '{"pfeseg_version": 1, "files": 3}'):
        (done / "a.json").write_text(odd)
        refused = again(done)
        assert refused.exit_code == 1
        assert refused.stderr.count("\n") == 1
        assert (done / "a.json").read_text() == odd


def test_what_no_report_tells_of_is_never_replaced(done):
    (done / "b_labels.png").write_text("precious")
    failed = again(done, name="b.png")
    assert failed.exit_code == 1
    assert "b_labels.png: is there, but is not what this run makes" in failed.stderr
    assert [name for name in names(done) if name.startswith("b")] == ["b.png", "b_labels.png"]
    assert (done / "b_labels.png").read_text() == "precious"
    (done / "a_regions.csv").write_text("precious")
    assert "a.json does not list it" in again(done, "--save", "regions").stderr
    (done / "a_labels.png").write_text("precious")
    assert "a_labels.png: has 8 bytes" in again(done).stderr


def test_volumes_are_resumed_too(tmp_path):
    volume = np.zeros((6, 20, 24), np.uint8)
    volume[:, :, :10], volume[3:, 10:] = 90, 200
    np.save(tmp_path / "v.npy", volume)
    usual = ("segment", tmp_path / "v.npy", "--volume", "-k", 3, "-o", tmp_path / "out")
    assert run(*usual).exit_code == 0
    first = contents(tmp_path / "out")
    report = json.loads(first["v.json"])
    assert report["files"] == {name: len(first[name]) for name in ("v_labels.tif", "v_overlay.png")}
    assert run(*usual, "--skip-existing").exit_code == 0
    assert contents(tmp_path / "out") == first
    for other, message in ((("-k", 4), "-k 3, not with -k 4"), (("--spacing", "2,1,1"), "spacing")):
        refused = run(*usual, "--skip-existing", *other)
        assert refused.exit_code == 1
        assert message in refused.stderr
    (tmp_path / "out" / "v_overlay.png").unlink()
    assert run(*usual, "--skip-existing").exit_code == 0
    assert contents(tmp_path / "out").keys() == first.keys()
    spaced = (*usual, "--skip-existing", "--spacing", "2,1,1")
    assert run(*spaced, "--overwrite").exit_code == 0
    assert "done before" in run(*spaced).stderr


def test_tiled_rasters_are_resumed_too(photos):
    usual = ("segment", photos / "a.png", "--tile", 64, *QUICK)
    assert run(*usual).exit_code == 0
    first = contents(photos)
    assert json.loads(first["a.json"])["files"].keys() == {"a_labels.tif", "a_overlay.png"}
    assert "done before" in run(*usual, "--skip-existing").stderr
    for other, message in (((), "not without --tile"), (("--tile", 80), "not with --tile 80")):
        words = ("segment", photos / "a.png", *QUICK, "--skip-existing", "--labels-format", "tif")
        assert message in run(*words, *other).stderr
    (photos / "a_labels.tif").unlink()
    assert run(*usual, "--skip-existing").exit_code == 0
    again = contents(photos)
    assert {n: c for n, c in again.items() if n != "a.json"} == {
        n: c for n, c in first.items() if n != "a.json"
    }
    assert json.loads(again["a.json"])["files"] == json.loads(first["a.json"])["files"]


def test_what_lies_beside_a_label_map_belongs_to_it(photos):
    (photos / "a.pgw").write_text("10\n0\n0\n-10\n500000\n5000000\n")
    assert again(photos).exit_code == 0
    first = contents(photos)
    told = json.loads(first["a.json"])["files"]
    assert told["a_labels.qml"] == len(first["a_labels.qml"])
    assert told["a_labels.png.aux.xml"] == len(first["a_labels.png.aux.xml"])
    assert "done before" in again(photos).stderr
    (photos / "a_labels.qml").unlink()
    assert again(photos).exit_code == 0
    assert contents(photos)["a_labels.qml"] == first["a_labels.qml"]
    (photos / "a_labels.qml").write_text("of somebody")
    assert "a_labels.qml: has 11 bytes" in again(photos).stderr
