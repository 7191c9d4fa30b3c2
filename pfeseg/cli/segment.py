"""``pfeseg segment``: images in, their label maps and pictures out."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Generator
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli import one_line
from pfeseg.cli.options import (
    jobs_option,
    make_settings,
    output_folder_option,
    overwrite_option,
    reading_options,
    settings_options,
)
from pfeseg.cli.progress import count_bar, iteration_bar
from pfeseg.errors import InvalidInputError
from pfeseg.outputs import SAVEABLE

if TYPE_CHECKING:
    from pfeseg.batch import Task
    from pfeseg.inputs import Input
    from pfeseg.settings import Settings


def kinds_of_results(text: str) -> tuple[str, ...]:
    """Read a comma-separated list of kinds of results."""
    kinds = tuple(dict.fromkeys(text.split(",")))
    unknown = [kind for kind in kinds if kind not in SAVEABLE]
    if unknown:
        raise click.BadParameter(f"{unknown[0]!r} is not one of {', '.join(SAVEABLE)}")
    return kinds


@click.command()
@click.argument("inputs", nargs=-1, metavar="INPUT...")
@click.option(
    "--files-from",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="LIST",
    help="Read more inputs from a file, one a line or separated by NUL; - reads them"
    " from standard input.",
)
@click.option("-r", "--recursive", is_flag=True, help="Look into the subfolders of folders too.")
@output_folder_option
@click.option(
    "--template",
    default="{stem}",
    show_default=True,
    help="Name of the results before their endings, from {stem}, {ext} and {parent}.",
)
@click.option(
    "--save",
    type=kinds_of_results,
    default="labels,overlay",
    show_default=True,
    metavar="LIST",
    help=f"What to write: {', '.join(SAVEABLE)}.",
)
@click.option(
    "--hierarchy",
    is_flag=True,
    help="Write the hierarchy of regions too: STEM_ucm.mat, an ultrametric contour map as the "
    "BSDS benchmark reads it, and STEM_ucm.png, a picture of it.",
)
@click.option(
    "--labels-format",
    type=click.Choice(["png", "tif", "npy"]),
    default="png",
    show_default=True,
    help="Of the label map: 16-bit PNG, 32-bit TIFF or NumPy array.",
)
@overwrite_option
@click.option(
    "--skip-existing",
    is_flag=True,
    help="Leave out inputs whose results exist: continues a batch that was stopped.",
)
@click.option("--fail-fast", is_flag=True, help="Stop at the first input that fails.")
@jobs_option("Images to work on at a time.")
@click.option("--shard", metavar="I/N", help="Work on the I-th of N equal parts of the inputs.")
@click.option(
    "--json", "as_json", is_flag=True, help="Print one line of JSON per image on standard output."
)
@click.option("-q", "--quiet", is_flag=True, help="Print errors only.")
@click.option("-v", "--verbose", is_flag=True, help="Print the time of every stage.")
@reading_options
@settings_options(default_preset="default; with -k or a rival, clusters")
def segment(
    inputs: tuple[str, ...],
    files_from: str | None,
    recursive: bool,
    output: Path | None,
    template: str,
    save: tuple[str, ...],
    hierarchy: bool,
    labels_format: str,
    overwrite: bool,
    skip_existing: bool,
    fail_fast: bool,
    jobs: int,
    shard: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    page: int,
    allow_huge: bool,
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
      pfeseg segment photo.jpg -d 15 -k 8
      pfeseg segment photos/ -r -o results --jobs 4 --skip-existing
      pfeseg segment photo.jpg --config photo.json -o again

    Exit codes: 0 all done, 1 an input failed, 2 wrong usage, 130 interrupted.
    """
    from pfeseg.inputs import expand_inputs, take_shard

    if overwrite and skip_existing:
        raise click.UsageError("give --overwrite or --skip-existing, not both")
    settings = make_settings(**options)
    if hierarchy:
        save = tuple(dict.fromkeys((*save, "ucm", "contours")))
    if {"ucm", "contours"} & set(save) and settings.method != "pfe":
        raise click.UsageError(f"a hierarchy needs the method pfe, not {settings.method}")
    if quiet and verbose:
        raise click.UsageError("give -q or -v, not both")
    if files_from == "-" and "-" in inputs:
        raise click.UsageError("standard input can hold an image or the list of names, not both")
    names = [*inputs, *_listed(files_from)]
    if not names:
        raise click.UsageError("missing argument INPUT: a file, a folder, a pattern or -")
    found = expand_inputs(names, recursive)
    plan = _plan(found, output, template, save, labels_format)  # of all shards, which may clash
    found = take_shard(found, _parse_shard(shard))
    tasks = _make_tasks(found, plan, settings, page, allow_huge)
    reporter = _Reporter(len(found), as_json, quiet, verbose)
    if skip_existing:
        for task in tasks:
            if not _missing(task):
                reporter.add({"input": str(task.source), "status": "skipped", "seconds": 0.0})
        tasks = [replace(task, results=_missing(task)) for task in tasks if _missing(task)]
    elif not overwrite:
        _refuse_existing(tasks)
    for item in found:
        if item.problem and reporter.wants_more(fail_fast):
            failure = {"status": "failed", "error": item.problem, "seconds": 0.0}
            reporter.add({"input": str(item.path), **failure})
    if reporter.wants_more(fail_fast):
        with closing(_run(tasks, jobs, reporter)) as rows:
            for row in rows:
                reporter.add(row)
                if not reporter.wants_more(fail_fast):
                    break
    return reporter.finish()


