from __future__ import annotations

import json

import numpy as np
import pytest
from helpers import run
from PIL import Image
from scipy.io import loadmat

from pfeseg.files.labels import read_labels
from pfeseg.files.stages import read_stage
from pfeseg.files.writing import write_png


@pytest.fixture
def chain(samples, tmp_path):
    """Run all stages by hand with settings that differ from the preset's."""
    image = samples / "chelsea.jpg"
    steps = [
        ("downsample", image, "--downsample", 5, "--max-size", 60, "-o", tmp_path / "image.npz"),
        ("graph", tmp_path / "image.npz", "--neighbours", 8, "--features", "lab",
         "-o", tmp_path / "graph.npz"),
        ("init", tmp_path / "image.npz", "-d", 7, "--assignment", "soft", "--seed", 5,
         "-o", tmp_path / "init.npz"),
        ("embed", tmp_path / "graph.npz", tmp_path / "init.npz",
         "--r-relaxed", 3, "--soc-iterations", 2, "-o", tmp_path / "embedding.npz"),
        ("cluster", tmp_path / "embedding.npz", image, "-k", 6, "--seed", 5,
         "-o", tmp_path / "labels.png"),
        ("merge", tmp_path / "embedding.npz", image, "--regions", 5,
         "--hierarchy", tmp_path / "chelsea_ucm.mat", "-o", tmp_path / "merged.png"),
        ("overlay", image, tmp_path / "labels.png", "-o", tmp_path / "overlay.png"),
    ]  # fmt: skip
    for step in steps:
        result = run(*step)
        assert result.exit_code == 0, result.stderr
        assert result.stdout == ""
    return tmp_path


def test_stages_chained_by_hand_equal_segment(chain, samples):
    result = run("segment", samples / "chelsea.jpg", "-o", chain / "whole", "--downsample", 5,
                 "--max-size", 60, "--neighbours", 8, "--features", "lab", "-d", 7,
                 "--assignment", "soft", "--seed", 5, "--r-relaxed", 3, "--soc-iterations", 2,
                 "-k", 6)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    for kind in ("labels", "overlay"):
        whole = chain / "whole" / f"chelsea_{kind}.png"
        assert (chain / f"{kind}.png").read_bytes() == whole.read_bytes()
    settings = ("--config", chain / "whole" / "chelsea.json", "--regions", 5)
    result = run("segment", samples / "chelsea.jpg", "-o", chain / "whole", *settings,
                 "--hierarchy", "--overwrite")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    whole = chain / "whole" / "chelsea_labels.png"
    assert (chain / "merged.png").read_bytes() == whole.read_bytes()
    here, there = (loadmat(folder / "chelsea_ucm.mat") for folder in (chain, chain / "whole"))
    assert (here["ucm2"] == there["ucm2"]).all()


def test_default_stages_equal_the_default_command(samples, tmp_path):
    image = samples / "rocket.jpg"
    for step in (
        ("downsample", image, "-o", tmp_path / "image.npz"),
        ("graph", tmp_path / "image.npz", "--seed", 2, "-o", tmp_path / "graph.npz"),
        ("init", tmp_path / "image.npz", "--seed", 2, "-o", tmp_path / "init.npz"),
        ("embed", tmp_path / "graph.npz", tmp_path / "init.npz", "-o", tmp_path / "Y.npz"),
        ("merge", tmp_path / "Y.npz", image, "-o", tmp_path / "merged.png"),
        ("segment", image, "--seed", 2, "-o", tmp_path),
        ("cluster", tmp_path / "Y.npz", image, "-k", 8, "-o", tmp_path / "clusters.png"),
        ("segment", image, "--seed", 2, "-k", 8, "-o", tmp_path / "k"),
        ("cluster", tmp_path / "Y.npz", image, "-k", 8, "--cluster", "pixels",
         "-o", tmp_path / "pixels.png"),
        ("segment", image, "--seed", 2, "-k", 8, "--cluster", "pixels", "-o", tmp_path / "p"),
    ):  # fmt: skip
        result = run(*step)
        assert result.exit_code == 0, result.stderr
    for ours, folder in (("merged", "."), ("clusters", "k"), ("pixels", "p")):
        whole = tmp_path / folder / "rocket_labels.png"
        assert (tmp_path / f"{ours}.png").read_bytes() == whole.read_bytes()


def test_clusters_of_regions_need_the_photograph(chain):
    result = run("cluster", chain / "embedding.npz", "-k", 4, "-o", chain / "new.png")
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "need the photograph; give it after the embedding, or --cluster pixels" in result.stderr
    assert not (chain / "new.png").exists()
    result = run("cluster", chain / "embedding.npz", "-k", 4, "--cluster", "pixels",
                 "-o", chain / "new.png")  # fmt: skip
    assert result.exit_code == 0, result.stderr
    labels = read_labels(chain / "new.png")
    assert labels.shape == (300, 451)
    assert labels.max() + 1 == 4


