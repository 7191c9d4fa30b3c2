"""What is known of each segmentation of a run, and the table of it on disk."""

from __future__ import annotations

import csv
import io
from collections.abc import Sequence
from dataclasses import Field, asdict, dataclass, fields
from pathlib import Path
from typing import Any

from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import MAX_TEXT, read_file


@dataclass(frozen=True, kw_only=True)
class Row:
    """One segmentation of one image.

    Attributes
    ----------
    cleaned : int
        1 if made of connected regions, small ones absorbed; else 0.
    d : int
    k : int or None
        Number of clusters.
    level : float or None
        Of the hierarchy; a segmentation has either this or k.
    regions : int
        Number of labels.
    covered, pixels : float
        Their ratio is the covering; a data set's is the ratio of their sums.
    pri, vi : float
    drawn, right, human, found : int or None
        `BoundaryCounts` of the contours; of levels only.
    seconds_* : float
        Of each of `STAGES`; 0 for those that the method has not.
    """

    image: str
    method: str
    cleaned: int
    d: int
    k: int | None = None
    level: float | None = None
    regions: int
    covered: float
    pixels: float
    pri: float
    vi: float
    drawn: int | None = None
    right: int | None = None
    human: int | None = None
    found: int | None = None
    seconds_choose: float = 0.0
    seconds_downsample: float = 0.0
    seconds_graph: float = 0.0
    seconds_init: float = 0.0
    seconds_embed: float = 0.0
    seconds_cluster: float = 0.0
    seconds_hierarchy: float = 0.0
    seconds_full_size: float = 0.0

    @property
    def seconds(self) -> float:
        """Of all stages."""
        return float(sum(getattr(self, f"seconds_{stage}") for stage in STAGES))


COLUMNS = tuple(field.name for field in fields(Row))

_SECONDS = "seconds_"
STAGES = tuple(name.removeprefix(_SECONDS) for name in COLUMNS if name.startswith(_SECONDS))
"""Stages that are timed, as `Segmentation.timings` names them."""

_KINDS = {"str": str, "int": int, "float": float}


def rows_text(rows: Sequence[Row]) -> str:
    """Return rows as CSV; what is None is blank."""
    text = io.StringIO()
    writer = csv.DictWriter(text, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """Read rows that `rows_text` made."""
    try:
        reader = csv.DictReader(io.StringIO(read_file(path, MAX_TEXT).decode(), newline=""))
        if tuple(reader.fieldnames or ()) != COLUMNS:
            raise ValueError("it has other columns")
        return [
            Row(**{field.name: _read(field, line[field.name]) for field in fields(Row)})
            for line in reader
        ]
    except (ValueError, TypeError, csv.Error) as error:
        raise InvalidInputError(
            f"{path}: not a table of this version ({error}); delete it and run again"
        ) from error


def _read(field: Field[Any], text: str) -> Any:
    kind = str(field.type).removesuffix(" | None")  # a string, as annotations are here
    return None if kind != field.type and not text else _KINDS[kind](text)
