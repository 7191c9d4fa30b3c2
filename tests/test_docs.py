"""What is written about the commands is true."""

from __future__ import annotations

import importlib.util
import json
import re
import shlex
import shutil
import sys
from dataclasses import fields
from pathlib import Path

import click
import imageio.v3 as iio
import numpy as np
import pytest
from helpers import run

from pfeseg import Settings, SolverSettings
from pfeseg.cli import COMMANDS, main
from pfeseg.cli.settings import CUT_OPTIONS

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from measuring import SIZE_PARTS, Figure

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()
PAGE = (ROOT / "docs" / "commands.md").read_text()


def load_maker():
    spec = importlib.util.spec_from_file_location("maker", ROOT / "docs" / "make_commands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def options_of(name: str) -> list[click.Parameter]:
    return main.get_command(click.Context(main), name).params


def test_the_commands_page_is_up_to_date():
    fold = re.compile(r"\s+")  # releases of click break lines differently
    assert fold.sub(" ", load_maker().commands_page()) == fold.sub(" ", PAGE), "run 'make docs'"


def test_help_pages_show_no_control_words():
    assert "\\b" not in PAGE


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name):
    section = PAGE.split(f"## pfeseg {name}\n")[1].split("\n## ")[0]
    for option in options_of(name):
        if isinstance(option, click.Option):
            assert option.help, option.name
            for flag in option.opts:
                assert re.search(rf"(^|[\s,]){re.escape(flag)}\b", section), flag
    assert f"`pfeseg {name}" in README or f"pfeseg {name} " in README


def test_every_setting_is_an_option_of_segment_and_of_one_stage():
    settings = {f.name for f in fields(Settings)} - {"solver", "cut"}
    settings |= {f.name for f in fields(SolverSettings)} | set(CUT_OPTIONS)
    assert settings <= {option.name for option in options_of("segment")}
    stages = ("downsample", "graph", "init", "embed", "merge", "cluster", "clean")
    assert settings - {"method"} <= {
        option.name for stage in stages for option in options_of(stage)
    }


def write_scene(path: Path) -> None:
    """Write a GeoTIFF of four bands: a sample image, and its red again as a fourth."""
    rasterio = pytest.importorskip("rasterio", reason="pfeseg[geo] is not installed")
    image = iio.imread(ROOT / "sample_images" / "scene.png")
    image = np.dstack([image, image[..., 0]])
    height, width, bands = image.shape
    with rasterio.open(
        path, "w", driver="GTiff", width=width, height=height, count=bands, dtype=image.dtype,
        crs="EPSG:32633", transform=rasterio.transform.from_origin(5e5, 5e6, 10, 10),
    ) as data:  # fmt: skip
        data.write(np.moveaxis(image, 2, 0))


@pytest.fixture
def desk(samples, tmp_path, monkeypatch) -> Path:
    """Make the folder in which the README's examples are meant to run."""
    shutil.copy(samples / "chelsea.jpg", tmp_path / "photo.jpg")
    (tmp_path / "photos" / "holidays").mkdir(parents=True)
    shutil.copy(samples / "scene.png", tmp_path / "photos" / "holidays")
    shutil.copytree(samples, tmp_path / "sample_images")
    write_scene(tmp_path / "scene.tif")
    rows = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([0, 8, 16], 30)[:, None]
    np.savetxt(tmp_path / "measurements.csv", rows, delimiter=",", header="x,y", comments="")
    (tmp_path / "friends.txt").write_text("ann bob\nbob cid\nann cid\ndan eve\ncid dan .1\n")
    (tmp_path / "list.txt").write_text("photos/holidays/scene.png\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_every_shell_example_of_the_readme_runs(desk):
    lines = [
        line
        for block in re.findall(r"```sh\n(.*?)```", README, re.DOTALL)
        for line in block.splitlines()
        if line.startswith("pfeseg ")
    ]
    assert len(lines) >= 10
    for line in lines:
        result = run(*shlex.split(line, comments=True)[1:])
        assert result.exit_code == 0, f"{line}\n{result.stderr}"


def test_every_python_example_of_the_readme_runs(desk):
    blocks = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len(blocks) == 4
    for block in blocks:
        names: dict[str, object] = {}
        exec(block, names)
        # A comment behind an expression states its value.
        for expression, value in re.findall(
            r"^(\S.*?)  # (array\(.*\)|True)$", block, re.MULTILINE
        ):
            assert repr(eval(expression, names)).startswith(value.rstrip(")")), expression
    assert (desk / "overlay.png").exists()


def test_figures_of_speed_in_the_readme_are_those_that_were_measured():
    record = json.loads((ROOT / "benchmarks" / "speed.json").read_text())
    figures = {figure["what"]: Figure(**figure) for figure in record["figures"]}
    section = README[README.index("## How fast it is") : README.index("## Develop")]
    rows = re.findall(r"^\| ([^|]+) \| ([\d.e-]+) ?(\w*) \| ([^|]*) \|$", section, re.MULTILINE)
    assert len(rows) >= 12
    for what, number, unit, target in rows:
        figure = figures[what.replace("`", "")]
        assert (number, unit) == (figure.number, figure.unit), what
        assert target == figure.target, what
    sizes = re.findall(
        r"^\| (\d+) \| ([\d.]+) s \| ([\d.]+) s \| (\d+) MB \|$", section, re.MULTILINE
    )
    assert len(sizes) == 4
    for size, stages, command, memory in sizes:
        named = (f"--max-size {size}: {part}" for part in SIZE_PARTS)
        assert [figures[name].number for name in named] == [stages, command, memory]
