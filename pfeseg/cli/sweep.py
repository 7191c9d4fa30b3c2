"""``pfeseg sweep``: many dimensions of one image, and which to take."""

from __future__ import annotations

import json
import shlex
from functools import partial
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
from pfeseg.errors import InvalidInputError

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading
    from pfeseg.image.arrays import Raster
    from pfeseg.segmentation.settings import Settings
    from pfeseg.segmentation.sweep import Sweep


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
    help="Numbers of clusters to try with each d.  [default: show k = d, choose from 3:8]",
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
@engine_options("Dimensions to work on at the same time.")
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
    sheet of pictures) and STEM_sweep.npz (from which 'pfeseg report' makes a page). All d share
    one graph and one factorisation of the solver's systems. All k, levels and numbers of regions
    of one d share one solve and one hierarchy of regions.

    \b
    energy         mean over the channels of |M y|_1 / |D^1/2 y|_2; small is flat
    flatness       share of the edges along which the embedding does not change
    orthogonality  squared error of Y^T D Y = I
    agreement      see below

    The recommendation needs no ground truth. For clusters, it is the consensus: the segmentation
    that agrees best with all the others, by the mean Rand index (its 'agreement'). The idea is that
    a real boundary is found by many segmentations, and a chance one only by a few. 'pfeseg segment
    -d auto -k auto' chooses in the same way, from d in 5:10 and k in 3:8.

    For levels and regions, it is the default level, or the number of regions that this level gives.
    With several d, it is the d whose cut at the default level agrees best with those of the others.

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
    from pfeseg.files.matlab import check_size, read_ground_truths
    from pfeseg.files.raster import read_raster
    from pfeseg.files.sweep_data import write_sweep_data
    from pfeseg.files.temporaries import clear_strays
    from pfeseg.files.writing import refuse_existing, refuse_unwritable, write_png, write_text
    from pfeseg.run.sweep import (
        best_rows,
        cut_words,
        shown_rows,
        sweep_csv,
        sweep_data,
        sweep_facts,
        sweep_rows,
        sweep_sheet,
        sweep_table,
    )
    from pfeseg.segmentation.pairs import sweep_pairs
    from pfeseg.segmentation.sweep import sweep as run_sweep

    folder = output or image.parent
    ends = ("csv", "png", "npz", *(["html"] if wants_page else []))
    results = [folder / f"{image.stem}_sweep.{end}" for end in ends]
    table, sheet, kept = results[:3]
    cuts: dict[str, Any] = {"n_clusters": n_clusters, "levels": levels, "n_regions": n_regions}
    with usage_errors():
        sweep_pairs(settings, (1, 1), dims, **cuts)  # refuses what does not go together
    if not overwrite:
        refuse_existing(results)
    refuse_unwritable(folder)
    clear_strays([folder])
    huge = reading["allow_huge"]
    truths = read_ground_truths(ground_truth, huge) if ground_truth else []
    reader = partial(read_raster, image, settings.stretch, settings.bands, **reading)
    picture = reader()
    if ground_truth:
        check_size(ground_truth, truths, picture.shape)
    asked, candidates = sweep_pairs(settings, picture.shape, dims, **cuts)
    tried = {d for d, _ in asked}
    _check_memory(
        picture, settings, image, max(tried), memory_limit, min(machines.jobs, len(tried))
    )
    with (
        machines.open(len(tried), folder, [image]) as engine,
        count_bar(len(tried), "dimension", quiet) as bar,
    ):
        result = run_sweep(
            picture,
            asked,
            candidates,
            settings,
            engine=engine,
            reader=reader if machines.dask else None,
            on_dimension=lambda _: bar.update(),
            threads=threads,
        )
    rows, shown = sweep_rows(result, truths), shown_rows(result, len(asked))
    words = [cut_words(trial, with_d=dims is not None) for trial in result.trials]
    start = ["pfeseg", "segment", str(image), *option_words(settings), *_reading_words(reading)]
    data = sweep_data(image, reading, result, rows, [shlex.join(start + own) for own in words])
    write_text(table, sweep_csv(rows))
    write_png(sheet, sweep_sheet(picture, result, rows, shown))
    write_sweep_data(kept, data)
    if wants_page:
        from pfeseg.page.sweep import write_sweep_page

        write_sweep_page(results[-1], data, kept)
    if as_json:
        click.echo(json.dumps(sweep_facts(rows, len(asked), result.best)))
        return
    for line in sweep_table(rows, shown, result.recommended):
        click.echo(line)
    for metric, row in best_rows(rows[: len(asked)]).items():
        click.echo(f"best by {metric}: {row.title(with_d=True)} ({row.to_dict()[metric]:.4f})")
    click.echo(f"recommended: {' '.join(words[result.recommended])}{_why(result)}")
    if not quiet:
        say("written: " + ", ".join(map(str, results)))


def _check_memory(
    picture: Raster,
    settings: Settings,
    path: Path,
    n_dims: int,
    given: float | str | None,
    jobs: int,
) -> None:
    """Refuse an image that is too large for the largest dimension, by its name."""
    from pfeseg.segmentation.memory import refuse_too_large

    largest = settings.changed(n_dims=n_dims)
    try:
        limit = memory_limit_of(given, jobs)
        refuse_too_large(picture.shape, largest, limit, many=True, image=picture)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error.marked}") from error


def _reading_words(reading: Reading) -> list[str]:
    """Return the options by which an image was read, but for settings."""
    words = ["--allow-huge"] if reading["allow_huge"] else []
    for name in ("page", "mask"):
        words += [f"--{name}", str(reading[name])] if reading[name] else []
    return words + [word for value in reading["nodata"] for word in ("--nodata", f"{value:g}")]


def _why(result: Sweep) -> str:
    """Say why a cut of the hierarchy is recommended."""
    from pfeseg.segmentation.cuts import DEFAULT_LEVEL, Clusters, Level

    cut = result.best.cut
    if isinstance(cut, Clusters):
        return ""
    if cut == Level(DEFAULT_LEVEL):
        return " (the default level)"
    return f" (what the default level {DEFAULT_LEVEL:g} gives)"