def test_graph_and_start_must_have_the_same_seed(samples, tmp_path):
    for step in (
        ("downsample", samples / "scene.png", "--max-size", 40, "-o", tmp_path / "image.npz"),
        ("graph", tmp_path / "image.npz", "--seed", 2, "-o", tmp_path / "graph.npz"),
        ("init", tmp_path / "image.npz", "-o", tmp_path / "init.npz"),
    ):
        assert run(*step).exit_code == 0
    result = run("embed", tmp_path / "graph.npz", tmp_path / "init.npz", "-o", tmp_path / "Y.npz")
    assert result.exit_code != 0
    assert "made with --seed 2" in result.stderr


def test_files_carry_the_settings_of_all_stages_before(chain):
    stage = read_stage(chain / "embedding.npz")
    settings, arrays = stage.settings, stage.arrays
    assert settings["max_size"] == 60
    assert settings["features"] == "lab"
    assert settings["assignment"] == "soft"
    assert settings["solver"]["r_relaxed"] == 3
    assert arrays["Y"].shape == (int(np.prod(arrays["size"])), 7)
    assert max(arrays["size"]) <= 60


def test_info_tells_what_each_file_holds(chain):
    for name, words in {
        "image.npz": ["kind: image", "image_size: 451 x 300"],
        "graph.npz": ["kind: graph", "edges:"],
        "init.npz": ["kind: init", "Y0: 2340 x 7 float32"],
        "embedding.npz": ["kind: embedding", "stop_reason: stage 1", "r_relaxed: 3"],
        "labels.png": ["kind: labels", "regions: 6"],
    }.items():
        result = run("info", chain / name)
        assert result.exit_code == 0
        for word in words:
            assert word in result.stdout, name
    facts = json.loads(run("info", "--json", chain / "graph.npz").stdout)
    assert facts["settings"]["neighbours"] == 8


def test_info_of_a_report_and_of_the_installation(samples, tmp_path):
    run("segment", samples / "scene.png", "--regions", 3, "-o", tmp_path)
    assert "regions: 3" in run("info", tmp_path / "scene.json").stdout
    bare = run("info").stdout
    for word in ("pfeseg:", "kernels:", "threads:", "numpy:", "scikit-learn:"):
        assert word in bare
    (tmp_path / "x.json").write_text("{}")
    (tmp_path / "y.json").write_text("no")
    for name in ("x.json", "y.json", "missing.npz", "z.txt"):
        result = run("info", tmp_path / name)
        assert result.exit_code == 1
        assert result.stderr.count("\n") == 1


def test_each_stage_says_when_it_is_handed_something_else(chain, samples):
    for args, expected, found in [
        (("graph", "embedding.npz"), "pfeseg downsample", "pfeseg embed"),
        (("init", "graph.npz"), "pfeseg downsample", "pfeseg graph"),
        (("embed", "init.npz", "graph.npz"), "pfeseg graph", "pfeseg init"),
        (("cluster", "graph.npz"), "pfeseg embed", "pfeseg graph"),
    ]:
        paths = [chain / name for name in args[1:]]
        new = chain / ("new.npy" if args[0] == "cluster" else "new.npz")
        result = run(args[0], *paths, "-o", new)
        assert result.exit_code == 1
        assert f"expected a file made by '{expected}', found one made by '{found}'" in result.stderr
        assert result.stderr.count("\n") == 1
        assert not new.exists()
    assert run("graph", samples / "coffee.jpg", "-o", chain / "g.npz").exit_code == 1


def test_stages_of_different_images_do_not_mix(chain, samples):
    run("downsample", samples / "scene.png", "-o", chain / "other.npz")
    run("init", chain / "other.npz", "-d", 3, "-o", chain / "other_init.npz")
    result = run("embed", chain / "graph.npz", chain / "other_init.npz", "-o", chain / "e.npz")
    assert result.exit_code == 1
    assert "different sizes" in result.stderr
    Image.open(samples / "chelsea.jpg").transpose(Image.Transpose.ROTATE_180).save(chain / "r.png")
    run("downsample", chain / "r.png", "--downsample", 5, "--max-size", 60, "-o", chain / "r.npz")
    run("init", chain / "r.npz", "-d", 7, "--assignment", "soft", "--seed", 5,
        "-o", chain / "r_init.npz")  # fmt: skip
    result = run("embed", chain / "graph.npz", chain / "r_init.npz", "-o", chain / "e.npz")
    assert result.exit_code == 1
    assert "belong to different images" in result.stderr
    for command in (("merge",), ("cluster", "-k", 3)):
        result = run(*command, chain / "embedding.npz", chain / "r.png", "-o", chain / "mixed.npy")
        assert result.exit_code == 1
        assert "belongs to another image of this size" in result.stderr
    assert not (chain / "e.npz").exists()


