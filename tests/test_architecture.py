"""The shape of the house: data walks one way, and imports follow it."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pfeseg

PACKAGE = Path(pfeseg.__file__).parent

# Each room may know only what stands here.
KNOWS = {
    "__init__": set(),
    "__main__": {"cli"},
    "errors": set(),
    "image": {"errors"},
    "reading": {"errors"},
    "kmeans": set(),
    "mixture": {"kmeans"},
    "outputs": {"errors"},
    "inputs": {"errors", "outputs", "reading"},
    "exports": {"image"},
    "cooccurrence": {"kmeans"},
    "graph": {"cooccurrence", "errors", "image"},
    "initial": {"errors", "image", "mixture"},
    "split_bregman": {"graph"},
    "kernels": {"_kernels", "errors", "graph", "solver_settings", "split_bregman"},
    "checks": {"errors"},
    "solver_settings": {"checks"},
    "polar": set(),
    "solver": {"errors", "graph", "kernels", "polar", "solver_settings", "split_bregman"},
    "labels": set(),
    "cluster": {"errors", "kmeans", "labels"},
    "regions": {"errors", "image", "labels"},
    "smoothing": {"_kernels"},
    "texture": {"smoothing"},
    "appearance": {"image", "kmeans", "texture"},
    "contours": {"_kernels", "appearance", "smoothing"},
    "hierarchy": {
        *("_kernels", "appearance", "contours", "errors", "image", "labels", "smoothing"),
    },
    "refine": {"_kernels", "image", "regions", "smoothing"},
    "spectral": {"errors", "graph"},
    "methods": set(),
    "settings": {"checks", "errors", "graph", "initial", "methods", "solver_settings"},
    "segmentation": {"graph", "hierarchy", "settings", "solver"},
    "prepared": {
        *("appearance", "cluster", "errors", "graph", "hierarchy", "image", "initial", "kernels"),
        *("labels", "methods", "refine", "regions", "segmentation", "settings", "solver"),
        *("spectral", "texture"),
    },
    "parallel": set(),
    "trials": {
        *("errors", "image", "methods", "parallel", "polar", "prepared", "segmentation"),
        *("settings", "solver"),
    },
    "pipeline": {"errors", "prepared", "segmentation", "settings", "solver", "trials"},
    "pictures": {"errors", "image"},
    "files": {"errors", "reading"},
    "metrics": {"errors"},
    "bsds_files": {"errors", "files"},
    "dataset": {
        *("bsds_files", "errors", "files", "methods", "metrics", "parallel", "pipeline"),
        *("prepared", "reading", "segmentation", "settings"),
    },
    "tables": {"dataset", "errors", "methods", "metrics"},
    "figures": {"errors", "files"},
    "stages": {
        *("appearance", "cluster", "errors", "files", "graph", "hierarchy", "image", "initial"),
        *("refine", "settings", "solver", "texture"),
    },
    "batch": {
        *("bsds_files", "errors", "exports", "files", "kernels", "parallel", "pictures"),
        *("pipeline", "reading", "segmentation", "settings", "solver"),
    },
}


def imported_rooms(path: Path) -> set[str]:
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module == "pfeseg":
            rooms |= {alias.name for alias in node.names if not alias.name.startswith("__")}
        elif isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pfeseg."):
            rooms.add(node.module.split(".")[1])
    return rooms


def test_every_room_knows_only_the_rooms_before_it():
    found = {path.stem: imported_rooms(path) for path in PACKAGE.glob("*.py")}
    found["__init__"] = set()  # the list of names, checked below
    assert found.keys() == KNOWS.keys()
    for room, known in found.items():
        assert known <= KNOWS[room], f"{room} must not import {known - KNOWS[room]}"


def test_click_stays_in_the_commands():
    for path in PACKAGE.glob("*.py"):
        assert "import click" not in path.read_text(), path


def test_public_names_are_lazy_complete_and_typed():
    tree = ast.parse((PACKAGE / "__init__.py").read_text())
    typed = {
        alias.name
        for node in ast.walk(tree)
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("pfeseg.")
        for alias in node.names
    }
    assert typed == set(pfeseg.__all__) == set(pfeseg._HOME)
    assert all(getattr(pfeseg, name) is not None for name in pfeseg.__all__)
    program = "import sys, pfeseg; sys.exit('numpy' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program]).returncode == 0


def test_help_imports_nothing_heavy():
    program = (
        "import sys, contextlib, io\n"
        "from pfeseg.cli import COMMANDS, main\n"
        "for args in (['--help'], *([c, '--help'] for c in COMMANDS)):\n"
        "    with contextlib.suppress(SystemExit), contextlib.redirect_stdout(io.StringIO()):\n"
        "        main(args)\n"
        "print([m for m in ('numpy', 'scipy', 'sklearn', 'skimage', 'tqdm') if m in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "[]"
