"""What of a batch is done already: whether the results that are there are those asked for.

The report tells. It is written last, with the settings, the version of the method, the size and the
time of change of the input, and the sizes of the results that belong to it. One that lacks these is
of an earlier version, and matches nothing.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.kinds import KINDS, REPORT
from pfeseg.files.replacing import Made, size_of
from pfeseg.files.report import FILES, read_report
from pfeseg.run.plan import Task
from pfeseg.segmentation.methods import METHOD_VERSION
from pfeseg.segmentation.settings import Settings
from pfeseg.volumes.settings import VolumeSettings


def input_facts(task: Task) -> dict[str, Any]:
    """Return what tells the input from a later one, and how it is read, as a report holds it."""
    facts: dict[str, Any] = {}
    if task.content is not None:
        facts = {"input_bytes": len(task.content)}
        facts["input_digest"] = hashlib.sha256(task.content).hexdigest()
    else:
        facts = _facts_of_file("input", task.source)
    if task.mask and Path(task.mask).exists():
        facts |= _facts_of_file("mask", Path(task.mask))
    told: dict[str, Any] = {
        "page": task.page,
        "mask": task.mask,
        "nodata": [str(value) for value in task.nodata],
    }
    told["tile"] = task.tile
    told["given_spacing"] = list(task.spacing) if task.spacing else None
    if "overlay" in task.results:
        told["overlay_size"] = task.overlay_size
    return facts | {name: value for name, value in told.items() if value}


def _facts_of_file(name: str, path: Path) -> dict[str, Any]:
    with suppress(OSError):  # what is wrong with it is told when it is read
        status = path.stat()
        return {f"{name}_bytes": status.st_size, f"{name}_modified": status.st_mtime_ns}
    return {}


def told_files(task: Task, made: Iterable[Made]) -> dict[str, Any]:
    """Return what the report tells of the files that belong to it, and what lies beside them."""
    return {FILES: {**task.kept, **{part.final.name: part.size for part in made}}}


def leave_out_done(tasks: Iterable[Task], redo: bool) -> tuple[list[Task], list[Task]]:
    """Return what is left to do, and the tasks whose results are all there.

    Raises where results are those of something else, unless these are to be made again.
    """
    todo: list[Task] = []
    done: list[Task] = []
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


def _left_to_do(task: Task) -> Task | None:
    """Return the task of the results that are missing, or None if there are none."""
    path = task.results[REPORT]
    if not path.exists() or path.stat().st_size == 0:
        return task
    report = read_report(path)
    _compare(path, report, task)
    files: dict[str, int] = report[FILES]
    missing: dict[str, Path] = {}
    for kind, result in task.results.items():
        if kind == REPORT:
            continue
        told = [other for other in KINDS[kind].beside(result) if other.name in files]
        sizes = {part: size_of(part) if part.exists() else 0 for part in (result, *told)}
        for part, size in sizes.items():
            if size and part.name not in files:
                raise InvalidInputError(f"{part}: exists, but {path.name} does not tell of it")
            if size and files[part.name] != size:
                raise InvalidInputError(
                    f"{part}: has {size} bytes, but {path.name} tells of {files[part.name]}"
                )
        if not all(sizes.values()):
            missing[kind] = result
    if not missing:
        return None
    written = {
        part.name for kind, own in missing.items() for part in (own, *KINDS[kind].beside(own))
    }
    kept = {name: size for name, size in files.items() if name not in written}
    return replace(task, results=missing | {REPORT: path}, kept=kept)


def _compare(path: Path, report: dict[str, Any], task: Task) -> None:
    """Refuse a report that is not of this input, settings and method."""
    version = report.get("method_version")
    if not isinstance(version, int) or not isinstance(report.get(FILES), dict):
        raise InvalidInputError(
            f"{path}: by an earlier version ({report['pfeseg_version']}), which told too little"
        )
    if version != METHOD_VERSION:
        raise InvalidInputError(f"{path}: by version {version} of the method, not {METHOD_VERSION}")
    wanted = _asked(task.settings)
    stored = _flat(report.get("settings"), type(task.settings))
    for name in wanted:
        if stored.get(name) != wanted[name]:
            raise InvalidInputError(
                f"{path}: made with {_said(name, stored.get(name))}, "
                f"not with {_said(name, wanted[name])}"
            )
    facts = input_facts(task)
    for name in ("mask", "nodata", "page", "tile", "given_spacing", "overlay_size"):
        if report.get(name) != facts.get(name):
            raise InvalidInputError(
                f"{path}: made with {_said(name, report.get(name))}, "
                f"not with {_said(name, facts.get(name))}"
            )
    for name, fact in facts.items():
        if report.get(name) != fact:
            changed = "the mask" if name.startswith("mask") else task.name
            raise InvalidInputError(f"{path}: {changed} has changed since")


def _flat(settings: Any, kind: type[Settings | VolumeSettings]) -> dict[str, Any]:
    """Return settings of a report, those of the solver among them, as this version names them."""
    try:
        return _asked(kind.from_dict(settings))
    except (InvalidInputError, TypeError, AttributeError):
        return {}


@cache
def _asked(settings: Settings | VolumeSettings) -> dict[str, Any]:
    values = json.loads(json.dumps(settings.to_dict()))
    return values | values.pop("solver")  # type: ignore[no-any-return]


def _said(name: str, value: Any) -> str:
    """Write a setting as the option that gives it."""
    if name == "cut":
        name, value = next(iter(value.items()), (name, None)) if value else ("level", None)
    name = name.removeprefix("given_")
    shown = ",".join(map(str, value)) if isinstance(value, list) else value
    return f"no {argument(name)}" if value is None else argument(name, shown)
