"""The command that clusters tables and graphs."""

from __future__ import annotations

import csv
import json

import numpy as np
import pytest
from helpers import names, run
from PIL import Image
from sklearn.datasets import load_iris, make_moons
from sklearn.metrics import adjusted_rand_score

from pfeseg.data.start import STARTS
from pfeseg.machine import started_machine


@pytest.fixture
def moons(tmp_path):
    X, y = make_moons(200, noise=0.05, random_state=1)
    lines = [f"p{k},{a},{b}" for k, (a, b) in enumerate(X.tolist())]
    (tmp_path / "moons.csv").write_text("point,x,y\n" + "\n".join(lines) + "\n")
    return tmp_path / "moons.csv", y


def clusters_of(path):
    with path.open() as file:
        rows = list(csv.reader(file))
    return rows[0], [row[0] for row in rows[1:]], np.array([int(row[1]) for row in rows[1:]])


def test_moons_from_a_table(moons, tmp_path):
    path, truth = moons
    done = run("cluster-data", path, "-k", 2, "-o", tmp_path / "out", "--save",
               "labels,embedding,picture")  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "200 points of 2 columns, standardised (--scale none" in done.output
    out = tmp_path / "out"
    assert names(out) == ["moons.json", "moons_clusters.csv", "moons_clusters.png",
                          "moons_embedding.npy"]  # fmt: skip
    header, ids, labels = clusters_of(out / "moons_clusters.csv")
    assert header == ["point", "cluster"]
    assert ids == [f"p{k}" for k in range(200)]
    assert adjusted_rand_score(truth, labels) == 1.0
    assert np.load(out / "moons_embedding.npy").shape == (200, 2)
    report = json.loads((out / "moons.json").read_text())
    assert report["sizes"] == np.bincount(labels).tolist()
    assert report["settings"]["n_clusters"] == 2
    picture = np.asarray(Image.open(out / "moons_clusters.png"))
    colours = {tuple(c) for c in picture.reshape(-1, 3).tolist() if max(c) - min(c) > 150}
    assert len(colours) >= 2


def test_nodes_of_a_graph(tmp_path):
    (tmp_path / "friends.txt").write_text(
        "ann bob 3\nbob cid 3\nann cid 2\ncid dan 0.1\ndan eve 3\neve fay 3\ndan fay 2\n"
    )
    done = run("cluster-data", tmp_path / "friends.txt", "--graph", "-k", 2, "--save",
               "labels,picture")  # fmt: skip
    assert done.exit_code == 0, done.output
    header, ids, labels = clusters_of(tmp_path / "friends_clusters.csv")
    assert header == ["node", "cluster"]
    assert ids == ["ann", "bob", "cid", "dan", "eve", "fay"]
    assert len(set(labels[:3])) == len(set(labels[3:])) == 1 < len(set(labels))
    assert (tmp_path / "friends_clusters.png").exists()


def test_a_bad_file_does_not_stop_the_others(moons, tmp_path):
    path, _ = moons
    (tmp_path / "bad.csv").write_text("x,y\n1,2\n,4\n")
    done = run("cluster-data", tmp_path / "bad.csv", path, "-k", 2, "--json")
    assert done.exit_code == 1
    assert "bad.csv: row 2 has no value in column 'x'" in done.output
    assert "--drop x" in done.output
    assert "2 files: 1 done, 1 failed" in done.output
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    assert [line["status"] for line in lines] == ["failed", "done"]
    assert lines[1]["clusters"] == 2


def test_results_are_kept_unless_told_otherwise(moons):
    path, _ = moons
    assert run("cluster-data", path, "-k", 2, "-q").exit_code == 0
    again = run("cluster-data", path, "-k", 3)
    assert again.exit_code == 1
    assert "exists" in again.output
    assert run("cluster-data", path, "-k", 3, "--overwrite", "-q").exit_code == 0
    assert clusters_of(path.with_name("moons_clusters.csv"))[2].max() == 2


