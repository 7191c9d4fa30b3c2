"""Pages of results: what they are made of. tests/test_page_browser.py looks at them."""

from __future__ import annotations

import base64
import html
import json
import re
import shlex
import shutil
import subprocess
import zlib
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import SAMPLES, names, run, same_partition

from pfeseg import Hierarchy, Settings, segment
from pfeseg.cli.settings import make_settings, option_words
from pfeseg.errors import InvalidInputError
from pfeseg.files.page_data import read_page_data, write_page_data
from pfeseg.labels.following import follow
from pfeseg.labels.maps import CORNERS, SIDES, touching
from pfeseg.page.bsds import markdown_blocks
from pfeseg.page.html import page_html
from pfeseg.page.packing import pack_array, pack_labels, script_json
from pfeseg.page.record import make_record
from pfeseg.page.results import find_reports
from pfeseg.pictures.colours import nested_colours


@pytest.fixture(scope="module")
def cat() -> np.ndarray:
    return iio.imread(SAMPLES / "chelsea.jpg")[:200, :300]


@pytest.fixture
def out(cat, tmp_path) -> Path:
    """Segment one image; its results lie in a folder of their own."""
    iio.imwrite(tmp_path / "cat.png", cat)
    saved = ("--save", "labels,coco,page")
    assert run("segment", tmp_path / "cat.png", "-o", tmp_path / "out", *saved).exit_code == 0
    return tmp_path / "out"


def data_of(page: Path, name: str = "page-data") -> dict:
    found = re.search(rf'id="{name}">(.*?)</script>', page.read_text(), re.DOTALL)
    return json.loads(found[1])


def unpack(packed: dict) -> np.ndarray:
    content = zlib.decompress(base64.b64decode(packed["bytes"]))
    return np.frombuffer(content, "<" + packed["type"]).reshape(packed["shape"])


def colours_of(tree: Hierarchy, n_regions: int, colours: np.ndarray) -> np.ndarray:
    """Give each region of a cut the colour of the largest branch in it, merge by merge."""
    areas = np.bincount(tree.base.ravel()).astype(float)
    face = np.arange(len(areas))
    for kept, absorbed in tree.merges[: len(tree.merges) + 1 - n_regions]:
        if areas[absorbed] > areas[kept]:
            face[kept] = face[absorbed]
        areas[kept] += areas[absorbed]
    cut = tree.with_regions(n_regions)
    roots = np.zeros(int(cut.max()) + 1, dtype=int)
    absorbed = set(tree.merges[: len(tree.merges) + 1 - n_regions, 1].tolist())
    for root in set(range(len(areas))) - absorbed:
        roots[cut[tree.base == root][0]] = root
    return colours[face[roots]]


def test_nested_colours_tell_touching_regions_apart_at_every_level(cat):
    tree = segment(cat, Settings(max_size=60)).hierarchy
    colours = nested_colours(tree)
    for n_regions in (2, 3, 5, 10, 30, 100, len(tree.merges) + 1):
        shown = colours_of(tree, n_regions, colours)
        pairs = touching(tree.with_regions(n_regions), SIDES + CORNERS)
        assert len(pairs) >= n_regions - 1
        assert (shown[pairs[:, 0]] != shown[pairs[:, 1]]).any(axis=1).all()


def test_page_data_gives_back_hierarchy_channels_and_history(cat, tmp_path):
    mask = np.ones(cat.shape[:2], bool)
    mask[:50, :80] = False
    for inside in (None, mask):
        result = segment(cat, mask=inside)
        write_page_data(tmp_path / "x.npz", result)
        data = read_page_data(tmp_path / "x.npz")
        for n_regions in (1, 4, 20):
            expected = result.hierarchy.with_regions(n_regions)
            np.testing.assert_array_equal(data.hierarchy.with_regions(n_regions), expected)
        height, width = result.small_image.shape[:2]
        assert data.channels.shape == (8, height, width)
        assert (np.abs(data.channels).max(axis=(1, 2)) == 127).all()
        history = result.embedding.history
        assert data.objective.tolist() == [record.objective for record in history]
        known = [record.orthogonality_error for record in history]
        np.testing.assert_array_equal(data.orthogonality_error, np.array(known, float))


