"""``pfeseg bsds``: the paper's experiment on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli import one_line
from pfeseg.cli.options import dims_option, jobs_option, make_settings, settings_options
from pfeseg.cli.progress import count_bar
from pfeseg.methods import CUTS, METHODS

if TYPE_CHECKING:
    from pfeseg.dataset import Item, Plan, Row

EXAMPLE_DIMS = (5, 10, 15, 20, 25)
N_EXAMPLES = 6


def method_names(text: str) -> tuple[str, ...]:
    """Read a comma-separated list of methods."""
    found = tuple(dict.fromkeys(text.split(",")))
    unknown = [name for name in found if name not in (*METHODS, "auto")]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(METHODS)} and auto")
    return found


@click.command()
@click.argument("root", type=click.Path(path_type=Path))
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    required=True,
    help="Folder of the run; one that was stopped is continued.",
)
@click.option("--split", default="train", show_default=True, help="Part of the data set.")
@click.option(
    "--methods",
    type=method_names,
    default=",".join(METHODS),
    show_default=True,
    metavar="NAME,...",
    help="Methods as in 'segment'; auto is pfe with -d auto -k auto.",
)
@dims_option("5:25", "Dimensions to choose from; k = d.")
@jobs_option("Images to work on at a time.")
@click.option(
    "--limit", type=click.IntRange(min=1), metavar="N", help="Take the first N images only."
)
@click.option("--no-figures", is_flag=True, help="Do without the figures, which need matplotlib.")
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@settings_options(
    without=("n_dims", *CUTS, "method", "min_region", "threads"), default_preset="clusters"
)
def bsds(
    root: Path,
    output: Path,
    split: str,
    methods: tuple[str, ...],
    dims: tuple[int, ...],
    jobs: int,
    limit: int | None,
    no_figures: bool,
    quiet: bool,
    **options: Any,
) -> int:  # fmt: skip
    """Run the paper's experiment on ROOT, a folder laid out as BSDS500 is.

    ROOT holds images/SPLIT/NAME.jpg and groundTruth/SPLIT/NAME.mat. Every image is
    segmented by every method with every d, k being d, and scored at full size,
    both as clustered and with connected regions of at least 0.5 % of the image.

    \b
    Writes into DIR:
      table.md            the paper's table with bootstrap intervals, and the published figures
      scores.csv          all scores and times; rows/METHOD/*.csv those of each image
      figure1.png, .pdf   some images and their segmentations for d = 5, 10, ..., 25
      figure2.png, .pdf   box plots of the computing time for each d
      segs/METHOD/*.mat   the segmentations, in the format of the benchmark

    A run that was stopped goes on where it was when the same command is given again.

    \b
    Examples:
      pfeseg bsds BSR/BSDS500/data -o results --jobs 4
      pfeseg bsds BSR/BSDS500/data -o quick --methods pfe,gmm -d 5,10,15 --limit 5
    """
    # What the command itself varies must not come from --config.
    fixed = {"method": "pfe", "n_dims": 15, "n_segments": "dims", "min_region": 0.0}
    settings = make_settings(clusters=True, **options).changed(**fixed, threads=None)
    from pfeseg.dataset import Plan, find_items, run_items, start_run
    from pfeseg.figures import check_matplotlib

    figures = "pfe" in methods and not no_figures
    if figures:
        check_matplotlib()
    plan = Plan(output, split, methods, dims, settings)
    items = find_items(root, split, limit)
    start_run(plan, items)
    todo = sum(bool(plan.missing(item)) for item in items)
    if not quiet and todo < len(items):
        click.echo(f"{len(items) - todo} of {len(items)} images are done already", err=True)
    failed = False
    with count_bar(todo, "image", quiet) as bar, closing(run_items(plan, items, jobs)) as outcomes:
        for outcome in outcomes:
            bar.update()
            failed = failed or bool(outcome["errors"])
            with bar.external_write_mode():
                for error in outcome["errors"]:
                    click.echo(f"Error: {one_line(error)}", err=True)
    written = _write_results(plan, items, figures)
    if not quiet:
        click.echo((output / "table.md").read_text(encoding="utf-8"))
        click.echo(one_line("written: " + ", ".join(str(p) for p in written)), err=True)
    return 1 if failed else 0


def _write_results(plan: Plan, items: Sequence[Item], figures: bool) -> list[Path]:
    from pfeseg import __version__
    from pfeseg.dataset import read_rows, rows_text
    from pfeseg.files import write_text
    from pfeseg.tables import gather, markdown

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
    import numpy as np

    from pfeseg.bsds_files import read_segmentations
    from pfeseg.figures import draw_examples, draw_times, save_figure
    from pfeseg.image import as_rgb
    from pfeseg.pictures import draw_overlay
    from pfeseg.reading import read_image

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
