"""``pfeseg bsds``: the paper's experiment on a data set."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.engines import Machines, engine_options
from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import dims_option, quiet_option, report_option
from pfeseg.cli.progress import count_bar
from pfeseg.cli.settings import CUT_OPTIONS, make_settings, settings_options
from pfeseg.cli.values import words
from pfeseg.cli.wording import in_options, say
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.methods import METHODS

if TYPE_CHECKING:
    from pfeseg.benchmark.dataset import Item
    from pfeseg.benchmark.runs import Plan


@click.command(
    cls=Command,
    common=("output", "methods", "dims", "split", "limit", "wants_page", "jobs"),
)
@click.argument("root", type=click.Path(path_type=Path))
@option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, file_okay=False),
    metavar="DIR",
    required=True,
    heading=Heading.RESULTS,
    help="Folder of the run. The same command continues a run that was stopped.",
)
@option(
    "--split",
    default="train",
    show_default=True,
    heading=Heading.INPUTS,
    help="Part of the data set to run on.",
)
@option(
    "--methods",
    type=words([*METHODS, "auto", "hierarchy"]),
    default=",".join(METHODS),
    show_default=True,
    metavar="NAME,...",
    heading=Heading.CUT,
    help="Methods to run, as in 'segment'. auto is pfe with -d auto -k auto; hierarchy scores all "
    "levels of the hierarchy of regions.",
)
@dims_option("Dimensions to run, each with k = d; auto and hierarchy do not use them.", "5:25")
@engine_options("Number of images to work on at the same time.")
@option(
    "--limit",
    type=click.IntRange(min=1),
    metavar="N",
    heading=Heading.INPUTS,
    help="Work on the first N images only.",
)
@option(
    "--no-figures",
    is_flag=True,
    heading=Heading.RESULTS,
    help="Leave out the figures, which need matplotlib.",
)
@report_option("DIR/report.html, with tables, box plots, and the worst and best images")
@quiet_option("Print errors only.")
@settings_options(without=("n_dims", *CUT_OPTIONS, "method", "min_region"))
def bsds(
    root: Path,
    output: Path,
    split: str,
    methods: tuple[str, ...],
    dims: tuple[int, ...],
    machines: Machines,
    limit: int | None,
    no_figures: bool,
    wants_page: bool,
    quiet: bool,
    **options: Any,
) -> int:  # fmt: skip
    """Run the paper's experiment on ROOT, a folder laid out like BSDS500.

    ROOT holds images/SPLIT/NAME.jpg and groundTruth/SPLIT/NAME.mat. Every image is segmented by
    every method with every d, and k = d. Each segmentation is scored at full size, both as it is
    and cleaned, which leaves connected regions of at least 0.5 % of the image.

    The method 'hierarchy' builds one hierarchy of regions for each image, with the d of the
    settings. Its regions are scored at the 99 levels of the benchmark, and its contours as
    'evaluate --boundaries' does.

    \b
    This writes into DIR:
      table.md            the paper's table with bootstrap intervals, and the published figures
      scores.csv          all scores and times; rows/METHOD/*.csv has those of each image
      figure1.png, .pdf   some images and their segmentations for d = 5, 10, ..., 25;
                          figure1_hierarchy.* shows the levels 0.3, 0.4, ..., 0.7
      figure2.png, .pdf   box plots of the computing time for each d, and for the hierarchy
      segs/METHOD/*.mat   the segmentations, in the format of the benchmark
      ucm/*.mat           the contour maps of the hierarchy, in the format of the benchmark

    \b
    Examples:
      pfeseg bsds BSR/BSDS500/data -o results --jobs 4
      pfeseg bsds BSR/BSDS500/data -o quick --methods pfe,gmm -d 5,10,15 --limit 5
      pfeseg bsds BSR/BSDS500/data -o default --methods hierarchy --split val
    """
    # What the command itself varies must not come from --config.
    fixed = {"method": "pfe", "cut": Clusters("dims"), "min_region": 0.0}
    settings = make_settings(**options).changed(**fixed)
    from pfeseg.benchmark.dataset import find_items
    from pfeseg.benchmark.figures import check_matplotlib
    from pfeseg.benchmark.results import write_results
    from pfeseg.benchmark.runs import TABLE, Plan, start_run

    figures = not {"pfe", "hierarchy"}.isdisjoint(methods) and not no_figures
    if figures:
        check_matplotlib()
    plan = Plan(output, split, methods, dims, settings)
    items = find_items(root, split, limit)
    start_run(plan, items)
    failed = _run(plan, items, machines, quiet)
    written = write_results(plan, items, figures)
    if wants_page:
        from pfeseg.page.bsds import write_bsds_page

        written.append(output / "report.html")
        write_bsds_page(written[-1], output)
    if not quiet:
        click.echo((output / TABLE).read_text(encoding="utf-8"))
        say("written: " + ", ".join(str(p) for p in written))
    return 1 if failed else 0


def _run(plan: Plan, items: Sequence[Item], machines: Machines, quiet: bool) -> bool:
    """Work on the images that are not done, and tell what failed; returns whether anything did."""
    from pfeseg.benchmark.running import run_items

    todo = sum(bool(plan.missing(item)) for item in items)
    if not quiet and todo < len(items):
        say(f"{len(items) - todo} of {len(items)} images are done already")
    failed = False
    with (
        machines.open(todo, plan.output, [items[0].image]) as engine,
        count_bar(todo, "image", quiet) as bar,
        closing(run_items(plan, items, engine)) as outcomes,
    ):
        for outcome in outcomes:
            bar.update()
            failed = failed or bool(outcome.errors)
            with bar.external_write_mode():
                for error in outcome.errors:
                    say(f"Error: {in_options(error)}")
    return failed