@pytest.mark.parametrize(
    "change",
    [
        {"base": np.full((4, 4), 7)},
        {"merges": np.zeros((3, 5), np.int32)},
        {"levels": np.zeros(2)},
        {"merges": np.full((3, 2), -1)},
        {"merges": np.array([[0, 1], [1, 0], [0, 3]])},
        {"base": np.array([[{}]], dtype=object)},
        {"channels": np.zeros(3)},
    ],
)
def test_damaged_page_data_is_refused(tmp_path, change):
    content = {
        "base": np.arange(4).reshape(2, 2),
        "merges": np.array([[0, 1], [0, 2], [0, 3]]),
        "levels": np.zeros(3),
        "outside": np.array(-1),
        "channels": np.zeros((1, 2, 2), np.int8),
        **{name: np.zeros(3) for name in ("objective", "orthogonality_error", "stage")},
    }
    np.savez(tmp_path / "good.npz", **content)
    assert read_page_data(tmp_path / "good.npz").hierarchy.with_regions(2).max() == 1
    np.savez(tmp_path / "bad.npz", **(content | change))
    with pytest.raises(InvalidInputError, match=r"bad\.npz: not data of a page"):
        read_page_data(tmp_path / "bad.npz")


@pytest.mark.parametrize("largest", [200, 60_000, 70_000])
def test_packed_labels_lose_nothing(largest):
    labels = np.random.default_rng(0).integers(0, largest, (37, 23))
    rows = unpack(pack_labels(labels)).copy()
    for y in range(1, len(rows)):
        rows[y] ^= rows[y - 1]
    np.testing.assert_array_equal(rows, labels)


def test_packed_arrays_lose_nothing():
    for array in (np.arange(-9, 9, dtype=np.int8), np.linspace(0, 1, 7, dtype=np.float32)):
        np.testing.assert_array_equal(unpack(pack_array(array)), array)


def test_no_text_ends_the_script_that_holds_it():
    hostile = "</script><!-- <script> \u2028 ' \" & \x00 \ud800"
    assert "<" not in script_json([hostile])
    assert json.loads(script_json([hostile])) == [hostile]
    page = "".join(page_html("batch", hostile, {"name": hostile}))
    assert page.count("</script>") == 2
    assert "<title>&lt;/script&gt;&lt;!--" in page
    page.encode("utf-8")


def test_a_page_asks_nothing_of_the_network():
    for kind in ("batch", "sweep", "bsds"):
        page = "".join(page_html(kind, "x", {}))
        addresses = set(re.findall(r"https?://[^\s\"']+", page))
        assert addresses == ({"http://www.w3.org/2000/svg"})  # a name, which is not loaded
        assert "default-src 'none'" in html.unescape(page)
        assert re.search(r"script-src 'sha256-\S{44}';", html.unescape(page))  # no other script


def test_reports_are_found_among_other_files(out):
    (out / "deeper").mkdir()
    shutil.copy(out / "cat.json", out / "deeper" / "cat.json")
    (out / "broken.json").write_text("{")
    (out / "other.json").write_text('{"pfeseg_version": "1"}')
    assert find_reports(out) == [out / "cat.json", out / "deeper" / "cat.json"]
    assert run("report", out, "-q").exit_code == 0
    assert [image["name"] for image in data_of(out / "report.html")["images"]] == [
        "cat",
        "deeper/cat",
    ]


def test_the_same_page_comes_with_one_and_two_jobs(out):
    shutil.copytree(out, out / "again")
    assert run("report", out, "-o", out / "1.html").exit_code == 0
    assert run("report", out, "-o", out / "2.html", "--jobs", 2).exit_code == 0
    assert (out / "1.html").read_bytes() == (out / "2.html").read_bytes()


