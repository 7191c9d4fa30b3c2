"""Where results go: one name for each kind of result, and no surprise in a batch."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
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
    parent = source.resolve().parent.name
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
    if not base or base.endswith("/") or Path(base).is_absolute() or ".." in Path(f"{base}_").parts:
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
    taken: dict[Path, Path] = {}
    identity = _identifier()
    for source, results in plan.items():
        for path in results.values():
            key = identity(path)
            if key in taken:
                return taken[key], source, path
            taken[key] = source
    return None


def check_plan(plan: Plan, advice: str = "", kinds: Mapping[str, Kind] = KINDS) -> None:
    """Refuse, before any work, two inputs with one output, and folders that cannot be written.

    `plan` maps each input to its results, of these `kinds`; `advice` says what tells inputs apart
    that clash.
    """
    clash = find_clash(plan)
    if clash:
        first, second, path = clash
        raise InvalidInputError(f"{first} and {second} would both write {path}; {advice}")
    folders: dict[Path, Path] = {}
    identity = _identifier()
    inputs = {path.resolve() if path.is_symlink() else identity(path) for path in plan}
    for source, results in plan.items():
        for kind, path in results.items():
            key = identity(path)
            if key in inputs or (path.is_symlink() and path.resolve() in inputs):
                raise InvalidInputError(f"{path} is an input and would be written over")
            if kinds[kind].is_folder:
                folders[key] = source
    written = (identity(path) for results in plan.values() for path in results.values())
    for path in (*written, *inputs) if folders else ():
        around = next((folder for folder in path.parents if folder in folders), None)
        if around is not None:
            raise InvalidInputError(
                f"{path} lies in {around}, which {folders[around]} would write as a whole; "
                "give another --template or -o"
            )
    for folder in {path.parent for results in plan.values() for path in results.values()}:
        refuse_unwritable(folder)


def _identifier() -> Callable[[Path], Path]:
    """Make what tells one result from another, whatever links lead to its folder.

    It looks up each folder once: of many names, few differ in their folder.
    """
    resolved = cache(Path.resolve)
    return lambda path: resolved(path.parent) / path.name