@pytest.mark.parametrize("kind", ["image", "graph", "init", "embedding"])
def test_a_damaged_stage_is_one_line(chain, samples, kind):
    stage = read_stage(chain / f"{kind}.npz")
    names = ("format_version", "kind", "pfeseg_version", "settings")
    header, arrays = {name: getattr(stage, name) for name in names}, stage.arrays
    odd = [np.array(0), np.array(-1), np.array("x"), np.zeros(2), np.zeros((2, 2)), np.array(1e300),
           np.array([3, 3]), np.array([-1, 5]), np.zeros(0), np.full((2, 3), 1j)]  # fmt: skip
    damaged = [(header, arrays | {name: value}) for name in arrays for value in odd]
    for name, array in arrays.items():
        if array.ndim and array.dtype.kind == "f":
            damaged.append(
                (header, arrays | {name: np.where(array == array.flat[0], np.nan, array)})
            )
        if array.ndim:
            damaged.append((header, arrays | {name: array[: len(array) // 2]}))
            damaged.append((header, arrays | {name: array.astype("U3")}))
        damaged.append((header, {key: value for key, value in arrays.items() if key != name}))
    for change in ({"format_version": 0}, {"format_version": -5}, {"format_version": 1.0},
                   {"format_version": True}, {"settings": []}, {"settings": {"seed": -1}},
                   {"settings": {"odd": 1}}, {"settings": {"solver": {"lam": "x"}}},
                   {"pfeseg_version": 3}, {"kind": []}):  # fmt: skip
        damaged.append((header | change, arrays))
    path, out = chain / "odd.npz", chain / "out.npz"
    quick = ("--soc-iterations", 0, "--relaxed-iterations", 1)
    steps = {
        "image": ("graph", path, "-o", out),
        "graph": ("embed", path, chain / "init.npz", *quick, "-o", out),
        "init": ("embed", chain / "graph.npz", path, *quick, "-o", out),
        "embedding": ("cluster", path, "--cluster", "pixels", "-o", chain / "odd.png"),
    }
    refusals = 0
    for other_header, other in damaged:
        np.savez(path, pfeseg=np.array(json.dumps(other_header)), **other)
        result = run(*steps[kind], "--overwrite")
        lines = result.stderr.count("\n")
        assert isinstance(result.exception, SystemExit | None), (result.exception, other_header)
        assert lines == 1, result.stderr
        if result.exit_code:
            refusals += 1
            assert "odd.npz" in result.stderr, result.stderr
            assert run("info", path).exit_code in (0, 1)
    assert refusals > len(damaged) // 2


def test_stages_do_not_overwrite_unasked(chain):
    again = ("graph", chain / "image.npz", "-o", chain / "graph.npz")
    assert run(*again).exit_code == 1
    assert run(*again, "--overwrite").exit_code == 0


@pytest.mark.parametrize("ending", ["tif", "npy"])
def test_cluster_writes_other_formats(chain, ending, samples):
    run("cluster", chain / "embedding.npz", samples / "chelsea.jpg", "-k", 6, "--seed", 5,
        "-o", chain / f"l.{ending}")  # fmt: skip
    assert (read_labels(chain / f"l.{ending}") == read_labels(chain / "labels.png")).all()
    assert run("cluster", chain / "embedding.npz", "-o", chain / "l.jpg").exit_code == 2


def test_cluster_takes_the_seed_of_the_stages_before(chain, samples):
    image = samples / "chelsea.jpg"
    run("cluster", chain / "embedding.npz", image, "-k", 6, "-o", chain / "l.png")
    assert (chain / "l.png").read_bytes() == (chain / "labels.png").read_bytes()


def test_outputs_of_the_wrong_kind_or_over_an_input_are_refused(chain, samples):
    for args in (
        ("downsample", samples / "scene.png", "-o", chain / "x.png"),
        ("overlay", samples / "scene.png", samples / "scene_labels.png", "-o", chain / "x.bmp"),
        ("graph", chain / "image.npz", "-o", chain / "image.npz", "--overwrite"),
    ):
        before = (chain / "image.npz").read_bytes()
        result = run(*args)
        assert result.exit_code == 2
        assert result.stderr.count("\n") == 1
        assert (chain / "image.npz").read_bytes() == before


def test_regions_are_counted_by_their_labels(samples, tmp_path):
    mask = tmp_path / "mask.png"
    write_png(mask, (read_labels(samples / "scene_labels.png") > 2).astype(np.uint8) * 255)
    assert "regions: 2" in run("info", mask).stdout
    result = run("overlay", samples / "scene.png", mask, "-o", tmp_path / "o.png")
    assert "overlay of 2 regions" in result.stderr


@pytest.mark.parametrize("ending", ["png", "jpg", "webp"])
def test_overlay_of_any_format_and_size(samples, tmp_path, ending):
    labels, output = samples / "scene_labels.png", tmp_path / f"o.{ending}"
    result = run("overlay", samples / "scene.png", labels, "-o", output, "--overlay-size", 60)
    assert result.exit_code == 0, result.stderr
    with Image.open(output) as picture:
        assert picture.format == {"png": "PNG", "jpg": "JPEG", "webp": "WEBP"}[ending]
        assert max(picture.size) == 60


def test_overlay_of_another_size_is_refused(chain, samples):
    result = run("overlay", samples / "coffee.jpg", chain / "labels.png", "-o", chain / "o.png")
    assert result.exit_code == 1
    assert "do not fit" in result.stderr
