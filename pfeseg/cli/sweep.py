"""``pfeseg sweep``: many dimensions of one image, and which to take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.engines import Machines, engine_options
from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import (
    dims_option,
    memory_limit_of,
    memory_option,
    output_folder_option,
    overwrite_option,
    quiet_option,
    reading_options,
    report_option,
    threads_option,
)
from pfeseg.cli.progress import count_bar
from pfeseg.cli.settings import CUT_OPTIONS, make_settings, option_words, settings_options
from pfeseg.cli.values import LEVEL_STEP, numbers
from pfeseg.cli.values import levels as levels_of
from pfeseg.cli.wording import say, usage_errors

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


@click.command(
    cls=Command,
    common=("dims", "n_clusters", "levels", "n_regions", "output", "wants_page", "jobs"),
)
@click.argument("image", type=click.Path(path_type=Path))
@dims_option("Dimensions to try.  [default: 5:10; with --levels or --regions, as in 'segment']")
@option(
    "-k",
    "--segments",
    "n_clusters",
    type=numbers,
    metavar="FIRST:LAST|K,...",
    heading=Heading.CUT,
    help="Numbers of clusters to try with each d.  [default: k = d; the recommended k is chosen "
    "from 3:8]",
)
@option(
    "--levels",
    type=levels_of,
    metavar="FIRST:LAST[:STEP]|T,...",
    heading=Heading.CUT,
    help="Levels of the hierarchy to try with each d, instead of clusters; STEP is "
    f"{LEVEL_STEP:g} unless given.",
)
@option(
    "--regions",
    "n_regions",
    type=numbers,
    metavar="FIRST:LAST|N,...",
    heading=Heading.CUT,
    help="Numbers of regions to try with each d, instead of clusters.",
)
@option(
    "--ground-truth",
    type=click.Path(path_type=Path),
    metavar="FILE",
    heading=Heading.INPUTS,
    help="Score every segmentation against a BSDS .mat file or a label map.",
)
@output_folder_option
@report_option("STEM_sweep.html, with sliders through the trials")
@overwrite_option
@engine_options("Number of dimensions to work on at the same time.")
@threads_option
@memory_option
@option(
    "--json",
    "as_json",
    is_flag=True,
    heading=Heading.RUN,
    help="Print JSON instead of the table.",
)
@quiet_option("Print the table only, without progress.")
@reading_options
@settings_options(without=("n_dims", *CUT_OPTIONS))
def sweep(
    image: Path,
    dims: tuple[int, ...] | None,
    n_clusters: tuple[int, ...] | None,
    levels: tuple[float, ...] | None,
    n_regions: tuple[int, ...] | None,
    ground_truth: Path | None,
    output: Path | None,
    wants_page: bool,
    overwrite: bool,
    machines: Machines,
    threads: int | None,
    memory_limit: float | str | None,
    as_json: bool,
    quiet: bool,
    reading: Reading,
    **options: Any,
) -> None:  # fmt: skip
    """Segment IMAGE in many ways (dimensions, clusters, levels, regions), and recommend one.

    This prints a table and writes STEM_sweep.csv (a row for each segmentation), STEM_sweep.png (a
    sheet of pictures) and STEM_sweep.npz (from which 'pfeseg report' makes a page). The
    graph is built once for all d, and the embedding is computed once for each d, whatever the
    number of clusters, levels or regions.

    \b
    The table says of each segmentation:
      energy         mean over the channels of |M y|_1 / |D^1/2 y|_2; small is flat
      flatness       share of the edges along which the embedding does not change
      orthogonality  squared error of Y^T D Y = I
      agreement      mean Rand index with all the other segmentations

    The recommendation needs no ground truth. If clusters are tried, it is the segmentation that
    agrees best with all the others, because a real boundary is found by many segmentations, and a
    chance one only by a few. 'pfeseg segment -d auto -k auto' chooses in the same way, from d in
    5:10 and k in 3:8.

    If levels or numbers of regions are tried, it is the default level, or the number of regions
    that this level gives. With several d, it is the d whose cut at the default level agrees best
    with those of the others.

    With --ground-truth, the best segmentation by each metric is printed too. With k = d, this is
    the paper's dynamic scheme.

    \b
    Examples:
      pfeseg sweep photo.jpg -d 5:25 --jobs 2
      pfeseg sweep photo.jpg -d 8 -k 3:12
      pfeseg sweep photo.jpg --levels 0.3:0.7
      pfeseg sweep photo.jpg --regions 2:20 --report
      pfeseg sweep photo.jpg -d 5:25 --levels 0.5
      pfeseg sweep photo.jpg -d 5,10,15 --ground-truth photo.mat
    """
    settings = make_settings(**options)
    from pfeseg.files.replacing import appearing_together
    from pfeseg.run.sweeping import SweepTask, open_sweep, plan_sweep

    command = ["pfeseg", "segment", str(image), *option_words(settings), *_reading_words(reading)]
    task = SweepTask(
        image, settings, reading, command, dims, n_clusters, levels, n_regions, ground_truth
    )
    with usage_errors():
        task.pairs()  # refuses what does not go together
    folder = output or image.parent
    endings = ("csv", "png", "npz", *(["html"] if wants_page else []))
    results = plan_sweep(image, folder, endings, replaces=overwrite)
    opened = open_sweep(task)
    n_dims = len(opened.dims)
    opened.refuse_too_large(memory_limit_of(memory_limit, min(machines.jobs, n_dims)))
    with (
        machines.open(n_dims, folder, [image]) as engine,
        count_bar(n_dims, "dimension", quiet) as bar,
    ):
        swept = opened.run(
            engine, lambda _: bar.update(), threads, reads_again=machines.dask is not None
        )
    with appearing_together():
        swept.write(results)
        if wants_page:
            from pfeseg.page.sweep import write_sweep_page

            write_sweep_page(results["html"], swept.data, results["npz"])
    if as_json:
        click.echo(json.dumps(swept.facts()))
        return
    for line in swept.lines():
        click.echo(line)
    if not quiet:
        say("written: " + ", ".join(map(str, results.values())))


def _reading_words(reading: Reading) -> list[str]:
    """Return the options by which an image was read, but for settings."""
    words = ["--allow-huge"] if reading["allow_huge"] else []
    words += ["--page", str(reading["page"])] if reading["page"] else []
    words += ["--mask", reading["mask"]] if reading["mask"] else []
    return words + [word for value in reading["nodata"] for word in ("--nodata", f"{value:g}")]