def test_originals_are_looked_for_beside_the_results_too(out):
    def detail() -> dict:
        return make_record(out / "cat.json", "cat").detail

    assert detail()["original"].startswith("data:image/jpeg;base64,")
    original = out.parent / "cat.png"
    original.rename(out / "cat.png")
    found = detail()
    assert found["original"].startswith("data:image/jpeg;base64,")
    (out / "cat.png").unlink()
    gone = detail()
    assert gone["original"] is None
    assert "means" not in gone["maps"][0]
    assert gone["maps"][0]["labels"] == found["maps"][0]["labels"]


def test_what_is_missing_beside_a_report_is_done_without_or_told(out):
    (out / "cat_labels.png").rename(out / "kept.png")
    assert make_record(out / "cat.json", "cat").summary["status"] == "done"  # from the hierarchy
    (out / "cat_page.npz").unlink()
    summary = make_record(out / "cat.json", "cat").summary
    assert summary["status"] == "failed"
    assert summary["reason"].endswith("cat.json: no label map lies beside it")
    (out / "kept.png").rename(out / "cat_labels.png")
    (only,) = make_record(out / "cat.json", "cat").detail["maps"]
    assert only["kind"] == "labels"
    iio.imwrite(out / "cat_labels.png", np.zeros((3, 3), np.uint16))
    reason = make_record(out / "cat.json", "cat").summary["reason"]
    assert "expected labels of 300 x 200 pixels" in reason


HOSTILE = "</script><img src=x onerror=alert(1)>\u202e\x1b[0m"


@pytest.mark.parametrize(
    "change",
    [
        {"image_size": [HOSTILE, 2]},
        {"regions": HOSTILE},
        {"timings": {"read": "1"}},
        {"timings": {"read": float("nan")}},
        {"settings": [HOSTILE]},
        {"settings": {"seed": float("inf")}},
        {"warnings": HOSTILE},
        {"input": "\ud800"},
    ],
)
def test_a_hostile_report_costs_only_itself(out, change):
    shutil.copytree(out, out / "good")
    report = json.loads((out / "cat.json").read_text())
    (out / "cat.json").write_text(json.dumps(report | change))
    assert run("report", out, "-q").exit_code == 0
    images = data_of(out / "report.html")["images"]
    assert [image["status"] for image in images] == ["failed", "done"]
    assert images[0]["reason"].startswith(str(out / "cat.json"))


