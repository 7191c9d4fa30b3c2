"""The shape of the house: data walks one way, and imports follow it."""

from __future__ import annotations

import ast
import subprocess
import sys
from graphlib import TopologicalSorter
from pathlib import Path

import pytest
from helpers import ROOT

import pfeseg

PACKAGE = ROOT / "pfeseg"

ROOMS = (
    *("errors", "checks", "machine", "blas", "plotting", "engines", "_kernels", "kernels"),
    "solver",  # graphs only: images come later
    *("image", "labels", "clustering", "data", "pixels", "regions"),
    *("pictures", "segmentation", "volumes", "files", "run", "benchmark", "page", "cli"),
)
"""In the order of knowing: a room may import itself and those before it."""


def module_name(path: Path) -> str:
    parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


MODULES = {module_name(path): path for path in PACKAGE.rglob("*.py")}


def imported(path: Path, *, typing: bool = True) -> set[str]:
    """Name what a module imports of the package, in whatever form, inside functions too."""
    tree = ast.parse(path.read_text())
    if not typing:
        tree.body = [node for node in tree.body if "TYPE_CHECKING" not in ast.dump(node)[:60]]
    found = set()
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: imports are absolute here"
            module = node.module or ""
            found |= {f"{module}.{alias.name}" for alias in node.names} | {module}
    return {name for name in found if name.split(".")[0] == "pfeseg" and name != "pfeseg"}


def room(module: str) -> str:
    return module.split(".")[1]


def test_every_room_knows_only_the_rooms_before_it():
    names = {f"pfeseg.{name}" for name in pfeseg.__all__} | {"pfeseg.__version__"}
    for module, path in MODULES.items():
        if module in ("pfeseg", "pfeseg.__main__"):
            continue  # the list of names, and the door to the command
        for other in imported(path) - {"pfeseg.__version__"}:
            assert other not in names, f"{module} imports {other} by the public door"
            assert ROOMS.index(room(other)) <= ROOMS.index(room(module)), f"{module} <- {other}"


def test_no_two_modules_know_each_other():
    graph = {
        module: {name for name in imported(path, typing=False) if name in MODULES} - {module}
        for module, path in MODULES.items()
        if module not in ("pfeseg", "pfeseg.__main__", "pfeseg.cli")
    }
    order = list(TopologicalSorter(graph).static_order())  # raises where there is a circle
    assert len(order) > 60


@pytest.mark.parametrize("module", ["pfeseg.solver.embed", "pfeseg.solver.spectral"])
def test_the_solver_runs_without_a_word_of_images(module):
    program = f"import sys, {module}; print(*[m for m in sys.modules if m.startswith('pfeseg.')])"
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    loaded = {room(name) for name in run.stdout.split()}
    assert loaded <= {"errors", "checks", "machine", "blas", "_kernels", "kernels", "solver"}


def test_one_door_to_the_kernels():
    users = {module for module, path in MODULES.items() if "pfeseg._kernels" in imported(path)}
    assert users == {"pfeseg.kernels"}


def test_click_stays_in_the_commands():
    for module, path in MODULES.items():
        assert module.startswith("pfeseg.cli") or "import click" not in path.read_text(), module


def test_public_names_are_lazy_complete_and_typed():
    typed = {name.rpartition(".")[2] for name in imported(PACKAGE / "__init__.py")}
    homes = {module.rpartition(".")[2] for module in MODULES}
    assert set(pfeseg.__all__) == set(pfeseg._HOME)
    assert set(pfeseg.__all__) <= typed <= set(pfeseg.__all__) | homes
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
        "heavy = ('numpy', 'scipy', 'sklearn', 'skimage', 'tqdm', 'distributed')\n"
        "print([name for name in heavy if name in sys.modules])"
    )
    run = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert run.stdout.strip() == "[]"


def test_no_test_file_imports_another():
    for path in Path(__file__).parent.glob("*.py"):
        assert "from test_" not in path.read_text().replace('"from test_"', ""), path
        assert "import test_" not in path.read_text().replace('"import test_"', ""), path


def test_scikit_learn_stays_with_the_data():
    for module, path in MODULES.items():
        lines = path.read_text().splitlines()
        imports = [line for line in lines if line.strip().startswith(("import ", "from "))]
        assert room(f"{module}.") == "data" or not any("sklearn" in line for line in imports), (
            module
        )
