"""What a run over a data set leaves: its table, its scores and the paper's figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

from pfeseg import __version__
from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.figures import draw_examples, draw_times, save_figure
from pfeseg.benchmark.rows import Row, read_rows, rows_text
from pfeseg.benchmark.runs import HIERARCHY, SCORES, TABLE, Plan
from pfeseg.benchmark.tables import gather, markdown
from pfeseg.files.matlab import UCM_THRESHOLDS, read_segmentations
from pfeseg.files.raster import read_raster
from pfeseg.files.writing import write_text
from pfeseg.pictures.overlay import draw_overlay
from pfeseg.segmentation.cuts import DEFAULT_LEVEL

EXAMPLE_DIMS = (5, 10, 15, 20, 25)
EXAMPLE_LEVELS = (0.3, 0.4, 0.5, 0.6, 0.7)
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
    title = f"BSDS500 {plan.split}{_span(plan)}, pfeseg {__version__}"
    if len(done) < len(items):
        title += f" ({len(items) - len(done)} of {len(items)} images failed)"
    written = [plan.output / TABLE, plan.output / SCORES]
    write_text(written[0], markdown(gather(rows), plan.split, title))
    write_text(written[1], rows_text(rows))
    if figures:
        written += _write_figures(plan, done, rows)
    return written


def _span(plan: Plan) -> str:
    if plan.methods == (HIERARCHY,):
        return ""
    first, last = min(plan.dims), max(plan.dims)
    return f", d = k from {first} to {last}" if first < last else f", d = k = {first}"


def _write_figures(plan: Plan, items: Sequence[Item], rows: Sequence[Row]) -> list[Path]:
    chosen = [items[int(i)] for i in np.unique(np.linspace(0, len(items) - 1, N_EXAMPLES).round())]
    by_dims: dict[int, list[float]] = {}
    written = []
    if "pfe" in plan.methods:
        dims = [d for d in EXAMPLE_DIMS if d in plan.dims] or list(plan.dims[: len(EXAMPLE_DIMS)])
        titles = {f"d = {d}": plan.dims.index(d) for d in dims}
        paths = [plan.segs_path("pfe", item, cleaned=False) for item in chosen]
        written += _write_examples(plan, "figure1", chosen, paths, titles)
        by_dims = {
            d: [
                row.seconds_init + row.seconds_embed
                for row in rows
                if (row.method, row.cleaned, row.d) == ("pfe", 0, d)
            ]
            for d in plan.dims
        }
    if HIERARCHY in plan.methods:
        titles = {
            f"level {level:g}": int(np.searchsorted(UCM_THRESHOLDS, level))
            for level in EXAMPLE_LEVELS
        }
        paths = [plan.ucm_path(item) for item in chosen]
        written += _write_examples(plan, "figure1_hierarchy", chosen, paths, titles)
    hierarchy = [
        row.seconds for row in rows if (row.method, row.level) == (HIERARCHY, DEFAULT_LEVEL)
    ]
    return [*written, *save_figure(draw_times(by_dims, hierarchy), plan.output, "figure2")]


def _write_examples(
    plan: Plan,
    name: str,
    items: Sequence[Item],
    paths: Sequence[Path],
    titles: Mapping[str, int],
) -> list[Path]:
    """Draw some of the segmentations in the files of some images; `titles` names which."""
    examples = []
    for item, path in zip(items, paths, strict=True):
        image = read_raster(item.image, plan.settings.stretch, plan.settings.bands).picture().rgb()
        labels = list(read_segmentations(path))
        pictures = {title: draw_overlay(image, labels[k]) for title, k in titles.items()}
        examples.append((image, pictures))
    return save_figure(draw_examples(examples), plan.output, name)
