"""The table of quality: its rows, on the screen, as JSON, and in a page of Markdown."""

from __future__ import annotations

import json
from collections.abc import Sequence
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
    def cells(self) -> list[str]:
        """The cells of the row in the long table."""
        figures = [" / ".join(f"{x:.3f}" for x in scores or ()) for scores in (self.one, self.ois)]
        seconds = "" if self.seconds is None else f"{self.seconds:.2f}"
        return [self.method, figures[0], self.setting, figures[1], seconds]

    @property
    def short_cells(self) -> list[str]:
        """The cells of the row in the short table: the method, and the scores with one setting."""
        return [self.method, *(f"{score:.3f}" for score in self.one or ())]


def line_of(cells: list[str]) -> str:
    """Write a row in Markdown."""
    return f"| {' | '.join(cells)} |"


@dataclass
class Table:
    """The rows of one run, printed as they come.

    They are also written into `record` (JSON) and the tables of some pages at once, so that a run
    that is stopped keeps them.
    """

    tuned_on: int
    judged_on: int
    record: Path | None = None
    pages: Sequence[Path] = ()
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
        print(line_of(row.cells), flush=True)
        if self.record:
            self.write(self.record)
        for page in self.pages:
            write_scores_into(page, self)

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


def write_scores_into(page: Path, table: Table) -> None:
    """Replace the figures of the long and the short tables of a page; bold rows stay bold."""
    rows = {(row.method, row.setting): row for row in table.rows}
    rows |= {(row.method, ""): row for row in table.rows}

    def replaced(line: str) -> str:
        cells = [cell.strip() for cell in line.split("|")[1:-1]]
        plain = [cell.strip("*") for cell in cells]
        row = rows.get((plain[0], plain[2] if len(cells) == 5 else "")) if cells else None
        if row is None or len(cells) not in (4, 5):
            return line
        new = row.cells if len(cells) == 5 else row.short_cells
        pairs = zip(cells, new, strict=True)
        return line_of([f"**{cell}**" if old.startswith("**") else cell for old, cell in pairs])

    lines = page.read_text().splitlines()
    page.write_text("\n".join(map(replaced, lines)) + "\n")
