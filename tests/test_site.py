"""The site of the documentation: it leaves nothing out, its names and links exist, it builds."""

from __future__ import annotations

import ast
import dataclasses
import json
import re
import shutil
import subprocess
import sys
import tomllib
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path

import click
import imageio.v3 as iio
import pytest
from helpers import ROOT

import pfeseg
from pfeseg import Settings
from pfeseg.cli import COMMANDS, main

sys.path.insert(0, str(ROOT / "benchmarks"))
sys.path.insert(0, str(ROOT / "docs" / "extensions"))
from measuring import SIZE_PARTS, Figure

DOCS = ROOT / "docs"
PAGES = sorted(DOCS.rglob("*.md"))
HAS_PICTURES = (DOCS / "pictures").exists()  # the source distribution has none
BUILDERS = ("sphinx", "myst_parser", "furo", "ziamath")


def rows_below(page: str, heading: str) -> list[list[str]]:
    """Return the cells of all tables below a heading of a page, up to the next of its rank."""
    text = (DOCS / page).read_text()
    level = heading.split(" ")[0]
    section = text.split(f"\n{heading}\n")[1].split(f"\n{level} ")[0]
    lines = [line for line in section.splitlines() if line.startswith("| ")]
    return [[cell.strip() for cell in line.split("|")[1:-1]] for line in lines]


def code(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def is_left_out(target: str) -> bool:
    return not HAS_PICTURES and target.endswith((".png", ".jpg", ".webp"))


# What the reference has to hold


def test_every_command_has_a_page():
    assert {path.stem for path in (DOCS / "commands").iterdir()} == set(COMMANDS)
    listed = (DOCS / "commands.md").read_text()
    for name, text in COMMANDS.items():
        assert f"<!-- help of {name} -->" in (DOCS / "commands" / f"{name}.md").read_text()
        assert f"[pfeseg {name}](commands/{name}.md)\n: {text}\n" in listed
        assert f"\ncommands/{name}\n" in listed


@pytest.mark.skipif(not find_spec("sphinx"), reason="pfeseg[docs] is not installed")
@pytest.mark.parametrize("name", COMMANDS)
def test_the_page_of_a_command_has_all_its_options(name):
    from command_help import command_help

    page = command_help(name)
    assert "\b" not in page
    assert "\\b" not in page
    written = re.findall(r"^```\{option\} (.*)\n(.+)\n```$", page, re.MULTILINE)
    options = main.get_command(click.Context(main), name).params
    options = [option for option in options if isinstance(option, click.Option)]
    assert len(written) == len(options)
    for option in options:
        assert option.help, option.name
        flags = [*option.opts, *option.secondary_opts]
        assert any(set(flags) <= set(re.split(r"[, ]+", names)) for names, _ in written), flags


def test_every_public_name_has_one_place_in_the_reference():
    pages = "".join(path.read_text() for path in (DOCS / "api").glob("*.md"))
    places = re.findall(r"^\.\. auto\w+:: pfeseg\.(\w+)$", pages, re.MULTILINE)
    assert sorted(places) == sorted(pfeseg.__all__)


@pytest.mark.parametrize("page", sorted(p.name for p in (DOCS / "api").glob("*.md")))
def test_examples_of_the_reference_run(page, samples, tmp_path, monkeypatch):
    shutil.copy(samples / "coffee.jpg", tmp_path / "photo.jpg")
    monkeypatch.chdir(tmp_path)
    names = {"pfeseg": pfeseg, "image": iio.imread("photo.jpg")}
    for block in re.findall(r"```python\n(.*?)```", (DOCS / "api" / page).read_text(), re.DOTALL):
        exec(block, names)


# What pages say of the code


def test_files_that_pages_name_exist():
    folders = "pfeseg|tests|benchmarks|docs|fuzz|sample_images"
    found = set()
    for page in [*PAGES, ROOT / "benchmarks" / "quality.md"]:
        for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", page.read_text()):
            found.add(name)
            assert (ROOT / name).exists(), f"{page.name}: {name}"
    assert len(found) > 50


def test_targets_of_make_that_pages_name_exist():
    targets = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text(), re.MULTILINE))
    for page in PAGES:
        for names in re.findall(r"`(?:\w+=\S+ )?make ([a-z -]+)`", page.read_text()):
            assert set(names.split()) <= targets, f"{page.name}: make {names}"


def test_links_within_the_site_lead_somewhere():
    for page in PAGES:
        for target in re.findall(r"\]\(([^)#\s]+)(?:#[^)]*)?\)", page.read_text()):
            if "://" not in target and not is_left_out(target):
                assert (page.parent / target).exists(), f"{page.name}: {target}"


def test_the_method_names_functions_that_exist():
    rows = rows_below("method.md", "## Where it is in the code")[1:]
    assert len(rows) > 30
    for what, file, names in rows:
        path = ROOT / code(file)[0]
        assert path.exists(), what
        if path.suffix == ".py":
            defined = {
                getattr(node, "name", None) for node in ast.walk(ast.parse(path.read_text()))
            }
            assert code(names), what
            assert set(code(names)) <= defined, what


def test_the_method_names_the_functions_of_the_walk():
    for row in rows_below("method.md", "## The walk")[1:]:
        file, name = code(row[3])
        assert re.search(rf"^def {name}\(", (ROOT / file).read_text(), re.MULTILINE), row


