"""A sweep as people see it: a row for each trial, a table, a CSV file and a sheet of pictures."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.image.arrays import ImageLike
from pfeseg.labels.following import follow
from pfeseg.labels.metrics import Scores, score
from pfeseg.pictures.montage import draw_contact_sheet
from pfeseg.segmentation.sweep import Sweep

_FORMATS = {"d": "d", "k": "d", "regions": "d", "orthogonality": ".3g", "seconds": ".2f"}


@dataclass(frozen=True)
class SweepRow:
    """One trial of a sweep; `scores` where there is ground truth."""

    d: int
    k: int
    regions: int
    energy: float | None
    flatness: float | None
    orthogonality: float | None
    agreement: float
    seconds: float
    scores: Scores | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the columns, the scores beside the others."""
        values = asdict(self)
        return values | (values.pop("scores") or {})


def sweep_rows(result: Sweep, truths: Sequence[ArrayLike]) -> list[SweepRow]:
    """Make a row of each trial, scored against the ground truths if there are any."""
    return [
        SweepRow(
            d=trial.n_dims,
            k=trial.n_clusters,
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


def sweep_csv(rows: Sequence[SweepRow]) -> str:
    """Return rows as CSV text."""

    def text(value: Any) -> str:
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

    table = [row.to_dict() for row in rows]
    lines = [",".join(table[0])]
    lines += [",".join(text(value) for value in row.values()) for row in table]
    return "\n".join(lines) + "\n"


def sweep_table(rows: Sequence[SweepRow], shown: Sequence[int], recommended: int) -> list[str]:
    """Return the lines of a table of some rows, the recommended one marked."""
    columns = list(rows[0].to_dict())
    lines = ["  ".join(f"{name:>{max(len(name), 5)}}" for name in columns)]
    for index in shown:
        cells = []
        for name, value in rows[index].to_dict().items():
            text = "-" if value is None else f"{value:{_FORMATS.get(name, '.4f')}}"
            cells.append(f"{text:>{max(len(name), 5)}}")
        lines.append("  ".join(cells) + ("  <- recommended" if index == recommended else ""))
    return lines


def sweep_sheet(
    image: ImageLike, result: Sweep, rows: Sequence[SweepRow], shown: Sequence[int]
) -> NDArray[np.uint8]:
    """Draw a sheet of some trials, the recommended one framed; regions keep their colours."""

    def caption(index: int) -> str:
        row = rows[index]
        lines = [f"d = {row.d}, k = {row.k}"]
        lines += [f"covering {row.scores.covering:.2f}"] if row.scores else []
        lines += ["recommended"] if index == result.recommended else []
        return "\n".join(lines)

    maps = follow([result.shown_labels(result.trials[index]) for index in shown])
    return draw_contact_sheet(
        image,
        [(labels, caption(index)) for labels, index in zip(maps, shown, strict=True)],
        marked=list(shown).index(result.recommended),
    )
