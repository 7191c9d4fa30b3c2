"""One file to work on, whatever it holds: where it is, and where its results go."""

from __future__ import annotations

from abc import ABC
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, ClassVar, Protocol

from pfeseg.files.kinds import Kind
from pfeseg.files.names import ResultPaths


class AskedSettings(Protocol):
    """Settings as reports hold them."""

    def __hash__(self) -> int:
        """Tell equal settings by a number; they never change."""
        ...

    def to_dict(self) -> dict[str, Any]:
        """Return them as plain values."""
        ...

    @classmethod
    def from_dict(cls, values: Any) -> AskedSettings:
        """Make them of what `to_dict` returned, perhaps in an earlier version."""
        ...


@dataclass(frozen=True)
class FileTask(ABC):
    """A file, the path of each kind of result, the report last, and the settings.

    Attributes
    ----------
    source : Path
    results : ResultPaths
    settings : object
    replaces : bool
        Whether results that are there, and hold something else, may be replaced.
    kept : dict
        Sizes of the results of the same settings that are there already, by their names.
    kinds : dict
        The kinds of results that there are.
    method_version : int
        Of what makes the results; those of another are not the same.
    for_less_memory : str
        What to change where memory is short, arguments marked.
    """

    source: Path
    results: ResultPaths
    settings: AskedSettings
    replaces: bool = field(default=True, kw_only=True)
    kept: Mapping[str, int] = field(default_factory=dict, kw_only=True)

    kinds: ClassVar[Mapping[str, Kind]]
    method_version: ClassVar[int]
    for_less_memory: ClassVar[str]

    @property
    def name(self) -> str:
        """What to call the input."""
        return self.source.name

    @property
    def full_name(self) -> str:
        """What to call the input in errors and warnings, where there may be others of its name."""
        return str(self.source)

    def sources(self) -> dict[str, Path | bytes]:
        """Return the files, or contents, of which results are made, as a report calls them."""
        return {"input": self.source}

    def options(self) -> dict[str, Any]:
        """Return what was asked for beside the settings, as a report holds it; None if not."""
        return {}

    def parts_of(self, kind: str) -> tuple[Path, ...]:
        """Name a result, and all that may lie beside it and is part of it."""
        result = self.results[kind]
        return result, *self.kinds[kind].beside(result)
