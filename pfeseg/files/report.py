"""The report beside a result: its settings, how it came about, and what became of it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from pfeseg import __version__
from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import read_json
from pfeseg.kernels import variant

FILES = "files"
"""Where a report names the results that belong to it, and the bytes of each."""


def report_text(
    source: Path,
    result: dict[str, Any],
    timings: dict[str, float],
    reading: dict[str, Any],
    method_version: int,
) -> str:
    """Return the report of one image, or other file, as JSON text.

    `result` is what there is to tell of the result; the timings are of files too; `reading` is what
    is known of the file and how it was read, and which results there are.
    """
    report = {
        "input": str(source),
        **reading,
        "pfeseg_version": __version__,
        "method_version": method_version,
        "kernels": variant(),
        **result,
        "timings": timings,
    }
    return json.dumps(report, indent=2) + "\n"


def read_report(path: Path) -> dict[str, Any]:
    """Read a report that `report_text` made."""
    report = read_json(path)
    if not isinstance(report, dict) or "pfeseg_version" not in report:
        raise InvalidInputError(f"{path}: not a report of pfeseg")
    return report