def test_the_method_tells_the_defaults_of_both_presets():
    rows = [row for row in rows_below("method.md", "## Parameters") if len(row) == 4][1:]
    told = {code(name)[0]: (default, paper) for _, name, default, paper in rows}
    for column, preset in enumerate(("default", "paper")):
        values = Settings.preset(preset).to_dict()
        values |= {f"solver.{name}": value for name, value in values.pop("solver").items()}
        for name, figures in told.items():
            assert figures[column] == str(values[name]), (preset, name)
    elsewhere = {"method", "cut", "min_region", "stretch", "bands", "solver"}
    assert {f.name for f in dataclasses.fields(Settings)} - elsewhere <= set(told)
    assert {f"solver.{f.name}" for f in dataclasses.fields(pfeseg.SolverSettings)} <= set(told)


def test_the_method_tells_the_constants():
    rows = [row for row in rows_below("method.md", "## Parameters") if len(row) == 3]
    for name, value, _ in rows[1:]:
        module, constant = code(name)[0].rsplit(".", 1)
        assert value == str(getattr(import_module(module), constant)), name


def test_all_rooms_are_in_the_table_of_the_architecture():
    rows = rows_below("architecture.md", "## The rooms")[1:]
    told = {name.strip("/") for row in rows for name in code(row[0])}
    package = ROOT / "pfeseg"
    rooms = {path.parent.name for path in package.glob("*/__init__.py")}
    modules = {path.stem for path in package.glob("*.py")} - {"__init__", "__main__"}
    assert told == rooms | modules


def test_the_architecture_tells_why_each_package_is_needed():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    extras = project["optional-dependencies"]
    needed = [
        *project["dependencies"],
        *(r for name in extras if name != "dev" for r in extras[name]),
    ]
    names = {re.split(r"[>\[]", requirement)[0] for requirement in needed} - {"pfeseg"}
    rows = rows_below("architecture.md", "## Why each package is needed")
    assert {name for row in rows for name in code(row[0])} == names


def test_figures_of_speed_are_those_that_were_measured():
    record = json.loads((ROOT / "benchmarks" / "speed.json").read_text())
    figures = {figure["what"]: Figure(**figure) for figure in record["figures"]}
    rows = rows_below("measurements.md", "## Speed and memory")
    measured = [row for row in rows if len(row) == 3][2:]
    assert len(measured) >= 12
    for what, figure, target in measured:
        known = figures[what.replace("`", "")]
        assert (figure, target) == (f"{known.number} {known.unit}".strip(), known.target), what
    sizes = [row for row in rows if len(row) == 4 and row[0].isdigit()]
    assert len(sizes) == 4
    for size, *told in sizes:
        known = [figures[f"--max-size {size}: {part}"] for part in SIZE_PARTS]
        assert told == [f"{figure.number} {figure.unit}" for figure in known]


# The site itself


@pytest.fixture(scope="module")
def site(tmp_path_factory) -> Path:
    """Build the site, and the man pages, as make does."""
    for package in BUILDERS:
        pytest.importorskip(package, reason="pfeseg[docs] is not installed")
    if not HAS_PICTURES:
        pytest.skip("the source distribution goes without the pictures of the site")
    built = tmp_path_factory.mktemp("site")
    command = [sys.executable, "-m", "sphinx", "--quiet", "--fail-on-warning"]
    command += ["--doctree-dir", str(built / "doctrees")]
    for builder in ("html", "man"):
        run = subprocess.run(
            [*command, "-b", builder, str(DOCS), str(built / builder)],
            capture_output=True, text=True, cwd=ROOT,
        )  # fmt: skip
        assert run.returncode == 0, run.stderr
    return built


def test_the_index_of_the_site_knows_all_names_and_options(site):
    from sphinx.util.inventory import InventoryFile

    with (site / "html" / "objects.inv").open("rb") as file:
        known = InventoryFile.load(file, "", lambda base, name: name)
    names = {name for domain in known if domain.startswith("py:") for name in known[domain]}
    assert {f"pfeseg.{name}" for name in pfeseg.__all__} <= names
    options = set(known["std:cmdoption"])
    for name in COMMANDS:
        for option in main.get_command(click.Context(main), name).params:
            if isinstance(option, click.Option):
                assert {f"pfeseg-{name}.{flag}" for flag in option.opts} <= options


def test_the_site_opens_without_a_network(site):
    pages = list((site / "html").rglob("*.html"))
    assert len(pages) > 30
    for page in pages:
        for tag in re.findall(r"<(?:script|img|link|iframe)\b[^>]*>", page.read_text()):
            assert not re.search(r"""(?:src|href)=["'](?:https?:)?//""", tag), f"{page.name}: {tag}"


def test_there_is_a_man_page_for_each_command(site):
    written = {path.name for path in (site / "man").glob("*.1")}
    assert written == {"pfeseg.1", *(f"pfeseg-{name}.1" for name in COMMANDS)}
    text = (site / "man" / "pfeseg-segment.1").read_text().replace("\\-", "-")
    for part in (".SH NAME", ".SH SYNOPSIS", ".SH DESCRIPTION", "--skip-existing", ".SH SEE ALSO"):
        assert part.lower() in text.lower(), part
