"""``pfeseg segment``: images in, their label maps and pictures out."""

from __future__ import annotations

import sys
from collections.abc import Generator, Sequence
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.options import (
    Command,
    Heading,
    jobs_option,
    memory_limit_of,
    memory_option,
    option,
    output_folder_option,
    overlay_size_option,
    overwrite_option,
    quiet_option,
    reading_options,
    report_option,
    threads_option,
)
from pfeseg.cli.page import BatchPage
from pfeseg.cli.progress import batch_bar, stage_bar
from pfeseg.cli.reporter import Reporter
from pfeseg.cli.settings import make_settings, settings_options
from pfeseg.cli.values import words
from pfeseg.cli.wording import one_line, usage_errors
from pfeseg.errors import InvalidInputError
from pfeseg.files.kinds import LABELS_FORMATS, OF_HIERARCHY, OVERLAY_FORMATS, PAGE, SAVEABLE
from pfeseg.segmentation.methods import METHODS

if TYPE_CHECKING:
    from pfeseg.run.batch import Row
    from pfeseg.run.plan import Task

COMMON = (
    *("output", "n_regions", "level", "n_clusters", "hierarchy", "wants_page"),
    *("recursive", "jobs", "skip_existing", "overwrite"),
)
"""Options that help lists first, so that they are on one screen with the examples."""


