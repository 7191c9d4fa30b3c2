"""Where results go: one name for each kind of result, and no surprise in a batch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path
from string import Formatter

from pfeseg.errors import InvalidInputError
from pfeseg.files.kinds import KINDS, REPORT, Kind
from pfeseg.files.writing import refuse_unwritable

TEMPLATE_FIELDS = ("stem", "ext", "parent")


class ResultPaths(Mapping[str, Path]):
    """The path of each kind of result of one input; all of them lie in one folder.

    Each path is made when it is asked for: a batch may have a million inputs.

    Parameters
    ----------
    folder : Path
    base : str
        What all names begin with.
    endings : dict
        What the name of each kind ends in.
    """

    __slots__ = ("_base", "_endings", "folder")

    def __init__(self, folder: Path, base: str, endings: Mapping[str, str]) -> None:
        self.folder, self._base, self._endings = folder, base, endings

    def __getitem__(self, kind: str) -> Path:
        return self.folder / (self._base + self._endings[kind])

    def __iter__(self) -> Iterator[str]:
        return iter(self._endings)

    def __len__(self) -> int:
        return len(self._endings)

    @property
    def names(self) -> list[str]:
        """The name of each result within the folder."""
        return [self._base + ending for ending in self._endings.values()]

    def only(self, kinds: Iterable[str]) -> ResultPaths:
        """Return the paths of some of the kinds."""
        endings = {kind: self._endings[kind] for kind in kinds}
        return ResultPaths(self.folder, self._base, endings)


Plan = Mapping[Path, ResultPaths]
"""Where the results of each input go."""


def check_template(template: str) -> None:
    """Refuse a template that cannot name files."""
    try:
        if any(spec or conversion or (field is not None and field not in TEMPLATE_FIELDS)
               for _, field, spec, conversion in Formatter().parse(template)):  # fmt: skip
            raise ValueError("more than a plain field")
    except ValueError as error:
        fields = ", ".join(f"{{{field}}}" for field in TEMPLATE_FIELDS)
        raise InvalidInputError(
            f"the template {template!r} is not understood; its fields are {fields}"
        ) from error
    _fill(template, dict.fromkeys(TEMPLATE_FIELDS, "x"))


def result_paths(
    source: Path,
    folder: Path,
    kinds: Iterable[str],
    *,
    template: str,
    labels_format: str,
    overlay_format: str = "png",
) -> ResultPaths:
    """Name the results of one input, the report last, by a template that was checked."""
    stem = "stdin" if str(source) == "-" else source.stem
    parent = source.resolve().parent.name if "{parent}" in template else ""
    base = _fill(template, {"stem": stem, "ext": source.suffix[1:], "parent": parent})
    within, _, name = base.rpartition("/")
    endings = _endings((*kinds, REPORT), labels_format, overlay_format)
    return ResultPaths(folder / within if within else folder, name, endings)


@cache
def _endings(kinds: tuple[str, ...], labels_format: str, overlay_format: str) -> dict[str, str]:
    formats = {"labels_format": labels_format, "overlay_format": overlay_format}
    return {kind: KINDS[kind].suffix.format(**formats) for kind in kinds}


def _fill(template: str, values: dict[str, str]) -> str:
    base = template.format(**values)
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
        folder = identity.of_folder(results.folder)
        for name in results.names:
            first = taken.setdefault(f"{folder}{os.sep}{name}", source)
            if first is not source:
                return first, source, results.folder / name
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
    identity, is_link = Identities(), _Links()
    inputs = {str(path.resolve()) if path.is_symlink() else identity(path) for path in plan}
    for results in plan.values():
        folder = identity.of_folder(results.folder)
        for name in results.names:
            if f"{folder}{os.sep}{name}" in inputs or is_link(results.folder, name) in inputs:
                path = results.folder / name
                raise InvalidInputError(f"{path} is an input and would be written over")
    _refuse_in_folders(plan, kinds, inputs)
    for place in {results.folder for results in plan.values()}:
        refuse_unwritable(place)


def _refuse_in_folders(plan: Plan, kinds: Mapping[str, Kind], inputs: Iterable[str]) -> None:
    """Refuse results and inputs that lie in a folder which a run would write as a whole."""
    identity = Identities()
    folders = {
        Path(identity(results[kind])): source
        for source, results in plan.items()
        for kind in results
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


class Identities:
    """Tells one file from another by a text, whatever links lead to its folder.

    It looks up each folder once: of many names, few differ in their folder.
    """

    def __init__(self) -> None:
        self._resolved: dict[str, str] = {}

    def __call__(self, path: Path) -> str:
        """Return what no other file has; links to one file stay different."""
        folder, slash, name = str(path).rpartition(os.sep)
        return f"{self._resolve(folder or slash)}{os.sep}{name}"

    def of_folder(self, folder: Path) -> str:
        """Return what the texts of all files in a folder begin with, up to their names."""
        return self._resolve(str(folder))

    def _resolve(self, folder: str) -> str:
        if folder not in self._resolved:
            self._resolved[folder] = str(Path(folder).resolve()).rstrip(os.sep)
        return self._resolved[folder]


class _Links:
    """Tells where links lead; it looks at each folder once."""

    def __init__(self) -> None:
        self._in_folder: dict[Path, set[str]] = {}

    def __call__(self, folder: Path, name: str) -> str | None:
        """Return where a file of this name leads if it is a link, else None."""
        if folder not in self._in_folder:
            found: set[str] = set()
            with suppress(OSError), os.scandir(folder) as entries:
                found = {entry.name for entry in entries if entry.is_symlink()}
            self._in_folder[folder] = found
        return str((folder / name).resolve()) if name in self._in_folder[folder] else None
