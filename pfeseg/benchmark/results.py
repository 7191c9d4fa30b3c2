"""What a run over a data set leaves: its table, its scores and the paper's figures."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pfeseg import __version__
from pfeseg.benchmark.dataset import Item, Plan, Row, read_rows, rows_text
from pfeseg.benchmark.figures import draw_examples, draw_times, save_figure
from pfeseg.benchmark.tables import gather, markdown
from pfeseg.files.matlab import read_segmentations
from pfeseg.files.reading import read_image
from pfeseg.files.writing import write_text
from pfeseg.image.arrays import as_rgb
from pfeseg.pictures.overlay import draw_overlay

EXAMPLE_DIMS = (5, 10, 15, 20, 25)
N_EXAMPLES = 6


def write_results(plan: Plan, items: Sequence[Item], figures: bool) -> list[Path]:
    """Write the table, all scores and, on demand, the figures; returns their paths."""
    done = [item for item in items if not plan.missing(item)]
    rows = [
        row
        for method in plan.methods
        for item in done
        for row in read_rows(plan.rows_path(method, item))
    ]
    span = f"{min(plan.dims)} to {max(plan.dims)}" if len(plan.dims) > 1 else f"{plan.dims[0]}"
    title = f"BSDS500 {plan.split}, d = k from {span}, pfeseg {__version__}"
    if len(done) < len(items):
        title += f" ({len(items) - len(done)} of {len(items)} images failed)"
    written = [plan.output / "table.md", plan.output / "scores.csv"]
    write_text(written[0], markdown(gather(rows), plan.split, title))
    write_text(written[1], rows_text(rows))
    if figures:
        written += _write_figures(plan, done, rows)
    return written


def _write_figures(plan: Plan, items: Sequence[Item], rows: Sequence[Row]) -> list[Path]:
    dims = [d for d in EXAMPLE_DIMS if d in plan.dims] or list(plan.dims[: len(EXAMPLE_DIMS)])
    chosen = [items[int(i)] for i in np.unique(np.linspace(0, len(items) - 1, N_EXAMPLES).round())]
    examples = []
    for item in chosen:
        image = as_rgb(read_image(item.image))
        labels = read_segmentations(plan.segs_path("pfe", item, cleaned=False))
        pictures = {d: draw_overlay(image, labels[plan.dims.index(d)]) for d in dims}
        examples.append((image, pictures))
    seconds = {
        d: [
            row.seconds_init + row.seconds_embed
            for row in rows
            if (row.method, row.cleaned, row.d) == ("pfe", 0, d)
        ]
        for d in plan.dims
    }
    return [
        *save_figure(draw_examples(examples), plan.output, "figure1"),
        *save_figure(draw_times(seconds), plan.output, "figure2"),
    ]
