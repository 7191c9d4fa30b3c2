"""Where results go: one name for each kind of result, and no surprise in a batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from string import Formatter

from pfeseg.errors import InvalidInputError
from pfeseg.files.kinds import KINDS, REPORT, Kind
from pfeseg.files.writing import refuse_unwritable

Plan = Mapping[Path, Mapping[str, Path]]

TEMPLATE_FIELDS = ("stem", "ext", "parent")


def check_template(template: str) -> None:
    """Refuse a template that cannot name files."""
    _fill(template, dict.fromkeys(TEMPLATE_FIELDS, "x"))


def result_paths(
    source: Path,
    folder: Path,
    kinds: Iterable[str],
    *,
    template: str,
    labels_format: str,
    overlay_format: str = "png",
) -> dict[str, Path]:
    """Name the results of one input, the report last."""
    stem = "stdin" if str(source) == "-" else source.stem
    parent = source.resolve().parent.name if "{parent}" in template else ""
    base = _fill(template, {"stem": stem, "ext": source.suffix[1:], "parent": parent})
    formats = {"labels_format": labels_format, "overlay_format": overlay_format}
    return {
        kind: folder / (base + KINDS[kind].suffix.format(**formats)) for kind in (*kinds, REPORT)
    }


def _fill(template: str, values: dict[str, str]) -> str:
    try:
        if any(spec or conversion or (field is not None and field not in values)
               for _, field, spec, conversion in Formatter().parse(template)):  # fmt: skip
            raise ValueError("more than a plain field")
        base = template.format(**values)
    except ValueError as error:
        fields = ", ".join(f"{{{field}}}" for field in TEMPLATE_FIELDS)
        raise InvalidInputError(
            f"the template {template!r} is not understood; its fields are {fields}"
        ) from error
    is_plain = base and "/" not in base  # as nearly all are
    if not is_plain and (
        not base or base.endswith("/") or Path(base).is_absolute() or ".." in Path(f"{base}_").parts
    ):
        raise InvalidInputError(
            f"the template {template!r} must name a file below the folder, not {base!r}"
        )
    return base


def telling_apart(template: str) -> Iterator[str]:
    """Yield templates like the one given that tell more inputs apart, the shortest first."""
    named = template if "{stem}" in template else f"{template}_{{stem}}"
    yield from (named, f"{named}_{{ext}}", f"{{parent}}_{named}", f"{{parent}}_{named}_{{ext}}")


def find_clash(plan: Plan) -> tuple[Path, Path, Path] | None:
    """Return two inputs and what both would write, or None if all results are different."""
    taken: dict[str, Path] = {}
    identity = Identities()
    for source, results in plan.items():
        for path in results.values():
            first = taken.setdefault(identity(path), source)
            if first is not source:
                return first, source, path
    return None


def check_plan(
    plan: Plan, advise: Callable[[], str] = str, kinds: Mapping[str, Kind] = KINDS
) -> None:
    """Refuse, before any work, two inputs with one output, and folders that cannot be written.

    `plan` maps each input to its results, of these `kinds`; `advise` says what tells inputs apart
    that clash.
    """
    clash = find_clash(plan)
    if clash:
        first, second, path = clash
        raise InvalidInputError(f"{first} and {second} would both write {path}; {advise()}")
    identity = Identities()
    inputs = {str(path.resolve()) if path.is_symlink() else identity(path) for path in plan}
    is_link = _Links()
    for results in plan.values():
        for path in results.values():
            if identity(path) in inputs or (is_link(path) and str(path.resolve()) in inputs):
                raise InvalidInputError(f"{path} is an input and would be written over")
    _refuse_in_folders(plan, kinds, inputs)
    for folder in folders_of(path for results in plan.values() for path in results.values()):
        refuse_unwritable(folder)


def _refuse_in_folders(plan: Plan, kinds: Mapping[str, Kind], inputs: Iterable[str]) -> None:
    """Refuse results and inputs that lie in a folder which a run would write as a whole."""
    identity = Identities()
    folders = {
        Path(identity(path)): source
        for source, results in plan.items()
        for kind, path in results.items()
        if kinds[kind].is_folder
    }
    if not folders:
        return
    written = (identity(path) for results in plan.values() for path in results.values())
    for path in map(Path, (*written, *inputs)):
        around = next((folder for folder in path.parents if folder in folders), None)
        if around is not None:
            raise InvalidInputError(
                f"{path} lies in {around}, which {folders[around]} would write as a whole; "
                "give another --template or -o"
            )


def folders_of(paths: Iterable[Path]) -> set[Path]:
    """Return the folders in which files lie; as text, which is quicker to compare."""
    return {Path(folder or ".") for folder in {_parted(path)[0] for path in paths}}


class Identities:
    """Tells one file from another by a text, whatever links lead to its folder.

    It looks up each folder once: of many names, few differ in their folder.
    """

    def __init__(self) -> None:
        self._resolved: dict[str, str] = {}

    def __call__(self, path: Path) -> str:
        """Return what no other file has; links to one file stay different."""
        folder, name = _parted(path)
        if folder not in self._resolved:
            self._resolved[folder] = str(path.parent.resolve()).rstrip(os.sep)
        return f"{self._resolved[folder]}{os.sep}{name}"


class _Links:
    """Tells which files are links; it looks at each folder once."""

    def __init__(self) -> None:
        self._in_folder: dict[str, set[str]] = {}

    def __call__(self, path: Path) -> bool:
        folder, name = _parted(path)
        if folder not in self._in_folder:
            found: set[str] = set()
            with suppress(OSError), os.scandir(path.parent) as entries:
                found = {entry.name for entry in entries if entry.is_symlink()}
            self._in_folder[folder] = found
        return name in self._in_folder[folder]


def _parted(path: Path) -> tuple[str, str]:
    folder, slash, name = str(path).rpartition(os.sep)
    return folder or slash, name
