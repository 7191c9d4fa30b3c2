"""A sweep as people see it: a row for each trial, a table, a CSV file, a sheet of pictures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.files.sweep_data import SweepData
from pfeseg.image.arrays import ImageLike
from pfeseg.labels.following import follow
from pfeseg.labels.metrics import Scores, score
from pfeseg.pictures.montage import draw_contact_sheet
from pfeseg.segmentation.cuts import DEFAULT_LEVEL, Clusters, Level, Regions
from pfeseg.segmentation.sweep import Sweep
from pfeseg.segmentation.trials import Trial

_FORMATS = {
    "d": "d", "k": "d", "level": "g", "regions": "d", "orthogonality": ".3g", "seconds": ".2f",
}  # fmt: skip


@dataclass(frozen=True)
class SweepRow:
    """One trial of a sweep; `scores` where there is ground truth."""

    d: int
    k: int | None
    level: float | None
    regions: int
    energy: float | None
    flatness: float | None
    orthogonality: float | None
    agreement: float | None
    seconds: float
    scores: Scores | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the columns, the scores beside the others."""
        values = asdict(self)
        return values | (values.pop("scores") or {})

    def title(self, with_d: bool) -> str:
        """Say in a few words what was tried."""
        words = [f"d = {self.d}"] if with_d else []
        if self.k is not None:
            words.append(f"k = {self.k}")
        elif self.level is not None:
            words.append(f"level {self.level:g}")
        else:
            words.append(counted(self.regions))
        return ", ".join(words)


def sweep_rows(result: Sweep, truths: Sequence[ArrayLike]) -> list[SweepRow]:
    """Make a row of each trial, scored against the ground truths if there are any."""
    return [
        SweepRow(
            d=trial.n_dims,
            k=trial.n_clusters,
            level=trial.level,
            regions=trial.n_regions,
            energy=trial.energy,
            flatness=trial.flatness,
            orthogonality=trial.orthogonality_error,
            agreement=trial.agreement,
            seconds=round(trial.seconds, 4),
            scores=score(result.labels(trial), truths) if truths else None,
        )
        for trial in result.trials
    ]


def counted(n_regions: int) -> str:
    """Say how many regions there are."""
    return f"{n_regions} region{'' if n_regions == 1 else 's'}"


def shown_rows(result: Sweep, n_asked: int) -> list[int]:
    """List the trials that were asked for, and the recommended one if it is none of them."""
    extra = [result.recommended] if result.recommended >= n_asked else []
    return [*range(n_asked), *extra]


def best_rows(rows: Sequence[SweepRow]) -> dict[str, SweepRow]:
    """Return the best row by each metric; empty without ground truth."""
    scored = [(row, row.scores) for row in rows if row.scores is not None]
    if not scored:
        return {}
    return {
        "covering": max(scored, key=lambda pair: pair[1].covering)[0],
        "pri": max(scored, key=lambda pair: pair[1].pri)[0],
        "vi": min(scored, key=lambda pair: pair[1].vi)[0],
    }


def sweep_facts(rows: Sequence[SweepRow], n_asked: int, best: Trial) -> dict[str, Any]:
    """Return the rows that were asked for, and what is best among them, for JSON."""
    facts: dict[str, Any] = {"recommended": {"d": best.n_dims} | dict([_cut_value(best)])}
    facts["rows"] = [row.to_dict() for row in rows[:n_asked]]
    scored = best_rows(rows[:n_asked])
    if scored:
        facts["best"] = {metric: row.to_dict() for metric, row in scored.items()}
    return facts


def cut_words(trial: Trial, with_d: bool) -> list[str]:
    """Return the options of 'segment' that make the labels of a trial."""
    name, value = _cut_value(trial)
    dims = ["-d", str(trial.n_dims)] if with_d or name == "k" else []
    return [*dims, "-k" if name == "k" else f"--{name}", f"{value:.10g}"]


