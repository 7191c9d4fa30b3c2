"""``pfeseg segment``: images in, their label maps and pictures out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.engines import Machines, engine_options
from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.inputs import listed, read_standard_input
from pfeseg.cli.options import (
    memory_limit_of,
    memory_option,
    output_folder_option,
    overlay_size_option,
    overwrite_option,
    quiet_option,
    reading_options,
    report_option,
    skip_existing_option,
    threads_option,
)
from pfeseg.cli.page import BatchPage
from pfeseg.cli.reporter import Reporter
from pfeseg.cli.running import leave_out_done, run_all, run_images, run_rasters
from pfeseg.cli.settings import make_settings, settings_options
from pfeseg.cli.tiles import check_tiled, tile_option
from pfeseg.cli.values import words
from pfeseg.cli.volumes import (
    Volumes,
    check_kinds_of_volumes,
    make_volume_settings,
    volume_options,
)
from pfeseg.cli.wording import say, usage_errors
from pfeseg.files.kinds import (
    KINDS,
    LABELS_FORMATS,
    OF_HIERARCHY,
    OVERLAY_FORMATS,
    PAGE,
    SAVEABLE,
)
from pfeseg.segmentation.methods import METHODS

if TYPE_CHECKING:
    from pfeseg.files.inputs import Input
    from pfeseg.files.raster import Reading
    from pfeseg.segmentation.settings import Settings
    from pfeseg.volumes.settings import VolumeSettings

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
    help=f"Results to write, separated by commas: {', '.join(SAVEABLE)}.",
)
@option(
    "--hierarchy",
    is_flag=True,
    heading=Heading.RESULTS,
    help="Also write the hierarchy as a contour map: STEM_ucm.mat and STEM_ucm.png.",
)
@option(
    "--labels-format",
    type=click.Choice(LABELS_FORMATS),
    heading=Heading.RESULTS,
    help="Format of the label map: 16-bit PNG, 32-bit TIFF (GeoTIFF if the image is georeferenced) "
    "or NumPy array.  [default: png; tif for volumes and with --tile]",
)
@overlay_size_option
@option(
    "--overlay-format",
    type=click.Choice(OVERLAY_FORMATS),
    default="png",
    show_default=True,
    heading=Heading.RESULTS,
    help="Format of the overlay: png loses nothing, jpg and webp are several times smaller.",
)
@report_option("report.html, in the folder of the results")
@option(
    "--template",
    default="{stem}",
    show_default=True,
    heading=Heading.RESULTS,
    help="How to name the results, without their endings, from {stem}, {ext} and {parent}.",
)
@overwrite_option
@skip_existing_option("images")
@option(
    "--files-from",
    type=click.Path(exists=True, dir_okay=False, allow_dash=True),
    metavar="LIST",
    heading=Heading.INPUTS,
    help="Read more input names from a file, one per line or separated by NUL; - reads them from "
    "standard input.",
)
@option(
    "-r",
    "--recursive",
    is_flag=True,
    heading=Heading.INPUTS,
    help="Search subfolders too.",
)
@option(
    "--shard",
    metavar="I/N",
    heading=Heading.INPUTS,
    help="Work on one part of the inputs: 2/5 is the second of five equal parts.",
)
@reading_options
@volume_options
@tile_option
@engine_options("Number of images to work on at the same time.")
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
    help="Print one line of JSON per image to standard output.",
)
@quiet_option("Print errors only.")
@option(
    "-v", "--verbose", is_flag=True, heading=Heading.RUN, help="Also print the time of every stage."
)
@settings_options()
def segment(
    inputs: tuple[str, ...],
    files_from: str | None,
    recursive: bool,
    output: Path | None,
    template: str,
    save: tuple[str, ...],
    hierarchy: bool,
    labels_format: str | None,
    overlay_size: int | None,
    overlay_format: str,
    wants_page: bool,
    overwrite: bool,
    skip_existing: bool,
    fail_fast: bool,
    tile: int | None,
    machines: Machines,
    threads: int | None,
    memory_limit: float | str | None,
    shard: str | None,
    as_json: bool,
    quiet: bool,
    verbose: bool,
    reading: Reading,
    volumes: Volumes,
    **options: Any,
) -> int:  # fmt: skip
    """Cut one or more images into regions.

    INPUT is an image, a folder, a quoted pattern such as "*.jpg", or - for standard input. DIR is
    created if it does not exist; with -r it mirrors the subfolders of the inputs.

    For each image, this writes STEM_labels.png (each pixel's region number in 16 bits, which image
    viewers show as black), STEM_overlay.png (the regions in colour over the image) and STEM.json
    (settings, timings, why the solver stopped). Transparent images are placed on white. A bad
    image is reported and does not stop the others.

    With --skip-existing, an image is skipped if its STEM.json says that the results were made from
    the same file with the same settings. If they were not, the image is refused, unless --overwrite
    is given as well: then it is done again.

    \b
    Examples:
      pfeseg segment photo.jpg
      pfeseg segment photo.jpg --regions 6 --hierarchy
      pfeseg segment photo.jpg -k 8
      pfeseg segment photos/ -r -o results --jobs 4 --skip-existing
      pfeseg segment photo.jpg --config photo.json -o again

    Exit codes: 0 success, 1 an input failed, 2 wrong usage, 130 interrupted.
    """
    if quiet and verbose:
        raise click.UsageError("give -q or -v, not both")
    asked = (*save, *(OF_HIERARCHY if hierarchy else ()))
    kinds = tuple(dict.fromkeys((*asked, *((PAGE,) if wants_page else ()))))
    _check_kinds(kinds)
    of_images = {name: reading[name] for name in ("page", "mask", "nodata")}
    of_images |= {"overlay_size": overlay_size, "hierarchy": hierarchy, "tile": tile}
    of_images |= {"report": wants_page}
    settings: Settings | VolumeSettings
    if volumes.are_meant:
        check_kinds_of_volumes(asked, labels_format)
        settings = make_volume_settings(options, volumes.max_voxels, of_images)
    else:
        settings = _image_settings(kinds, options)
        if tile is not None:
            check_tiled(settings, kinds, labels_format, inputs)
    names = _all_names(inputs, files_from, machines)

    from pfeseg.files.inputs import expand_inputs, parse_shard, take_shard
    from pfeseg.run.plan import make_tasks, plan_results

    expanded = expand_inputs(names, recursive)
    naming = {
        "template": template,
        "labels_format": labels_format or ("tif" if volumes.are_meant or tile else "png"),
        "overlay_format": overlay_format,
    }
    with usage_errors():
        plan = plan_results(expanded.inputs, output, kinds, **naming)  # all shards, which may clash
        found = take_shard(expanded.inputs, parse_shard(shard) if shard else (1, 1))
    tasks = make_tasks(
        found,
        plan,
        settings,
        content=_content_of(found),
        **reading,
        overlay_size=overlay_size,
        replaces=overwrite,
        memory_limit=memory_limit_of(
            memory_limit, machines.jobs if tile else min(machines.jobs, len(found))
        ),
        spacing=volumes.spacing,
        tile=tile,
    )
    if expanded.left_out and not quiet:
        say(expanded.left_out_line())
    reporter = Reporter(
        len(found), as_json=as_json, quiet=quiet, verbose=verbose, fail_fast=fail_fast
    )
    todo = leave_out_done(tasks, reporter, skips=skip_existing, replaces=overwrite)
    page = BatchPage.plan(plan, overwrite or skip_existing) if wants_page else None
    run_each = run_rasters if tile else run_images
    limited = memory_limit is None
    run = partial(run_each, machines=machines, limited=limited, threads=threads, quiet=quiet)
    code = run_all(found, todo, run, reporter)
    if page:
        page.write([item.path for item in found], reporter.failures, machines.jobs, quiet)
    return code


def _check_kinds(kinds: Sequence[str]) -> None:
    """Refuse kinds of results that need a package which is not there."""
    if any(KINDS[kind].needs_place for kind in kinds) and not _has_pyogrio():
        raise click.UsageError("a GeoPackage needs pyogrio: pip install 'pfeseg[geo]'")


def _image_settings(kinds: Sequence[str], options: Mapping[str, Any]) -> Settings:
    """Make settings of the options; a method without a hierarchy writes nothing of one."""
    settings = make_settings(**options)
    if set(kinds) & set(OF_HIERARCHY) and not METHODS[settings.method].has_hierarchy:
        raise click.UsageError(f"a hierarchy needs the method pfe, not {settings.method}")
    return settings


def _all_names(inputs: Sequence[str], files_from: str | None, machines: Machines) -> list[str]:
    """Return the names that were given, and those of the list."""
    if files_from == "-" and "-" in inputs:
        raise click.UsageError("standard input can hold an image or the list of names, not both")
    names = [*inputs, *listed(files_from)]
    if not names:
        raise click.UsageError("missing argument INPUT: a file, a folder, a pattern or -")
    if "-" in names and machines.dask:
        raise click.UsageError("with --dask give files, which all machines see, not -")
    return names


def _content_of(found: Sequence[Input]) -> bytes | None:
    """Read standard input if one of the inputs comes from it."""
    from pfeseg.files.inputs import STANDARD_INPUT

    return read_standard_input() if any(item.path == STANDARD_INPUT for item in found) else None


def _has_pyogrio() -> bool:
    """Tell whether what writes GeoPackages is installed, without importing it."""
    return find_spec("pyogrio") is not None and find_spec("rasterio") is not None