def test_the_command_line_of_a_result_holds_any_name(cat, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    name = "-a 'b' \\c\n\u202e$(x)é.png"
    iio.imwrite(tmp_path / name, cat[:60, :80])
    assert run("segment", f"./{name}", "--report", "-o", "out 1").exit_code == 0
    (report,) = (tmp_path / "out 1").glob("*.json")
    command = make_record(report.relative_to(tmp_path), "x").detail["command"]
    assert command.isprintable()
    words = subprocess.run(
        ["bash", "-c", f"printf '%s\\0' {command}"], capture_output=True, check=True
    ).stdout.split(b"\0")
    assert [word.decode() for word in words[:-1]] == [
        *("pfeseg", "segment", f"./{name}"),
        *("--config", str(report.relative_to(tmp_path))),
    ]


def test_another_image_of_the_same_name_is_not_the_original(out):
    with (out.parent / "cat.png").open("ab") as file:
        file.write(b"more")
    assert make_record(out / "cat.json", "cat").detail["original"] is None


def test_what_a_mask_leaves_out_is_white_in_the_original(cat, tmp_path):
    mask = np.ones(cat.shape[:2], np.uint8)
    mask[:100, :150] = 0
    iio.imwrite(tmp_path / "cat.png", cat)
    iio.imwrite(tmp_path / "mask.png", mask)
    options = ("--mask", tmp_path / "mask.png", "-o", tmp_path / "out")
    assert run("segment", tmp_path / "cat.png", *options).exit_code == 0
    address = make_record(tmp_path / "out" / "cat.json", "cat").detail["original"]
    shown = iio.imread(base64.b64decode(address.partition(",")[2]))
    assert (shown[:90, :140] > 250).all()
    assert (shown[110:, 160:].mean(axis=(0, 1)) < 200).all()


def test_labels_that_are_no_cut_of_the_hierarchy_are_shown_beside_it(cat, tmp_path):
    iio.imwrite(tmp_path / "cat.png", cat)
    options = ("-k", 4, "--hierarchy", "--save", "labels,page", "-o", tmp_path)
    assert run("segment", tmp_path / "cat.png", *options).exit_code == 0
    maps = make_record(tmp_path / "cat.json", "cat").detail["maps"]
    assert [map["kind"] for map in maps] == ["labels", "levels"]
    labels = unpack(maps[0]["labels"]).copy()
    for y in range(1, len(labels)):
        labels[y] ^= labels[y - 1]
    assert same_partition(labels, iio.imread(tmp_path / "cat_labels.png"))


def test_warnings_of_an_image_are_in_its_report_and_on_its_page(tmp_path):
    bands = np.random.default_rng(0).integers(0, 255, (40, 50, 5), dtype=np.uint8)
    np.save(tmp_path / "bands.npy", bands)
    assert run("segment", tmp_path / "bands.npy", "--report").exit_code == 0
    told = json.loads((tmp_path / "bands.json").read_text())["warnings"]
    assert told == ['5 bands, used 1,2,3; bands="all" uses all']
    assert data_of(tmp_path / "report.html")["images"][0]["status"] == "warned"
    assert data_of(tmp_path / "report.html", "image-0")["warnings"] == told


def test_the_page_of_a_batch_tells_failures_and_skipped_images(cat, tmp_path):
    iio.imwrite(tmp_path / "cat.png", cat)
    (tmp_path / "bad.png").write_bytes(b"")
    page = tmp_path / "out" / "report.html"
    command = ("segment", tmp_path, "-o", page.parent)
    assert run(*command, "--report").exit_code == 1
    first = data_of(page)["images"]
    assert [image["status"] for image in first] == ["done", "failed"]
    assert first[1]["reason"] == f"{tmp_path / 'bad.png'}: the file is empty"
    again = run(*command, "--report")
    assert again.exit_code == 1
    assert "use --overwrite to replace it, or --skip-existing" in again.stderr
    assert run(*command, "--report", "--skip-existing").exit_code == 1
    assert data_of(page)["images"] == first


def test_a_page_is_not_written_over_unasked(out):
    assert run("report", out).exit_code == 0
    refused = run("report", out)
    assert refused.exit_code == 1
    assert "report.html exists; use --overwrite" in refused.stderr
    assert run("report", out, "--overwrite").exit_code == 0
    assert run("report", out, "-o", out / "page.txt").exit_code == 2


def test_a_page_in_a_folder_that_is_no_folder_is_told_of(out, tmp_path):
    (tmp_path / "loop").symlink_to("loop")
    run("segment", tmp_path / "cat.png", "-o", out, "--template", "second")
    result = run("report", out, "-o", tmp_path / "loop" / "page.html")
    assert result.exit_code == 1
    assert "page.html: cannot be written" in result.stderr


def test_a_folder_without_results_is_told(tmp_path):
    for folder, reason in ((tmp_path, "found no report"), (tmp_path / "no", "there is none")):
        result = run("report", folder)
        assert result.exit_code == 1
        assert reason in result.stderr
        assert result.stderr.count("\n") == 1


def test_pages_of_sweeps_are_made_from_what_these_left(samples, tmp_path):
    args = ("sweep", "--max-size", 60, "-q", "--regions", "2:4", "-o", tmp_path)
    first = run(*args, samples / "chelsea.jpg", "--report")
    assert first.exit_code == 0, first.stderr
    page = tmp_path / "chelsea_sweep.html"
    before = page.read_bytes()
    assert "use --overwrite" in run("report", tmp_path).stderr
    page.unlink()
    again = run("report", tmp_path)
    assert again.exit_code == 0, again.stderr
    assert page.read_bytes() == before
    assert run(*args, samples / "coffee.jpg").exit_code == 0
    refused = run("report", tmp_path, "-o", tmp_path / "one.html")
    assert refused.exit_code == 2
    assert "holds 2 sweeps, each with a page of its own" in refused.stderr
    both = run("report", tmp_path, "--overwrite")
    assert both.exit_code == 0, both.stderr
    assert (tmp_path / "coffee_sweep.html").exists()
    assert not (tmp_path / "report.html").exists()


def test_a_sweep_beside_a_batch_has_its_own_page(samples, tmp_path):
    for args in (("segment", "--save", "labels"), ("sweep", "--levels", "0.4,0.5")):
        result = run(*args, samples / "coffee.jpg", "--max-size", 60, "-q", "-o", tmp_path)
        assert result.exit_code == 0, result.stderr
    result = run("report", tmp_path)
    assert result.exit_code == 0, result.stderr
    assert {"report.html", "coffee_sweep.html"} <= set(names(tmp_path))


def test_a_sweep_without_its_image_still_has_a_page(samples, tmp_path):
    image = tmp_path / "photo.jpg"
    shutil.copy(samples / "coffee.jpg", image)
    args = ("sweep", image, "--levels", "0.4,0.5", "--max-size", 60, "-q", "-o", tmp_path / "out")
    assert run(*args).exit_code == 0
    image.unlink()
    result = run("report", tmp_path / "out")
    assert result.exit_code == 0, result.stderr
    assert (tmp_path / "out" / "photo_sweep.html").stat().st_size > 10_000


@pytest.mark.parametrize("damage", ["cut", "no maps", "other maps", "no report"])
def test_damaged_data_of_a_sweep_are_refused(samples, tmp_path, damage):
    args = ("sweep", samples / "coffee.jpg", "--levels", "0.4,0.5", "--max-size", 60, "-q")
    assert run(*args, "-o", tmp_path).exit_code == 0
    path = tmp_path / "coffee_sweep.npz"
    content = dict(np.load(path))
    if damage == "no maps":
        np.savez(path, report=content["report"])
    elif damage == "other maps":
        np.savez(path, report=content["report"], maps=content["maps"][:1])
    elif damage == "no report":
        np.savez(path, report=np.frombuffer(b"{}", np.uint8), maps=content["maps"])
    else:
        path.write_bytes(path.read_bytes()[:-200])
    result = run("report", tmp_path)
    assert result.exit_code == 1
    assert result.stderr == f"Error: {path}: not data of a sweep that can be read\n"


def test_regions_keep_their_numbers_from_map_to_map():
    rng = np.random.default_rng(1)
    before = rng.integers(0, 6, (20, 30))
    before[0, :6] = range(6)
    renamed = rng.permutation(6)[before]
    first, second = follow([before, renamed])
    np.testing.assert_array_equal(first, before)
    np.testing.assert_array_equal(second, before)
    split = renamed.copy()
    split[:10][renamed[:10] == 2] = 6
    (_, _, third) = follow([before, renamed, split])
    assert len(np.unique(third)) == 7
    assert third.max() == 6  # a number that none had
    assert same_partition(third, split)
    assert (third == before).mean() > 0.9


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(seed=4, refine=False, neighbours=8, sigma="0.5rms", bands="2,3"),
        Settings.preset("paper", max_size=90),
        Settings(min_region=0.07),
        Settings(min_region=200),
        Settings(solver=Settings().solver.__class__(lam=5.0, precision="double")),
    ],
)
def test_options_make_the_settings_that_they_were_made_of(settings, monkeypatch, tmp_path):
    made = []
    monkeypatch.setattr(
        "pfeseg.cli.segment.make_settings", lambda **given: made.append(make_settings(**given))
    )
    words = shlex.split(shlex.join(option_words(settings)))
    run("segment", tmp_path / "none.png", *words)
    assert made[0].changed(cut=settings.cut, n_dims=settings.n_dims) == settings


def test_tables_are_taken_out_of_markdown():
    text = "# Title\n\nSome words.\n\n| a | b |\n|---|---|\n| x | 1 |\n| y | |\n"
    assert markdown_blocks(text) == [
        {"kind": "heading", "text": "Title"},
        {"kind": "text", "text": "Some words."},
        {"kind": "table", "head": ["a", "b"], "rows": [["x", "1"], ["y", ""]]},
    ]