def _listed(files_from: str | None) -> list[str]:
    from pfeseg.inputs import read_name_list

    if files_from is None:
        return []
    content = _read_standard_input() if files_from == "-" else Path(files_from).read_bytes()
    return read_name_list(content)


def _parse_shard(shard: str | None) -> tuple[int, int]:
    from pfeseg.inputs import parse_shard

    try:
        return parse_shard(shard) if shard else (1, 1)
    except InvalidInputError as error:
        raise click.UsageError(str(error)) from error


def _plan(
    found: list[Input], output: Path | None, template: str, save: tuple[str, ...],
    labels_format: str,
) -> dict[Path, dict[str, Path]]:  # fmt: skip
    """Decide where every result goes; what cannot work is refused before any work."""
    from pfeseg.outputs import check_plan, check_template, result_paths

    try:
        check_template(template)
        plan = {
            item.path: result_paths(
                item.path,
                output / item.subfolder if output else item.path.parent,
                save,
                template=template,
                labels_format=labels_format,
            )
            for item in found
            if not item.problem
        }
        check_plan(plan)
    except InvalidInputError as error:
        raise click.UsageError(str(error)) from error
    return plan


def _make_tasks(
    found: list[Input], plan: dict[Path, dict[str, Path]], settings: Settings, page: int,
    allow_huge: bool,
) -> list[Task]:  # fmt: skip
    from pfeseg.batch import Task
    from pfeseg.inputs import STANDARD_INPUT

    sources = [item.path for item in found if not item.problem]
    content = _read_standard_input() if STANDARD_INPUT in sources else None
    return [
        Task(
            source,
            plan[source],
            settings,
            content=content if source == STANDARD_INPUT else None,
            page=page,
            allow_huge=allow_huge,
        )
        for source in sources
    ]


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise InvalidInputError("standard input is closed")
    return sys.stdin.buffer.read()


def _missing(task: Task) -> dict[str, Path]:
    """Results that are not there: --skip-existing never replaces a file."""
    return {kind: path for kind, path in task.results.items() if not path.exists()}


def _refuse_existing(tasks: list[Task]) -> None:
    existing = [path for task in tasks for path in task.results.values() if path.exists()]
    if existing:
        others = f" (and {len(existing) - 1} more results)" if len(existing) > 1 else ""
        raise InvalidInputError(
            f"{existing[0]} exists{others}; use --overwrite to replace or --skip-existing to "
            "leave out what is done"
        )


def _run(
    tasks: list[Task], jobs: int, reporter: _Reporter
) -> Generator[dict[str, Any], None, None]:
    """Run the tasks under one progress bar: of iterations for one image, else of images."""
    from pfeseg.batch import run_batch, run_task

    if len(tasks) == 1:
        with iteration_bar(tasks[0].settings, tasks[0].source.name, reporter.quiet) as bar:
            row = run_task(tasks[0], lambda _: bar.update())
        yield row
        return
    with (
        count_bar(len(tasks), "image", reporter.quiet) as bar,
        closing(run_batch(tasks, jobs)) as rows,
    ):
        for row in rows:
            bar.update()
            with bar.external_write_mode(file=sys.stderr):
                yield row


class _Reporter:
    """Prints what happened to each image, and owns the exit code."""

    def __init__(self, total: int, as_json: bool, quiet: bool, verbose: bool) -> None:
        self.total, self.as_json, self.quiet, self.verbose = total, as_json, quiet, verbose
        self.done = self.skipped = 0
        self.failures: list[str] = []
        self.started = time.perf_counter()

    def add(self, row: dict[str, Any]) -> None:
        if self.as_json:
            click.echo(json.dumps(row))
        if row["status"] == "skipped":
            self.skipped += 1
            return
        if row["status"] == "failed":
            self.failures.append(one_line(row["error"]))
            click.echo(f"Error: {self.failures[-1]}", err=True)
            return
        self.done += 1
        for warning in [] if self.quiet else row.get("warnings", []):
            click.echo(f"Warning: {one_line(warning)}", err=True)
        if not self.quiet:
            written = ", ".join(row["results"].values())
            regions = "1 region" if row["regions"] == 1 else f"{row['regions']} regions"
            line = f"{row['input']}: {regions} in {row['seconds']:.1f} s -> {written}"
            click.echo(one_line(line), err=True)
            if self.verbose:
                stages = (f"{stage} {seconds:.3f} s" for stage, seconds in row["timings"].items())
                click.echo("  " + ", ".join(stages), err=True)

    def wants_more(self, fail_fast: bool) -> bool:
        return not (fail_fast and self.failures)

    def finish(self) -> int:
        if self.total > 1 and not self.quiet:
            counts = [f"{self.done} done", f"{len(self.failures)} failed"]
            if self.skipped:
                counts.append(f"{self.skipped} skipped")
            left = self.total - self.done - len(self.failures) - self.skipped
            if left:
                counts.append(f"{left} not tried")
            seconds = time.perf_counter() - self.started
            click.echo(f"{self.total} images: {', '.join(counts)} in {seconds:.1f} s", err=True)
            if self.failures:
                click.echo("failures:", err=True)
                for failure in self.failures:
                    click.echo(f"  {failure}", err=True)
        return 1 if self.failures else 0
