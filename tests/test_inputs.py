from __future__ import annotations

import pickle
from pathlib import Path

import pytest
from helpers import planned

from pfeseg import InvalidInputError
from pfeseg.files.inputs import expand_inputs, parse_shard, read_name_list, take_shard
from pfeseg.files.names import ResultPaths, check_plan, check_template, result_paths


@pytest.fixture
def tree(tmp_path, monkeypatch) -> Path:
    for name in ("b.jpg", "a.PNG", "notes.txt", ".hidden.png", "sub/c.tif", "sub/deep/d.gif"):
        path = tmp_path / "in" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    monkeypatch.chdir(tmp_path)
    return tmp_path


def found(*names: str, recursive: bool = False) -> list[str]:
    return [str(item.path) for item in expand_inputs(names, recursive).inputs]


def test_files_folders_and_patterns(tree):
    assert found("in/b.jpg") == ["in/b.jpg"]
    assert found("in") == ["in/a.PNG", "in/b.jpg"]
    assert found("in", recursive=True) == [
        "in/a.PNG", "in/b.jpg", "in/sub/c.tif", "in/sub/deep/d.gif",
    ]  # fmt: skip
    assert found("in/*.jpg") == ["in/b.jpg"]
    assert found("in/**/*.gif") == ["in/sub/deep/d.gif"]
    assert found("-") == ["-"]
    assert found("in/notes.txt") == ["in/notes.txt"]  # named outright


def test_each_file_once(tree):
    assert found("in/b.jpg", "in", "./in/b.jpg", str(tree / "in" / "b.jpg")) == [
        "in/b.jpg", "in/a.PNG",
    ]  # fmt: skip


def test_subfolders_are_mirrored(tree):
    items = expand_inputs(["in"], recursive=True).inputs
    assert [str(item.subfolder) for item in items] == [".", ".", "sub", "sub/deep"]


def test_names_with_pattern_characters_are_files_first(tree):
    (tree / "x[1].png").touch()
    assert found("x[1].png") == ["x[1].png"]


def test_problems_are_kept_for_the_report(tree):
    (tree / "link.png").symlink_to("gone.png")
    (tree / "bare").mkdir()
    (tree / "outer" / "inner").mkdir(parents=True)
    given = ["no.png", "*.bmp", "bare", "outer", "link.png", "https://there.org/a.png"]
    problems = [item.problem for item in expand_inputs(given).inputs]
    assert problems == [
        "no.png: no such file",
        "*.bmp: no file matches this pattern",
        "bare: this folder holds no images",
        "outer: this folder holds no images; use -r to look into its subfolders too",
        "link.png: broken link to gone.png",
        "https://there.org/a.png: an address; download the image, and give its file",
    ]


def test_earlier_results_are_no_inputs(tree):
    for name in (
        "b_labels.png",
        "b_overlay.png",
        "b_overlay.jpg",
        "b_overlay.webp",
        "x-jpg_labels.tif",
        "x-jpg.json",
        "my_labels.png",
    ):
        (tree / "in" / name).touch()  # b's report is missing, as after a killed run
    assert found("in") == ["in/a.PNG", "in/b.jpg", "in/my_labels.png"]
    assert found("in/*.png") == ["in/my_labels.png"]
    assert found("in/b_labels.png") == ["in/b_labels.png"]  # named outright


def left_out(*names: str, recursive: bool = False) -> str:
    return expand_inputs(names, recursive).left_out_line()


def test_what_is_left_out_of_folders_is_counted_by_ending(tree, monkeypatch):
    monkeypatch.setattr("pfeseg.files.inputs.reads_heif", lambda: False)
    assert left_out("in") == "left out 1 .txt"
    assert left_out("in/b.jpg", "in/*", "-", "no.png") == ""
    for name in ("x.MOV", "y.mov", "Makefile", "b_labels.npy", "b.json", "b_masks/0001.png"):
        (tree / "in" / name).parent.mkdir(exist_ok=True)
        (tree / "in" / name).touch()  # b's are results
    several = "2 .mov, 1 without an ending, 1 .txt"
    assert left_out("in", recursive=True) == f"left out {several}"
    assert left_out("in", "in", "in/notes.txt") == "left out 2 .mov, 1 without an ending"
    for name in ("p.heic", "q.HEIC", "sub/r.heif"):
        (tree / "in" / name).touch()
    remedy = "pip install pillow-heif reads them"
    assert left_out("in") == f"left out 2 .heic: {remedy}; {several}"
    assert left_out("in/sub") == f"left out 1 .heif: {remedy}"
    (tree / "in/sub/cube.npy").touch()
    named = "name them to read them, as 'FOLDER/*.npy'"
    assert left_out("in/sub") == f"left out 1 .heif: {remedy}; 1 .npy: {named}"


