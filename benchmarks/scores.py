"""The table of quality: its rows, on the screen, as JSON, and in a page of Markdown."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Protocol

import pfeseg


class Scored(Protocol):
    """Scores by the three metrics of the benchmark."""

    covering: float
    pri: float
    vi: float


def three(scores: Scored | None) -> tuple[float, ...] | None:
    """Return covering, PRI and VI with as many digits as are told."""
    if scores is None:
        return None
    return tuple(round(float(score), 3) for score in (scores.covering, scores.pri, scores.vi))


@dataclass(frozen=True)
class Row:
    """Covering, PRI and VI of a method: with one setting for all images, and with the best (OIS).

    `tuned_on` and `judged_on` are numbers of images.
    """

    method: str
    setting: str
    one: tuple[float, ...] | None
    ois: tuple[float, ...] | None
    seconds: float | None
    tuned_on: int
    judged_on: int
    pfeseg: str

    @property
    def line(self) -> str:
        """The row in Markdown."""
        figures = [
            "" if f is None else " / ".join(f"{x:.3f}" for x in f) for f in (self.one, self.ois)
        ]
        seconds = "" if self.seconds is None else f"{self.seconds:.2f}"
        return f"| {self.method} | {figures[0]} | {self.setting} | {figures[1]} | {seconds} |"


@dataclass
class Table:
    """The rows of one run, printed as they come."""

    tuned_on: int
    judged_on: int
    rows: list[Row] = field(default_factory=list)

    def add(
        self,
        method: str,
        setting: str,
        one: Scored,
        ois: Scored | None = None,
        seconds: float | None = None,
    ) -> None:
        """Take a row."""
        counts = (self.tuned_on, self.judged_on)
        taken = None if seconds is None else round(seconds, 3)
        row = Row(method, setting, three(one), three(ois), taken, *counts, pfeseg.__version__)
        self.rows.append(row)
        print(row.line, flush=True)

    def write(self, path: Path) -> None:
        """Write the rows in the place of those of the same methods; other rows stay."""
        computed = {row.method for row in self.rows}
        kept = [row for row in read_rows(path) if row.method not in computed]
        rows = [asdict(row) for row in (*kept, *self.rows)]
        path.write_text(json.dumps({"rows": rows}, indent=1) + "\n")


def read_rows(path: Path) -> list[Row]:
    """Read the rows that were written."""
    if not path.exists():
        return []
    return [Row(**_tuples(row)) for row in json.loads(path.read_text())["rows"]]


def _tuples(row: dict[str, Any]) -> dict[str, Any]:
    return {name: tuple(x) if isinstance(x, list) else x for name, x in row.items()}


def short_line(row: Row) -> str:
    """Return the row as the README has it: the method, and three figures with one setting."""
    figures = " | ".join(f"{score:.3f}" for score in row.one or ())
    return f"| {row.method} | {figures} |"


def write_scores_into(page: Path, table: Table) -> None:
    """Replace the rows of a page that tell the same methods."""
    new = {row.method: short_line(row) for row in table.rows}
    lines = page.read_text().splitlines()
    page.write_text("\n".join(new.get(_method(x), x) for x in lines) + "\n")


def _method(line: str) -> str:
    cells = line.split("|")
    return cells[1].strip() if len(cells) == 6 else ""