@click.command(cls=Command, common=COMMON)
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@output_folder_option
@option(
    "--save",
    type=words(SAVEABLE),
    default="labels,overlay",
    show_default=True,
    metavar="LIST",
    heading=Heading.RESULTS,
    help=f"What to write: {', '.join(SAVEABLE)}.",
)
@option(
    "--hierarchy",
    is_flag=True,
    heading=Heading.RESULTS,
    help="Write the hierarchy of regions too: STEM_ucm.mat, an ultrametric contour map as the "
    "BSDS benchmark reads it, and STEM_ucm.png, a picture of it.",
)
@option(
    "--labels-format",
    type=click.Choice(LABELS_FORMATS),
    default="png",
    show_default=True,
    heading=Heading.RESULTS,
    help="Format of the label map: 16-bit PNG, 32-bit TIFF or NumPy array.",
)
@overlay_size_option
@option(
    "--overlay-format",
    type=click.Choice(OVERLAY_FORMATS),
    default="png",
    show_default=True,
    heading=Heading.RESULTS,
    help="Format of the overlay: PNG loses nothing, JPEG and WebP are several times smaller.",
)
@report_option("report.html, in the folder of all results")
@option(
    "--template",
    default="{stem}",
    show_default=True,
    heading=Heading.RESULTS,
    help="Name of the results before their endings, from {stem}, {ext} and {parent}.",
)
@overwrite_option
@option(
    "--skip-existing",
    is_flag=True,
    heading=Heading.RESULTS,
    help="Leave out inputs whose results exist: continues a batch that was stopped.",
)
@option(
    "--files-from",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="LIST",
    heading=Heading.INPUTS,
    help="Read more inputs from a file, one a line or separated by NUL; - reads them"
    " from standard input.",
)
@option(
    "-r",
    "--recursive",
    is_flag=True,
    heading=Heading.INPUTS,
    help="Look into the subfolders of folders too.",
)
@option(
    "--shard",
    metavar="I/N",
    heading=Heading.INPUTS,
    help="Work on the I-th of N equal parts of the inputs.",
)
@reading_options
@jobs_option("Images to work on at a time.")
@threads_option
@memory_option
@option(
    "--fail-fast", is_flag=True, heading=Heading.RUN, help="Stop at the first input that fails."
)
@option(
    "--json",
    "as_json",
    is_flag=True,
    heading=Heading.RUN,
    help="Print one line of JSON per image on standard output.",
)
@quiet_option("Print errors only.")
@option("-v", "--verbose", is_flag=True, heading=Heading.RUN, help="Print the time of every stage.")
@settings_options()
def segment(
    inputs: tuple[str, ...],
    files_from: str | None,
    recursive: bool,
    output: Path | None,
    template: str,
    save: tuple[str, ...],
    hierarchy: bool,
    labels_format: str,
    overlay_size: int | None,
    overlay_format: str,
    wants_page: bool,
    overwrite: bool,
    skip_existing: bool,
    fail_fast: bool,
    jobs: int,
    threads: int | None,
    memory_limit: float | str | None,
    shard: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    reading: dict[str, Any],
    **options: Any,
) -> int:  # fmt: skip
    """Cut images into their regions.

    INPUT is an image file, a folder, a quoted glob pattern or - for standard input.

    For each image, writes STEM_labels.png (16-bit; a viewer shows it as black),
    STEM_overlay.png (the regions in colour over the image) and STEM.json (settings,
    timings, how the solver ended). Transparent images are composited on white. A bad
    image is reported and does not stop the others.

    \b
    Examples:
      pfeseg segment photo.jpg
      pfeseg segment photo.jpg --regions 6 --hierarchy
      pfeseg segment photo.jpg -k 8
      pfeseg segment photos/ -r -o results --jobs 4 --skip-existing
      pfeseg segment photo.jpg --config photo.json -o again

    Exit codes: 0 all done, 1 an input failed, 2 wrong usage, 130 interrupted.
    """
    if overwrite and skip_existing:
        raise click.UsageError("give --overwrite or --skip-existing, not both")
    if quiet and verbose:
        raise click.UsageError("give -q or -v, not both")
    settings = make_settings(**options)
    added = (*(OF_HIERARCHY if hierarchy else ()), *((PAGE,) if wants_page else ()))
    kinds = tuple(dict.fromkeys((*save, *added)))
    if set(kinds) & set(OF_HIERARCHY) and not METHODS[settings.method].has_hierarchy:
        raise click.UsageError(f"a hierarchy needs the method pfe, not {settings.method}")
    if files_from == "-" and "-" in inputs:
        raise click.UsageError("standard input can hold an image or the list of names, not both")
    names = [*inputs, *_listed(files_from)]
    if not names:
        raise click.UsageError("missing argument INPUT: a file, a folder, a pattern or -")

    from pfeseg.files.inputs import STANDARD_INPUT, expand_inputs, parse_shard, take_shard
    from pfeseg.run.batch import Row
    from pfeseg.run.plan import make_tasks, plan_results, refuse_done

    expanded = expand_inputs(names, recursive)
    found = expanded.inputs
    with usage_errors():
        # Of all shards, which may clash.
        plan = plan_results(
            found,
            output,
            kinds,
            template=template,
            labels_format=labels_format,
            overlay_format=overlay_format,
        )
        found = take_shard(found, parse_shard(shard) if shard else (1, 1))
    reads_image = any(item.path == STANDARD_INPUT for item in found)
    content = _read_standard_input() if reads_image else None
    tasks = make_tasks(
        found,
        plan,
        settings,
        content=content,
        **reading,
        overlay_size=overlay_size,
        memory_limit=memory_limit_of(memory_limit, min(jobs, len(found))),
    )
    if expanded.left_out and not quiet:
        click.echo(one_line(expanded.left_out_line()), err=True)
    reporter = Reporter(
        len(found), as_json=as_json, quiet=quiet, verbose=verbose, fail_fast=fail_fast
    )
    if skip_existing:
        tasks = [task.without_existing() for task in tasks]
        for task in tasks:
            if not task.results:
                reporter.add(Row(str(task.source), "skipped"))
        tasks = [task for task in tasks if task.results]
    elif not overwrite:
        refuse_done(tasks)
    page = BatchPage.plan(plan, overwrite or skip_existing) if wants_page else None
    for item in found:
        if item.problem and reporter.wants_more:
            reporter.add(Row(str(item.path), "failed", item.problem))
    if reporter.wants_more:
        with closing(_run(tasks, jobs, threads, quiet)) as rows:
            for row in rows:
                reporter.add(row)
                if not reporter.wants_more:
                    break
    code = reporter.finish()
    if page:
        page.write([item.path for item in found], reporter.failures, jobs, quiet)
    return code


def _listed(files_from: str | None) -> list[str]:
    from pfeseg.files.inputs import read_name_list

    if files_from is None:
        return []
    content = _read_standard_input() if files_from == "-" else Path(files_from).read_bytes()
    return read_name_list(content)


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise InvalidInputError("standard input is closed")
    return sys.stdin.buffer.read()


def _run(
    tasks: Sequence[Task], jobs: int, threads: int | None, quiet: bool
) -> Generator[Row, None, None]:
    """Run the tasks under one progress bar: of stages for one image, else of images."""
    from pfeseg.run.batch import run_batch, run_task

    if len(tasks) == 1:
        with stage_bar(tasks[0].name, quiet) as on_stage:
            row = run_task(tasks[0], threads, on_stage)
        yield row
        return
    with (
        batch_bar(len(tasks), quiet) as (bar, tell),
        closing(
            run_batch(tasks, jobs, threads, lambda task, stage: tell(task.name, stage))
        ) as rows,
    ):
        for row in rows:
            bar.update()
            with bar.external_write_mode(file=sys.stderr):
                yield row
