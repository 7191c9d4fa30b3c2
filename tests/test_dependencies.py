"""What the package needs is what it imports, and the other way round."""

from __future__ import annotations

import ast
import sys
import tomllib

from helpers import ROOT

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]

IMPORTED_AS = {
    "pillow": "PIL",
    "scikit-image": "skimage",
    "scikit-learn": "sklearn",
    "pillow-heif": "pillow_heif",
}
"""Packages that are not imported by the name under which they are installed."""

OF_THE_HOUSE = ("all", "docs", "dev")
"""Extras whose packages the package itself does not import."""

COME_ALONG = {"dask": "distributed"}
"""Modules that a package brings with it by its own requirement."""


def modules_of(requirements: list[str]) -> set[str]:
    names = [requirement.split(">=")[0] for requirement in requirements]
    return {IMPORTED_AS.get(name, name) for name in names if not name.startswith("pfeseg[")}


def imported_modules() -> set[str]:
    """Name what the package imports of others, inside functions too."""
    found = set()
    for path in (ROOT / "pfeseg").rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                found |= {alias.name.split(".")[0] for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                found.add((node.module or "").split(".")[0])
    return {COME_ALONG.get(name, name) for name in found} - sys.stdlib_module_names - {"pfeseg"}


def test_every_required_package_is_imported_and_every_import_is_required():
    required = modules_of(PROJECT["dependencies"])
    extras = PROJECT["optional-dependencies"]
    optional = {m for name in extras if name not in OF_THE_HOUSE for m in modules_of(extras[name])}
    assert not required & optional
    assert imported_modules() == required | optional


def test_all_extras_are_in_the_one_that_has_all():
    extras = PROJECT["optional-dependencies"]
    names = [name for name in extras if name not in OF_THE_HOUSE]
    assert extras["all"] == [f"pfeseg[{','.join(names)}]"]


def test_every_requirement_states_its_lowest_version():
    extras = PROJECT["optional-dependencies"].values()
    needed = [*PROJECT["dependencies"], *(requirement for extra in extras for requirement in extra)]
    assert all(">=" in requirement or "[" in requirement for requirement in needed)
