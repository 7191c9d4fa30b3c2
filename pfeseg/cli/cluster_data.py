"""``pfeseg cluster-data``: tables and graphs in, clusters out."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import Any

import click

from pfeseg.cli.engines import Machines, engine_options
from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import (
    output_folder_option,
    overwrite_option,
    quiet_option,
    skip_existing_option,
    threads_option,
)
from pfeseg.cli.reporter import Reporter
from pfeseg.cli.running import leave_out_done, run_all, run_tables
from pfeseg.cli.values import number_or, words
from pfeseg.cli.wording import usage_errors

SAVEABLE = ("labels", "embedding", "picture")


@click.command(
    "cluster-data",
    cls=Command,
    common=(
        "n_clusters",
        "is_graph",
        "drop",
        "save",
        "output",
        "overwrite",
        "skip_existing",
        "jobs",
    ),
)
@click.argument("inputs", nargs=-1, required=True, metavar="DATA...")
@option(
    "-k",
    "--clusters",
    "n_clusters",
    type=number_or("auto"),
    default="auto",
    show_default=True,
    metavar="K|auto",
    heading=Heading.CUT,
    help="Number of clusters; auto finds it from the data.",
)
@option(
    "--graph",
    "is_graph",
    is_flag=True,
    heading=Heading.INPUTS,
    help="Read DATA as a graph: a text file with an edge on each line (two nodes, and perhaps a "
    "weight), or a square matrix of weights (sparse .npz or .npy).",
)
@option(
    "--drop",
    type=lambda text: tuple(text.split(",")),
    default="",
    metavar="COLUMN,...",
    heading=Heading.INPUTS,
    help="Columns to leave out, by name or by number, counted from 1.",
)
@option(
    "--id-column",
    metavar="COLUMN|none",
    heading=Heading.INPUTS,
    help="Column that names the rows.  [default: the first, if it is called id or the like, or "
    "holds a different text in every row]",
)
@option(
    "--scale",
    type=click.Choice(["standard", "none"]),
    default="standard",
    show_default=True,
    heading=Heading.METHOD,
    help="Scale each column to mean 0 and variance 1 (standard), or use the numbers as they are.",
)
@option(
    "--neighbours",
    "n_neighbors",
    type=click.IntRange(min=1),
    default=10,
    show_default=True,
    metavar="N",
    heading=Heading.METHOD,
    help="Number of nearest neighbours to connect each point to.",
)
@option(
    "--init",
    type=click.Choice(["auto", "spectral", "tree", "kmeans", "gmm"]),
    default="auto",
    show_default=True,
    heading=Heading.METHOD,
    help="Where the solver starts; auto tries several starts and keeps the best clusters.",
)
@option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    default=0,
    show_default=True,
    metavar="N",
    heading=Heading.METHOD,
    help="Random seed.",
)
@output_folder_option
@option(
    "--save",
    type=words(SAVEABLE),
    default="labels",
    show_default=True,
    metavar="LIST",
    heading=Heading.RESULTS,
    help="Results to write, separated by commas: labels (a CSV file of rows and their clusters), "
    "embedding (.npy), picture (the points, or their principal components, coloured by "
    "cluster).",
)
@overwrite_option
@skip_existing_option("files")
@engine_options("Number of files to cluster at the same time.")
@threads_option
@option(
    "--json",
    "as_json",
    is_flag=True,
    heading=Heading.RUN,
    help="Print one line of JSON for each file.",
)
@option("--fail-fast", is_flag=True, heading=Heading.RUN, help="Stop at the first bad file.")
@quiet_option("Print errors only.")
def cluster_data(
    inputs: tuple[str, ...],
    output: Path | None,
    save: tuple[str, ...],
    overwrite: bool,
    skip_existing: bool,
    machines: Machines,
    threads: int | None,
    as_json: bool,
    fail_fast: bool,
    quiet: bool,
    drop: tuple[str, ...],
    **options: Any,
) -> int:  # fmt: skip
    """Cluster the rows of tables or the nodes of graphs.

    DATA is a file or a quoted pattern such as "*.csv": CSV, TSV or other text (.gz too), .npy,
    .npz or Parquet. Each row is a point, each column a measurement; a header, and a column that
    names the rows, are recognised. Missing values and columns of text are refused, and the error
    names them.

    For each file, this writes STEM_clusters.csv (each row and its cluster, 0, 1, ...) and STEM.json
    (settings, sizes of the clusters, timings).

    With --skip-existing, a file is skipped if its STEM.json says that the results were made from
    the same data with the same settings. If they were not, the file is refused, unless --overwrite
    is given as well: then it is done again.

    \b
    Examples:
      pfeseg cluster-data measurements.csv -k 10
      pfeseg cluster-data flowers.csv -k 3 --drop species --save labels,picture -o out
      pfeseg cluster-data friends.txt --graph -k 4

    Exit codes: 0 success, 1 an input failed, 2 wrong usage, 130 interrupted.
    """
    from pfeseg.run.data import DataSettings, find_tables, plan_data

    settings = DataSettings(drop=tuple(filter(None, drop)), **options)
    found = find_tables(inputs)
    with usage_errors():
        tasks = plan_data(found, output, save, settings, replaces=overwrite)
    reporter = Reporter(
        len(found), as_json=as_json, quiet=quiet, verbose=False, fail_fast=fail_fast, noun="files"
    )
    todo = leave_out_done(tasks, reporter, skips=skip_existing, replaces=overwrite)
    run = partial(run_tables, machines=machines, threads=threads, quiet=quiet)
    return run_all(found, todo, run, reporter)