def recommendation(best: Trial) -> str:
    """Say why a cut of the hierarchy is recommended, in brackets; that of clusters is not said."""
    if isinstance(best.cut, Clusters):
        return ""
    if best.cut == Level(DEFAULT_LEVEL):
        return " (the default level)"
    return f" (what the default level {DEFAULT_LEVEL:g} gives)"


def _cut_value(trial: Trial) -> tuple[str, float]:
    """Return the name and the value of what says how a trial was cut."""
    if isinstance(trial.cut, Regions):
        return "regions", trial.cut.n_regions
    if isinstance(trial.cut, Level):
        return "level", trial.cut.level
    return "k", trial.cut.count(trial.n_dims)


def sweep_data(
    source: Path,
    reading: Mapping[str, Any],
    result: Sweep,
    rows: Sequence[SweepRow],
    commands: Sequence[str],
) -> SweepData:
    """Return what the page of a sweep is made of.

    Parameters
    ----------
    source : Path
        Of the image.
    reading : mapping
        How it was read: `page`, `mask` and `nodata`, as `read_raster` takes them.
    result : Sweep
    rows : sequence of SweepRow
        One for each trial.
    commands : sequence of str
        What makes the labels of each trial.
    """
    image = result.prepared.image
    report = {
        "input": str(source),
        **{name: value for name, value in reading.items() if value and name != "allow_huge"},
        "image_size": [int(side) for side in image.shape[::-1]],
        "first_label": int(image.mask is not None),
        "settings": result.prepared.settings.to_dict(),
        "by": _cut_value(result.trials[0])[0],
        "trials": [
            {"row": row.to_dict(), "command": command}
            for row, command in zip(rows, commands, strict=True)
        ],
        "recommended": result.recommended,
    }
    return SweepData(report, np.stack([result.shown_labels(trial) for trial in result.trials]))


def sweep_csv(rows: Sequence[SweepRow]) -> str:
    """Return rows as CSV text."""

    def text(value: Any) -> str:
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

    table = [row.to_dict() for row in rows]
    lines = [",".join(table[0])]
    lines += [",".join(text(value) for value in row.values()) for row in table]
    return "\n".join(lines) + "\n"


def sweep_table(rows: Sequence[SweepRow], shown: Sequence[int], recommended: int) -> list[str]:
    """Return the lines of a table of some rows, the recommended one marked.

    Columns in which there is nothing are left out.
    """
    table = {index: rows[index].to_dict() for index in shown}
    columns = [
        name for name in rows[0].to_dict()
        if any(values[name] is not None for values in table.values())
    ]  # fmt: skip
    lines = ["  ".join(f"{name:>{max(len(name), 5)}}" for name in columns)]
    for index, values in table.items():
        cells = []
        for name in columns:
            value = values[name]
            text = "-" if value is None else f"{value:{_FORMATS.get(name, '.4f')}}"
            cells.append(f"{text:>{max(len(name), 5)}}")
        lines.append("  ".join(cells) + ("  <- recommended" if index == recommended else ""))
    return lines


def sweep_sheet(
    image: ImageLike, result: Sweep, rows: Sequence[SweepRow], shown: Sequence[int]
) -> NDArray[np.uint8]:
    """Draw a sheet of some trials, the recommended one framed; regions keep their colours."""
    with_d = len({row.d for row in rows}) > 1 or rows[0].k is not None

    def caption(index: int) -> str:
        row = rows[index]
        lines = [row.title(with_d)]
        lines += [counted(row.regions)] if row.level is not None else []
        lines += [f"covering {row.scores.covering:.2f}"] if row.scores else []
        lines += ["recommended"] if index == result.recommended else []
        return "\n".join(lines)

    maps = follow([result.shown_labels(result.trials[index]) for index in shown])
    return draw_contact_sheet(
        image,
        [(labels, caption(index)) for labels, index in zip(maps, shown, strict=True)],
        marked=list(shown).index(result.recommended),
    )
