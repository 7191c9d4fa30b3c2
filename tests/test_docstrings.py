"""Docstrings of the library: complete for every public name, and true."""

from __future__ import annotations

import ast
import doctest
import importlib
import inspect
import re
from collections.abc import Iterator
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest
from helpers import ROOT

import pfeseg

MODULES = {
    ".".join(path.relative_to(ROOT).with_suffix("").parts).removesuffix(".__init__"): path
    for path in sorted((ROOT / "pfeseg").rglob("*.py"))
}
WITH_EXAMPLES = [name for name, path in MODULES.items() if ">>> " in path.read_text()]

SECTIONS = ("Parameters", "Attributes", "Returns", "Raises", "Warns", "Notes", "Examples")
SECTION = re.compile(rf"^({'|'.join(SECTIONS)})\n-+\n", re.MULTILINE)
ENTRY = re.compile(r"^(\S[^:\n]*?)(?: : (.+))?$((?:\n(?: {4}.*)?)*)", re.MULTILINE)

UNCHECKED = ("Graph.unchecked",)
"""What raises nothing, as its caller promises that nothing is wrong."""


def sections(docstring: str) -> dict[str, str]:
    """Split a docstring at its headings; what comes before the first has none."""
    parts = SECTION.split(docstring)
    return {"": parts[0], **dict(zip(parts[1::2], parts[2::2], strict=True))}


def entries(section: str) -> dict[str, tuple[str, str]]:
    """Return the names that a section explains, in order, with their types and the rest."""
    found = ENTRY.findall(section.rstrip())
    return {name: (kind, rest) for names, kind, rest in found for name in names.split(", ")}


def parameters(function: Any) -> list[str]:
    """Name the parameters as a docstring does."""
    stars = {inspect.Parameter.VAR_KEYWORD: "**", inspect.Parameter.VAR_POSITIONAL: "*"}
    found = inspect.signature(function).parameters.values()
    return [stars.get(p.kind, "") + p.name for p in found if p.name not in ("self", "cls")]


def returns_something(function: Any) -> bool:
    return inspect.signature(function).return_annotation not in ("None", None)


def members(kind: type) -> Iterator[tuple[str, Any]]:
    """List the public methods and properties of a class that are written in this package."""
    for parent in kind.__mro__:
        if parent.__module__.startswith("pfeseg."):
            for name, value in vars(parent).items():
                known = isinstance(value, property | cached_property | classmethod)
                if not name.startswith("_") and (known or inspect.isfunction(value)):
                    yield name, value


def functions() -> Iterator[tuple[str, Any]]:
    """List all public functions and methods, by their names from outside."""
    for name in pfeseg.__all__:
        value = getattr(pfeseg, name)
        if not inspect.isclass(value):
            yield name, value
            continue
        for method, found in members(value):
            if not isinstance(found, property | cached_property):
                yield f"{name}.{method}", getattr(value, method)


CLASSES = {name for name in pfeseg.__all__ if inspect.isclass(getattr(pfeseg, name))}
FUNCTIONS = dict(functions())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_functions_and_methods_tell_what_they_take_give_and_raise(name):
    function = FUNCTIONS[name]
    parts = sections(inspect.getdoc(function) or "")
    assert parts[""].split("\n")[0].endswith(".")
    taken = entries(parts.get("Parameters", ""))
    assert list(taken) == parameters(function)
    for one, (kind, rest) in taken.items():
        assert kind or one.startswith("**") or "As for `" in rest, f"of what type is {one}?"
    assert ("Returns" in parts) == returns_something(function)
    if taken and name not in UNCHECKED and "ax" not in taken:
        assert "Raises" in parts


@pytest.mark.parametrize("name", sorted(CLASSES))
def test_classes_tell_what_they_are_made_of(name):
    kind = getattr(pfeseg, name)
    parts = sections(inspect.getdoc(kind) or "")
    if issubclass(kind, BaseException):
        return
    fields = getattr(kind, "__dataclass_fields__", None)
    public = [field for field in fields or () if not field.startswith("_")]
    wanted = public if fields is not None else parameters(kind.__init__)
    told = entries(parts.get("Attributes" if fields is not None else "Parameters", ""))
    assert sorted(told) == sorted(wanted)
    for method, value in members(kind):
        docstring = inspect.getdoc(getattr(value, "func", value))
        assert docstring, f"{name}.{method}"


@pytest.mark.parametrize("name", pfeseg.__all__)
def test_every_public_name_has_an_example(name):
    value = getattr(pfeseg, name)
    examples = sections(inspect.getdoc(value) or "").get("Examples", "")
    assert ">>> " in examples
    if not inspect.isclass(value):
        assert f"{name}(" in examples
        return
    for method, _ in members(value):
        own = inspect.getdoc(getattr(value, method)) or ""
        told = f"{examples}\n{sections(own).get('Examples', '')}"
        assert re.search(rf"\.{method}\b", told), f"no example of {name}.{method}"


@pytest.mark.parametrize("name", WITH_EXAMPLES)
def test_examples_are_true(name, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "agg")
    failed, tried = doctest.testmod(importlib.import_module(name))
    assert tried > 0
    assert failed == 0


def docstrings(path: Path) -> Iterator[str]:
    """Yield the docstrings of a file, those below its constants too."""
    for node in ast.walk(ast.parse(path.read_text())):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield text


def exists(name: str) -> bool:
    """Tell whether a dotted name is that of a module, or of something in one."""
    parts = name.split(".")
    for last in range(len(parts), 0, -1):
        module = ".".join(parts[:last])
        if module in MODULES:
            found: Any = importlib.import_module(module)
            for part in parts[last:]:
                fields = getattr(found, "__dataclass_fields__", {})
                if not (hasattr(found, part) or part in fields):
                    return False
                found = getattr(found, part, None)
            return True
    return False


@pytest.mark.parametrize("module", MODULES)
def test_what_docstrings_refer_to_exists(module):
    for docstring in docstrings(MODULES[module]):
        for name in re.findall(r"`(pfeseg\.[\w.]+)`", docstring):
            assert exists(name), f"{module}: {name}"
