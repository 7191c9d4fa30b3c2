"""Options that commands share, each defined once."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import click

from pfeseg.cli.help import F, Heading, option
from pfeseg.cli.values import bands, memory_size, numbers, stretch

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


def _folder_for_results(
    ctx: click.Context, parameter: click.Parameter, value: Path | None
) -> Path | None:
    """Refuse what is meant as a file."""
    if value == Path("-"):
        raise click.UsageError(
            "the results of an image are several files, which standard output cannot hold; "
            "give a folder, such as -o results", ctx,
        )  # fmt: skip
    if value is not None and value.suffix.lower() in _OF_FILES and not value.is_dir():
        raise click.UsageError(
            f"-o takes a folder, and {value} looks like a file; '-o {value.parent} --template "
            f"{value.stem}' writes {value.with_name(value.stem)}_labels.png and the others"
            if ctx.info_name == "segment" else
            f"-o takes a folder, and {value} looks like a file", ctx,
        )  # fmt: skip
    return value


_OF_FILES = {".png", ".jpg", ".jpeg", ".webp", ".tif", ".tiff", ".npy", ".mat", ".json", ".csv"}


def output_folder_option(command: F) -> F:
    """Add ``-o DIR``."""
    return option(
        "-o", "--output", type=click.Path(path_type=Path), metavar="DIR", heading=Heading.RESULTS,
        callback=_folder_for_results,
        help="Folder for results.  [default: next to the inputs]",
    )(command)  # fmt: skip


def output_file_options(command: F) -> F:
    """Add ``-o FILE``, which is required, and ``--overwrite``."""
    return option(
        "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        required=True, heading=Heading.RESULTS, help="File to write.",
    )(overwrite_option(command))  # fmt: skip


def overwrite_option(command: F) -> F:
    """Add ``--overwrite``."""
    return option(
        "--overwrite", is_flag=True, heading=Heading.RESULTS, help="Replace existing results.",
    )(command)  # fmt: skip


def skip_existing_option(text: str) -> Callable[[F], F]:
    """Add ``--skip-existing``; `text` says what are left out."""
    return option(
        "--skip-existing", is_flag=True, heading=Heading.RESULTS,
        help=f"Skip {text} that are already done, to resume a batch that was stopped.",
    )  # fmt: skip


def jobs_option(text: str) -> Callable[[F], F]:
    """Add ``--jobs``; `text` says what runs side by side."""
    return option(
        "--jobs", type=click.IntRange(min=1), default=1, metavar="N", heading=Heading.RUN,
        help=f"{text}  [default: 1]",
    )  # fmt: skip


def threads_option(command: F) -> F:
    """Add ``--threads``."""
    return option(
        "--threads", type=click.IntRange(1, 1024), metavar="N", heading=Heading.RUN,
        help="Number of threads; it never changes the result."
             "  [default: all, or 1 when several inputs run at once]",
    )(command)  # fmt: skip


def memory_option(command: F) -> F:
    """Add ``--memory-limit``."""
    return option(
        "--memory-limit", type=memory_size, metavar="SIZE|none", heading=Heading.RUN,
        help="Refuse images that would need more memory than this, such as 4GB."
             "  [default: the free memory, shared among --jobs]",
    )(command)  # fmt: skip


def memory_limit_of(given: float | str | None, side_by_side: int) -> float | None:
    """Return the bytes that each of some images side by side may take, or None for any."""
    if given == "none":
        return None
    if given is not None:
        return float(given)
    from pfeseg.machine import available_memory

    free = available_memory()
    return None if free is None else free / max(side_by_side, 1)


def overlay_size_option(command: F) -> F:
    """Add ``--overlay-size``."""
    return option(
        "--overlay-size", type=click.IntRange(min=1), metavar="PIXELS", heading=Heading.RESULTS,
        help="Longest side that the overlay may have.  [default: that of the image]",
    )(command)  # fmt: skip


def report_option(text: str) -> Callable[[F], F]:
    """Add ``--report``; `text` says which page it writes."""
    return option(
        "--report", "wants_page", is_flag=True, heading=Heading.RESULTS,
        help=f"Also show the results on a web page: {text}.",
    )  # fmt: skip


def quiet_option(text: str) -> Callable[[F], F]:
    """Add ``-q``; `text` says what is still printed."""
    return option("-q", "--quiet", is_flag=True, heading=Heading.RUN, help=text)


def dims_option(text: str, default: str | None = None) -> Callable[[F], F]:
    """Add ``-d``, several dimensions."""
    return option(
        "-d", "--dims", type=numbers, default=default, show_default=default is not None,
        heading=Heading.CUT, metavar="FIRST:LAST|D,...", help=text,
    )  # fmt: skip


def allow_huge_option(command: F) -> F:
    """Add ``--allow-huge``."""
    return option(
        "--allow-huge", is_flag=True, heading=Heading.INPUTS,
        help="Also read images of more than 100 million pixels.",
    )(command)  # fmt: skip


def reading_options(command: F) -> F:
    """Add the options of reading an image file.

    Those that are no settings come as one argument, `reading`, which `read_raster` takes apart.
    """
    inner = command

    @wraps(inner)
    def packed(
        page: int | None,
        allow_huge: bool,
        mask: str | None,
        nodata: tuple[float, ...],
        **others: Any,
    ) -> Any:
        reading: Reading = {
            "page": page,
            "allow_huge": allow_huge,
            "mask": mask,
            "nodata": nodata,
        }
        return inner(reading=reading, **others)

    command = option(
        "--nodata", type=float, multiple=True, metavar="VALUE", heading=Heading.INPUTS,
        help="Ignore pixels whose bands all have this value; nan is for pixels that are not a "
             "number. Can be given more than once. What a TIFF file itself declares as no data is "
             "always ignored.",
    )(cast("F", packed))  # fmt: skip
    command = option(
        "--mask", metavar="FILE|alpha", heading=Heading.INPUTS,
        help="Ignore the pixels where this image, of the same size, is zero, or those that are "
             "transparent (alpha). They are 0 in label maps, and regions are then numbered "
             "from 1.",
    )(command)  # fmt: skip
    command = allow_huge_option(command)
    command = option(
        "--stretch", type=stretch, metavar="auto|none|minmax|P:Q", heading=Heading.INPUTS,
        help="Values that become black and white: the smallest and the largest (minmax), two "
             "percentiles such as 0.1:99.9, or the limits of the data type (none). auto keeps "
             "8-bit values and floats in [0, 1] as they are, and stretches images whose "
             "values span less than half of the range that their bits allow."
             "  [default: auto]",
    )(command)  # fmt: skip
    command = option(
        "--bands", type=bands, metavar="auto|all|N,...", heading=Heading.INPUTS,
        help="Bands to use, in this order, counted from 1. Three are taken as red, green and "
             "blue, one as grey; any other number is reduced to principal components. auto takes "
             "the first three.  [default: auto]",
    )(command)  # fmt: skip
    return option(
        "--page", type=click.IntRange(min=0), metavar="N", heading=Heading.INPUTS,
        help="Page or frame to read, counted from 0.  [default: the first, with a note if "
             "there are more]",
    )(command)  # fmt: skip


def check_output(output: Path, overwrite: bool, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse an output of the wrong kind, over an input, or that exists already."""
    from pfeseg.files.writing import refuse_existing

    if output.suffix.lower() not in endings:
        raise click.UsageError(f"{output}: the output must end in {' or '.join(endings)}")
    if os.path.realpath(output) in map(os.path.realpath, inputs):
        raise click.UsageError(f"{output} is an input and would be written over")
    if not overwrite:
        refuse_existing([output])
