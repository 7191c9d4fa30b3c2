"""The page of a sweep: a slider over its dimensions and numbers of clusters."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from pfeseg.image.arrays import Raster
from pfeseg.labels.following import follow
from pfeseg.page.html import page_html, write_page
from pfeseg.page.record import map_of_labels, view_of
from pfeseg.run.sweep import SweepRow
from pfeseg.segmentation.sweep import Sweep


def write_sweep_page(
    path: Path,
    command: str,
    name: str,
    image: Raster,
    result: Sweep,
    rows: Sequence[SweepRow],
) -> None:
    """Write the page of a sweep.

    Parameters
    ----------
    path : Path
        Of the HTML file.
    command : str
        The command line that segments the image, but for -d and -k.
    name : str
        Of the image.
    image : Raster
    result : Sweep
    rows : sequence of SweepRow
        One for each trial.
    """
    order = sorted(range(len(rows)), key=lambda index: (rows[index].d, rows[index].k))
    maps = follow([result.shown_labels(result.trials[index]) for index in order])
    first_label = 0 if image.mask is None else 1
    trials = [
        {
            "row": rows[index].to_dict(),
            "map": map_of_labels(labels, None, first_label),
            "recommended": index == result.recommended,
        }
        for index, labels in zip(order, maps, strict=True)
    ]
    data: dict[str, Any] = {
        "command": command,
        "size": list(image.shape[::-1]),
        "original": view_of(image.picture()),
        "columns": list(rows[0].to_dict()),
        "trials": trials,
    }
    write_page(path, page_html("sweep", f"{name}: sweep", data))