def test_the_same_seed_gives_the_same_bytes_with_jobs(moons, tmp_path):
    path, _ = moons
    other = tmp_path / "iris.tsv"
    np.savetxt(other, load_iris().data, delimiter="\t")
    for out, jobs in (("one", 1), ("two", 2)):
        done = run("cluster-data", path, other, "-k", 3, "-o", tmp_path / out, "--jobs", jobs,
                   "--save", "labels,embedding")  # fmt: skip
        assert done.exit_code == 0, done.output
    for name in names(tmp_path / "one"):
        if not name.endswith(".json"):  # which tell times
            one, two = ((tmp_path / out / name).read_bytes() for out in ("one", "two"))
            assert one == two, name


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["-k", "0"], "neither 'auto' nor a whole number"),
        (["-k", "500"], "-k must be at most the number of points"),
        (["--drop", "z"], "--drop names the column 'z'"),
        (["--id-column", "z"], "--id-column names the column 'z'"),
    ],
)
def test_wrong_options_are_told_in_one_line(moons, arguments, message):
    path, _ = moons
    done = run("cluster-data", path, *arguments)
    assert done.exit_code in (1, 2)
    assert message in done.stderr
    assert len(done.stderr.strip().splitlines()) == 1


def test_folders_and_clashes_are_refused(moons, tmp_path):
    path, _ = moons
    done = run("cluster-data", tmp_path)
    assert done.exit_code == 1
    assert "a folder; name its files" in done.stderr
    (tmp_path / "moons.txt").write_text("1 2\n3 4\n")
    done = run("cluster-data", path, tmp_path / "moons.txt")
    assert done.exit_code == 2
    assert "would both write" in done.stderr


def test_what_is_done_is_left_out_by_its_report(moons, tmp_path):
    path, _ = moons
    (tmp_path / "line.csv").write_text("x\n" + "\n".join(map(str, range(30))) + "\n")
    out = tmp_path / "out"
    words = ("cluster-data", path, tmp_path / "line.csv", "-k", 2, "-o", out, "--skip-existing")
    assert run(*words).exit_code == 0
    first = {name: (out / name).read_bytes() for name in names(out)}
    report = json.loads(first["moons.json"])
    assert report["files"] == {"moons_clusters.csv": len(first["moons_clusters.csv"])}
    assert report["input_bytes"] == path.stat().st_size
    assert report["method_version"] == 1
    (out / "line_clusters.csv").unlink()
    again = run(*words, "--save", "labels,embedding", "--json")
    assert again.exit_code == 0, again.stderr
    rows = [json.loads(line) for line in again.stdout.splitlines()]
    assert [sorted(row["results"]) for row in rows] == [
        ["embedding", "report"], ["embedding", "labels", "report"],
    ]  # fmt: skip
    assert (out / "line_clusters.csv").read_bytes() == first["line_clusters.csv"]
    told = json.loads((out / "moons.json").read_text())["files"]
    assert told == {n: (out / n).stat().st_size for n in ("moons_clusters.csv",
                                                          "moons_embedding.npy")}  # fmt: skip
    assert "0 done, 0 failed, 2 skipped" in run(*words).stderr
    for other, message in (
        (("-k", 3), "made with -k 2, not with -k 3"),
        (("--scale", "none"), "made with --scale standard, not with --scale none"),
        (("--neighbours", 5), "made with --neighbours 10, not with --neighbours 5"),
        (("--graph",), "made without --graph, not with --graph"),
        (("--drop", "x"), "made without --drop, not with --drop x"),
    ):
        refused = run(*words, *other)
        assert refused.exit_code == 1
        assert message in refused.stderr
        assert "add --overwrite to redo" in refused.stderr
        assert refused.stderr.count("\n") == 1
    path.write_text(path.read_text() + "p200,0,0\n")
    assert "moons.csv has changed since" in run(*words).stderr
    redone = run(*words, "--overwrite")
    assert "1 done, 0 failed, 1 skipped" in redone.stderr
    assert len(clusters_of(out / "moons_clusters.csv")[1]) == 201


def test_strays_are_cleared_and_nothing_that_no_report_tells_of_is_replaced(moons, tmp_path):
    path, _ = moons
    stray = tmp_path / f".pfeseg-{started_machine()}-0123456789abcdef.part"
    stray.write_text("half")
    (tmp_path / "moons_clusters.csv").write_text("precious")
    kept = run("cluster-data", path, "-k", 2, "--skip-existing")
    assert kept.exit_code == 1
    assert "moons_clusters.csv: is there, but is not what this run makes" in kept.stderr
    assert (tmp_path / "moons_clusters.csv").read_text() == "precious"
    assert names(tmp_path) == ["moons.csv", "moons_clusters.csv"]


@pytest.mark.parametrize("start", STARTS)
def test_every_start_can_be_chosen(moons, tmp_path, start):
    result = run("cluster-data", moons[0], "-k", 2, "--init", start, "-o", tmp_path / "out")
    assert result.exit_code == 0, result.output
    assert json.loads((tmp_path / "out" / "moons.json").read_text())["start"] == start
