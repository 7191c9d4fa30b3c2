"""``pfeseg sweep``: many dimensions of one image, and which to take."""

from __future__ import annotations

import json
import shlex
from functools import partial
from pathlib import Path
from typing import Any

import click

from pfeseg.cli.engines import Machines, engine_options
from pfeseg.cli.options import (
    Command,
    Heading,
    dims_option,
    memory_limit_of,
    memory_option,
    option,
    output_folder_option,
    overwrite_option,
    quiet_option,
    reading_options,
    report_option,
    threads_option,
)
from pfeseg.cli.progress import count_bar
from pfeseg.cli.settings import CUT_OPTIONS, make_settings, option_words, settings_options
from pfeseg.cli.values import numbers
from pfeseg.cli.wording import say
from pfeseg.errors import InvalidInputError


@click.command(cls=Command, common=("dims", "n_clusters", "output", "wants_page", "jobs"))
@click.argument("image", type=click.Path(path_type=Path))
@dims_option("5:10", "Dimensions to try.")
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
    "--ground-truth",
    type=click.Path(path_type=Path),
    metavar="FILE",
    heading=Heading.INPUTS,
    help="Score every segmentation against a BSDS .mat file or a label map.",
)
@output_folder_option
@report_option("STEM_sweep.html, with sliders through the trials")
@overwrite_option
@engine_options("Dimensions to work on at a time.")
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
    dims: tuple[int, ...],
    n_clusters: tuple[int, ...] | None,
    ground_truth: Path | None,
    output: Path | None,
    wants_page: bool,
    overwrite: bool,
    machines: Machines,
    threads: int | None,
    memory_limit: float | str | None,
    as_json: bool,
    quiet: bool,
    reading: dict[str, Any],
    **options: Any,
) -> None:  # fmt: skip
    """Segment IMAGE with several dimensions and numbers of clusters, and recommend one.

    This prints a table, and writes STEM_sweep.csv (a row for each segmentation) and STEM_sweep.png
    (a sheet of pictures). All d share one graph and one factorisation of the solver's systems, and
    all k of one d share one hierarchy of regions.

    \b
    energy         mean over the channels of |M y|_1 / |D^1/2 y|_2; small is flat
    flatness       share of the edges along which the embedding does not change
    orthogonality  squared error of Y^T D Y = I
    agreement      see below

    The recommendation needs no ground truth. It is the consensus: the segmentation that agrees
    most with all others, by the mean Rand index (its 'agreement'). Many segmentations find a
    boundary that is in the image, few find one that depends on a particular d and k.
    'pfeseg segment -d auto -k auto' chooses in this way from d in 5:10 and k in 3:8.

    With --ground-truth, the best d by each metric is printed too: the paper's dynamic scheme.

    \b
    Examples:
      pfeseg sweep photo.jpg -d 5:25 --jobs 2
      pfeseg sweep photo.jpg -d 8 -k 3:12
      pfeseg sweep photo.jpg -d 5,10,15 --ground-truth photo.mat
    """
    settings = make_settings(**options)
    from pfeseg.files.matlab import check_size, read_ground_truths
    from pfeseg.files.raster import read_raster
    from pfeseg.files.temporaries import clear_strays
    from pfeseg.files.writing import refuse_existing, refuse_unwritable, write_png, write_text
    from pfeseg.run.sweep import (
        best_rows,
        shown_rows,
        sweep_csv,
        sweep_rows,
        sweep_sheet,
        sweep_table,
    )
    from pfeseg.segmentation.memory import refuse_too_large
    from pfeseg.segmentation.pairs import sweep_pairs
    from pfeseg.segmentation.sweep import sweep as run_sweep

    folder = output or image.parent
    table, sheet, page = (folder / f"{image.stem}_sweep.{end}" for end in ("csv", "png", "html"))
    results = [table, sheet, page] if wants_page else [table, sheet]
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
    try:
        largest = settings.changed(n_dims=max(dims))
        limit = memory_limit_of(memory_limit, min(machines.jobs, len(dims)))
        refuse_too_large(picture.shape, largest, limit, many=True, image=picture)
    except InvalidInputError as error:
        raise InvalidInputError(f"{image}: {error.marked}") from error
    asked, candidates = sweep_pairs(settings, dims, n_clusters, picture.shape)
    with (
        machines.open(len(set(dims)), folder, [image]) as engine,
        count_bar(len(set(dims)), "dimension", quiet) as bar,
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
    write_text(table, sweep_csv(rows))
    write_png(sheet, sweep_sheet(picture, result, rows, shown))
    if wants_page:
        from pfeseg.page.sweep import write_sweep_page

        words = ["pfeseg", "segment", str(image), *option_words(settings)]
        write_sweep_page(page, shlex.join(words), image.name, picture, result, rows)
    best = best_rows(rows[: len(asked)])
    chosen = {"d": result.best.n_dims, "k": result.best.n_clusters}
    if as_json:
        facts: dict[str, Any] = {"recommended": chosen}
        facts["rows"] = [row.to_dict() for row in rows[: len(asked)]]
        if best:
            facts["best"] = {metric: row.to_dict() for metric, row in best.items()}
        click.echo(json.dumps(facts))
        return
    for line in sweep_table(rows, shown, result.recommended):
        click.echo(line)
    for metric, row in best.items():
        figure = row.to_dict()[metric]
        click.echo(f"best by {metric}: d = {row.d}, k = {row.k} ({figure:.4f})")
    click.echo(f"recommended: -d {chosen['d']} -k {chosen['k']}")
    if not quiet:
        say("written: " + ", ".join(map(str, results)))