def test_heic_is_found_where_it_can_be_read(tree, monkeypatch):
    monkeypatch.setattr("pfeseg.files.inputs.reads_heif", lambda: True)
    for name in ("p.HEIC", "q.avif"):
        (tree / "in" / name).touch()
    assert found("in") == ["in/a.PNG", "in/b.jpg", "in/p.HEIC", "in/q.avif"]
    assert left_out("in") == "left out 1 .txt"


def test_odd_names(tree):
    assert expand_inputs([""]).inputs[0].problem.startswith("an empty name")
    assert "cannot be read" in expand_inputs(["x" * 300]).inputs[0].problem
    (tree / "-").touch()
    assert found("./-") == [str(tree / "-")]
    assert found("-") == ["-"]


def test_links_to_one_file_are_different_inputs(tree):
    (tree / "in" / "c.jpg").symlink_to(tree / "in" / "b.jpg")
    assert found("in") == ["in/a.PNG", "in/b.jpg", "in/c.jpg"]


def test_name_lists():
    assert read_name_list(b"a b.png\n\n\xc3\xa4.png\r\n") == ["a b.png", "ä.png"]
    assert read_name_list(b"a\nb.png\0c.png\0") == ["a\nb.png", "c.png"]
    assert read_name_list(b"") == []
    assert read_name_list("\ufeffa\u2028b.png\n".encode()) == ["a\u2028b.png"]


def test_shards_part_the_inputs(tree):
    items = expand_inputs(["in"], recursive=True).inputs
    shards = [take_shard(items, parse_shard(f"{i}/3")) for i in (1, 2, 3)]
    assert sorted(str(i.path) for shard in shards for i in shard) == found("in", recursive=True)
    for text in ("0/3", "4/3", "1", "a/b", "1/0"):
        with pytest.raises(InvalidInputError, match="i/n"):
            parse_shard(text)


def test_result_names():
    names = result_paths(
        Path("x/photo.jpg"), Path("out"), ["labels"], template="{parent}-{stem}-{ext}",
        labels_format="tif",
    )  # fmt: skip
    assert {kind: str(path) for kind, path in names.items()} == {
        "labels": "out/x-photo-jpg_labels.tif", "report": "out/x-photo-jpg.json",
    }  # fmt: skip
    assert list(names)[-1] == "report"


@pytest.mark.parametrize(
    "template",
    ["{name}", "{stem", "{0}", "", "/etc/{stem}", "../{stem}", "{stem.x}", "{stem[a]}", "{stem}/"],
)
def test_wrong_templates_are_refused(template):
    with pytest.raises(InvalidInputError, match="template"):
        check_template(template)


@pytest.mark.parametrize("source", ["noext", "-", "...png"])
def test_templates_never_leave_the_folder(source):
    with pytest.raises(InvalidInputError, match="below the folder"):
        result_paths(
            Path(source), Path("out"), [], labels_format="png",
            template="{stem}/a" if source == "...png" else "{ext}/{stem}",
        )  # fmt: skip


def test_paths_of_results_are_a_mapping():
    paths = ResultPaths(Path("out"), "a", {"labels": "_labels.png", "report": ".json"})
    assert dict(paths) == {"labels": Path("out/a_labels.png"), "report": Path("out/a.json")}
    assert paths.names == [path.name for path in paths.values()]
    assert dict(paths.only(["report"])) == {"report": Path("out/a.json")}
    assert dict(pickle.loads(pickle.dumps(paths))) == dict(paths)
    assert "overlay" not in paths


def test_links_hide_no_clash(tmp_path):
    (tmp_path / "real").mkdir()
    for link in ("one", "two"):
        (tmp_path / link).symlink_to(tmp_path / "real")
    a, b = tmp_path / "one" / "a.png", tmp_path / "two" / "a.jpg"
    with pytest.raises(InvalidInputError, match="would both write"):
        check_plan({p: planned("labels", p.parent / "a_labels.png") for p in (a, b)})
    with pytest.raises(InvalidInputError, match="is an input"):
        check_plan({a: planned("overlay", tmp_path / "two" / "x.png"),
                    tmp_path / "one" / "x.png": planned("labels", tmp_path / "y.png")})  # fmt: skip


def test_plans_that_cannot_work_are_refused(tmp_path):
    a, b = tmp_path / "a" / "x.jpg", tmp_path / "b" / "x.jpg"
    same = planned("labels", tmp_path / "x_labels.png")
    with pytest.raises(InvalidInputError, match="would both write"):
        check_plan({a: same, b: same})
    with pytest.raises(InvalidInputError, match="is an input"):
        check_plan({a: planned("labels", b), b: planned("labels", tmp_path / "y.png")})
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInputError, match="is a file"):
        check_plan({a: planned("labels", tmp_path / "file" / "out" / "x.png")})
    check_plan({a: planned("labels", tmp_path / "new" / "folder" / "x.png")})
