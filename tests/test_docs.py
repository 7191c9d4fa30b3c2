"""What is written about the commands is true."""

from __future__ import annotations

import re
import shlex
import shutil
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

ROOT = Path(__file__).parent.parent
README = (ROOT / "README.md").read_text()


def options_of(name: str) -> list[click.Parameter]:
    return main.get_command(click.Context(main), name).params


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_in_the_readme(name):
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
