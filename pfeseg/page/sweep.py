"""The page of a sweep: sliders over its dimensions, and over its clusters, levels or regions."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from pfeseg.files.sweep_data import SWEEP_DATA, SweepData, read_sweep_data
from pfeseg.image.arrays import Raster
from pfeseg.labels.following import follow
from pfeseg.page.html import page_html, write_page
from pfeseg.page.record import blank, map_of_labels, view_of
from pfeseg.page.results import original_of

SLIDERS = {
    "k": "Number of clusters k", "level": "Level of the hierarchy", "regions": "Regions",
}  # fmt: skip
"""Columns by which trials of one dimension differ, and their titles."""


def find_sweeps(folder: Path) -> list[Path]:
    """List what sweeps left in a folder and its subfolders."""
    return sorted(path for path in folder.rglob(f"*{SWEEP_DATA}") if path.is_file())


def page_of(path: Path) -> Path:
    """Return where the page of such data is written."""
    return path.with_suffix(".html")


def write_page_again(path: Path, data_path: Path) -> None:
    """Write the page of a sweep from what it left on disk."""
    write_sweep_page(path, read_sweep_data(data_path), data_path)


def write_sweep_page(path: Path, data: SweepData, data_path: Path) -> None:
    """Write the page of a sweep, whose data lie, or could lie, at `data_path`.

    The original is looked for where it was, and beside the data.
    """
    report = data.report
    _, image = original_of(data_path, report)
    width, height = report["image_size"]
    shown = image or blank(np.ones((height, width), np.uint8))
    write_page(
        path, page_html("sweep", f"{Path(report['input']).name}: sweep", _content(data, shown))
    )


def _content(data: SweepData, image: Raster) -> dict[str, Any]:
    trials = data.report["trials"]
    rows = [trial["row"] for trial in trials]
    by = data.report["by"]
    order = sorted(range(len(rows)), key=lambda k: (rows[k]["d"], rows[k][by] or 0))
    maps = follow([data.maps[k].astype(np.int32) for k in order])
    return {
        "size": data.report["image_size"],
        "original": view_of(image.picture()),
        "by": by,
        "title": SLIDERS[by],
        "columns": [name for name in rows[0] if any(row[name] is not None for row in rows)],
        "trials": [
            {
                "row": rows[k],
                "command": trials[k]["command"],
                "map": map_of_labels(labels, None, data.report["first_label"]),
                "recommended": k == data.report["recommended"],
            }
            for k, labels in zip(order, maps, strict=True)
        ],
    }
