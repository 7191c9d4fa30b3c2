"""Options that commands share, each defined once, and the headings under which help lists them."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from enum import Enum
from functools import wraps
from inspect import cleandoc
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from pfeseg.cli.values import bands, memory_size, numbers, stretch

F = TypeVar("F", bound=Callable[..., Any])


class Heading(Enum):
    """Headings of a help page, in their order."""

    CUT = "Segmentation"
    RESULTS = "Results"
    INPUTS = "Inputs"
    RUN = "Run"
    START = "Settings"
    METHOD = "Graph and start"
    SOLVER = "Solver"
    OTHER = "Other options"


RANGES = (
    (re.compile(r"(; |  \[)x>=1(?=\])"), r"\1"),
    (re.compile(r"(; |  \[)x>=(\S+?)(?=\])"), r"\1at least \2"),
    (re.compile(r"(; |  \[)(\S+)<=x<=(\S+?)(?=\])"), r"\1from \2 to \3"),
    (re.compile(r"  \[\]|; (?=\])"), ""),
)
"""How help pages say what numbers an option takes; that a count is at least 1 goes without."""


class Option(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, heading: Heading = Heading.OTHER, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.heading = heading

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Say ranges of numbers in words."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        names, text = record
        for pattern, words in RANGES:
            text = pattern.sub(words, text)
        return names, text


def option(*names: str, heading: Heading, **attributes: Any) -> Callable[[F], F]:
    """Add an option below a heading."""
    return click.option(*names, cls=Option, heading=heading, **attributes)


class Command(click.Command):
    """Lists its options by their headings, those that are named as `common` before all others.

    The common ones follow the first lines of the help page, so that the first screen has them.
    """

    def __init__(self, *args: Any, common: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.common = common

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say of commands that take no volumes which one does."""
        takes = {parameter.name for parameter in self.params}
        if "--volume" in args and "volume" not in takes:
            raise click.UsageError(f"'{self.name}' takes no volumes; 'pfeseg segment' does")
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and its common options before the details."""
        summary, _, details = cleandoc(self.help or "").partition("\n\n")
        if not self.common:
            return super().format_help_text(ctx, formatter)
        self._write_text(formatter, summary)
        records = {p.name: p.get_help_record(ctx) for p in self.get_params(ctx)}
        common = [record for name in self.common if (record := records[name]) is not None]
        with formatter.section("Common options"):
            formatter.write_dl(common)
        return self._write_text(formatter, details)

    def _write_text(self, formatter: click.HelpFormatter, text: str) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading."""
        sections: dict[Heading, list[tuple[str, str]]] = {heading: [] for heading in Heading}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record and parameter.name not in self.common:
                sections[getattr(parameter, "heading", Heading.OTHER)].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading.value):
                    formatter.write_dl(records)


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
        reading = {"page": page, "allow_huge": allow_huge, "mask": mask, "nodata": nodata}
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
