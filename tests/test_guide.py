"""The README, the tutorial and the how-to pages: what they show runs, and what they say is so."""

from __future__ import annotations

import json
import re
import shutil
import sys
import tomllib
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from guide import GUIDES, Page
from helpers import ROOT

sys.path.insert(0, str(ROOT / "benchmarks"))
from measuring import Figure
from scores import read_rows, short_line

README = GUIDES[0]
PICTURES = ROOT / "docs" / "pictures"

every_page = pytest.mark.parametrize("page", GUIDES, ids=lambda page: page.name)


def write_scene(path: Path) -> None:
    """Write a GeoTIFF of four bands: a sample image, and its red again as a fourth."""
    rasterio = pytest.importorskip("rasterio", reason="pfeseg[geo] is not installed")
    image = iio.imread(ROOT / "sample_images" / "scene.png")
    image = np.dstack([image, image[..., 0]])
    height, width, bands = image.shape
    with rasterio.open(
        path, "w", driver="GTiff", width=width, height=height, count=bands, dtype=image.dtype,
        photometric="MINISBLACK", crs="EPSG:32633",
        transform=rasterio.transform.from_origin(5e5, 5e6, 10, 10),
    ) as data:  # fmt: skip
        data.write(np.moveaxis(image, 2, 0))


@pytest.fixture
def desk(samples, tmp_path, monkeypatch) -> Path:
    """Make the folder in which the examples are meant to run."""
    shutil.copy(samples / "chelsea.jpg", tmp_path / "photo.jpg")
    (tmp_path / "photos" / "holidays").mkdir(parents=True)
    shutil.copy(samples / "scene.png", tmp_path / "photos" / "holidays")
    shutil.copytree(samples, tmp_path / "sample_images")
    write_scene(tmp_path / "scene.tif")
    rows = np.random.default_rng(0).normal(size=(90, 2)) + np.repeat([0, 8, 16], 30)[:, None]
    np.savetxt(tmp_path / "measurements.csv", rows, delimiter=",", header="x,y", comments="")
    (tmp_path / "friends.txt").write_text("ann bob\nbob cid\nann cid\ndan eve\ncid dan .1\n")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@every_page
def test_every_example_runs_and_prints_what_the_page_says(page: Page, desk, monkeypatch):
    if page.name == "docs/tutorial.md":  # which begins with nothing
        desk = desk / "new"
        desk.mkdir()
        monkeypatch.chdir(desk)
    page.run(desk)


@every_page
def test_blocks_say_what_they_are_and_why_they_are_not_run(page: Page):
    assert page.text.count("```") == 2 * len(page.blocks)
    assert {block.language for block in page.blocks} <= {"sh", "python", "text"}
    assert all(len(block.reason.split()) >= 4 for block in page.blocks if block.reason)


@every_page
def test_every_link_leads_somewhere(page: Page):
    for link in page.links:
        if re.match(r"https://[\w.-]+\.\w+(/|$)", link):
            continue
        target, _, anchor = link.partition("#")
        path = (page.path.parent / target).resolve() if target else page.path
        if path.suffix in (".webp", ".png", ".jpg") and not PICTURES.exists():
            continue  # the source distribution goes without pictures
        assert path.exists(), link
        assert path.is_relative_to(ROOT), link
        assert not anchor or anchor in Page(path).anchors, link


def test_every_picture_is_shown_by_a_page():
    shown = {(page.path.parent / link).resolve() for page in GUIDES for link in page.links}
    assert set(PICTURES.glob("*")) <= shown


def test_the_readme_is_short_and_leads_to_every_guide():
    assert len(README.text.split()) <= 1200
    reached = {(ROOT / link.partition("#")[0]).resolve() for link in README.links}
    assert {page.path for page in GUIDES[1:]} <= reached


def test_extras_that_are_named_can_be_installed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    for page in GUIDES:
        for extra in re.findall(r"pfeseg\[([\w,]+)\]", page.text):
            assert set(extra.split(",")) <= project["optional-dependencies"].keys()


def rows_of(title: str) -> list[list[str]]:
    """Return the cells of the README's table that begins with this title."""
    table = README.text[README.text.index(f"| {title} |") :].split("\n\n")[0]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in table.splitlines()[2:]]


def test_figures_of_speed_in_the_readme_were_measured():
    record = json.loads((ROOT / "benchmarks" / "speed.json").read_text())
    figures = {figure["what"]: Figure(**figure) for figure in record["figures"]}
    rows = rows_of("measurement")
    assert len(rows) >= 4
    for what, told in rows:
        figure = figures[what]
        assert told == f"{figure.number} {figure.unit}".strip(), what


def test_figures_of_quality_in_the_readme_were_measured():
    measured = {row.method: row for row in read_rows(ROOT / "benchmarks" / "quality.json")}
    rows = rows_of("method")
    assert "pfeseg, default" in [cells[0] for cells in rows]
    for cells in rows:
        assert f"| {' | '.join(cells)} |" == short_line(measured[cells[0]])
        assert measured[cells[0]].judged_on == 100
