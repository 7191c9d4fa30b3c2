"""What of a batch is done already: whether the results that are there are those asked for.

The report tells, see `pfeseg.run.results`. One that lacks something is of an earlier version, and
matches nothing.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any, TypeVar

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.kinds import REPORT
from pfeseg.files.replacing import size_of
from pfeseg.files.report import FILES, read_report
from pfeseg.files.writing import is_empty, refuse_existing
from pfeseg.run.results import input_facts
from pfeseg.run.task import AskedSettings, FileTask

T = TypeVar("T", bound=FileTask)


def choose_undone(
    tasks: Sequence[T], *, skips: bool, replaces: bool
) -> tuple[Sequence[T], Sequence[T]]:
    """Return what is to do, and what is done and left out.

    Raises where results are there that are neither to be left out nor replaced.
    """
    if skips:
        return _leave_out_done(tasks, replaces)
    if not replaces:
        _refuse_done(tasks)
    return tasks, []


def _refuse_done(tasks: Iterable[FileTask]) -> None:
    is_empty_now = cache(is_empty)
    refuse_existing(
        (
            part
            for task in tasks
            if not is_empty_now(task.results.folder)
            for kind in task.results
            for part in task.parts_of(kind)
        ),
        also=", or --skip-existing to skip what is done",
    )


def _leave_out_done(tasks: Iterable[T], redo: bool) -> tuple[list[T], list[T]]:
    """Part tasks by whether their results are there; those of something else are refused."""
    todo: list[T] = []
    done: list[T] = []
    refusals: list[str] = []
    for task in tasks:
        try:
            left = _left_to_do(task)
            (todo if left else done).append(left or task)
        except InvalidInputError as error:
            refusals.append(error.marked)
            todo.append(task)
    if refusals and not redo:
        others = f" (and {len(refusals) - 1} more inputs)" if len(refusals) > 1 else ""
        raise InvalidInputError(
            f"{refusals[0]}{others}; add {argument('overwrite', True)} to redo what does not match"
        )
    return todo, done


def _left_to_do(task: T) -> T | None:
    """Return the task of the results that are missing, or None if there are none."""
    path = task.results[REPORT]
    if not path.exists() or path.stat().st_size == 0:
        return task
    report = read_report(path)
    _compare(path, report, task)
    files: dict[str, int] = report[FILES]
    missing: list[str] = []
    for kind in task.results:
        if kind == REPORT:
            continue
        result, *beside = task.parts_of(kind)
        told = [other for other in beside if other.name in files]
        sizes = {part: size_of(part) if part.exists() else 0 for part in (result, *told)}
        for part, size in sizes.items():
            if size and part.name not in files:
                raise InvalidInputError(f"{part}: exists, but {path.name} does not list it")
            if size and files[part.name] != size:
                raise InvalidInputError(
                    f"{part}: has {size} bytes, but {path.name} says {files[part.name]}"
                )
        if not all(sizes.values()):
            missing.append(kind)
    if not missing:
        return None
    results = task.results.only((*missing, REPORT))
    written = {part.name for kind in missing for part in task.parts_of(kind)}
    kept = {name: size for name, size in files.items() if name not in written}
    return replace(task, results=results, kept=kept)


def _compare(path: Path, report: dict[str, Any], task: FileTask) -> None:
    """Refuse a report that is not of this input, settings and method."""
    version, wanted_version = report.get("method_version"), task.method_version
    if not isinstance(version, int) or not isinstance(report.get(FILES), dict):
        raise InvalidInputError(
            f"{path}: by an earlier version ({report['pfeseg_version']}), which recorded too little"
        )
    if version != wanted_version:
        raise InvalidInputError(f"{path}: by version {version} of the method, not {wanted_version}")
    wanted = _asked(task.settings)
    stored = _flat(report.get("settings"), type(task.settings))
    facts = input_facts(task)
    options = {name: facts.get(name) for name in task.options()}
    for made, asked in ((stored, wanted), (report, options)):
        for name in asked:
            if made.get(name) != asked[name]:
                raise InvalidInputError(
                    f"{path}: made {_said(name, made.get(name))}, not {_said(name, asked[name])}"
                )
    for name, fact in facts.items():
        if report.get(name) != fact:
            changed = "the mask" if name.startswith("mask") else task.name
            raise InvalidInputError(f"{path}: {changed} has changed since")


def _flat(settings: Any, kind: type[AskedSettings]) -> dict[str, Any]:
    """Return settings of a report, those of the solver among them, as this version names them."""
    try:
        return _asked(kind.from_dict(settings))
    except (InvalidInputError, TypeError, AttributeError, KeyError):
        return {}


@cache
def _asked(settings: AskedSettings) -> dict[str, Any]:
    values = json.loads(json.dumps(settings.to_dict()))
    return values | values.pop("solver", {})  # type: ignore[no-any-return]


def _said(name: str, value: Any) -> str:
    """Write a setting as the option that gives it."""
    if name == "cut":
        name, value = next(iter(value.items()), (name, None)) if value else ("level", None)
    name = name.removeprefix("given_")
    shown = ",".join(map(str, value)) if isinstance(value, list) else value
    is_given = value is not None and value is not False and value != []
    return f"with {argument(name, shown)}" if is_given else f"without {argument(name)}"
