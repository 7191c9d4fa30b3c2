"""Options that commands share, each defined once, and the headings under which help lists them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from enum import Enum
from functools import wraps
from pathlib import Path
from typing import Any, TypeVar, cast

import click

from pfeseg.cli.values import bands, memory_size, numbers, stretch

F = TypeVar("F", bound=Callable[..., Any])


class Heading(Enum):
    """Headings of a help page, in their order."""

    CUT = "What to cut"
    RESULTS = "Results"
    INPUTS = "Inputs"
    RUN = "Run"
    START = "Settings"
    METHOD = "Image, graph and start"
    SOLVER = "Solver"
    OTHER = "Other options"


class Option(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, heading: Heading = Heading.OTHER, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.heading = heading


def option(*names: str, heading: Heading, **attributes: Any) -> Callable[[F], F]:
    """Add an option below a heading."""
    return click.option(*names, cls=Option, heading=heading, **attributes)


class Command(click.Command):
    """Lists its options by their headings, those that are named as `common` before all others."""

    def __init__(self, *args: Any, common: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.common = common

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say of commands that take no volumes which one does."""
        takes = {parameter.name for parameter in self.params}
        if "--volume" in args and "volume" not in takes:
            raise click.UsageError(f"'{self.name}' takes no volumes; 'pfeseg segment' does")
        return super().parse_args(ctx, args)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading."""
        sections: dict[Heading, list[tuple[str, str]]] = {heading: [] for heading in Heading}
        common: dict[str, tuple[str, str]] = {}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if parameter.name in self.common and record is not None:
                common[parameter.name] = record
            elif isinstance(parameter, click.Option) and record is not None:
                sections[getattr(parameter, "heading", Heading.OTHER)].append(record)
        titled = [("Common options", [common[name] for name in self.common])]
        titled += [(heading.value, records) for heading, records in sections.items()]
        for title, records in titled:
            if records:
                with formatter.section(title):
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
        help="Folder for the results, made when missing; subfolders of the inputs are mirrored."
             "  [default: beside the input]",
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
        "--overwrite", is_flag=True, heading=Heading.RESULTS, help="Replace results that exist.",
    )(command)  # fmt: skip


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
        help="Threads to compute with; never changes the result."
             "  [default: all, or 1 with --jobs or --dask]",
    )(command)  # fmt: skip


def memory_option(command: F) -> F:
    """Add ``--memory-limit``."""
    return option(
        "--memory-limit", type=memory_size, metavar="SIZE|none", heading=Heading.RUN,
        help="Refuse an image that would need more memory than this, such as 4GB."
             "  [default: what is free, shared among --jobs]",
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
        help="Longer side of the overlay.  [default: that of the image, and never more]",
    )(command)  # fmt: skip


def report_option(text: str) -> Callable[[F], F]:
    """Add ``--report``; `text` says which page it writes."""
    return option(
        "--report", "wants_page", is_flag=True, heading=Heading.RESULTS,
        help=f"Write one HTML page to look at: {text}.",
    )  # fmt: skip


def quiet_option(text: str) -> Callable[[F], F]:
    """Add ``-q``; `text` says what is still printed."""
    return option("-q", "--quiet", is_flag=True, heading=Heading.RUN, help=text)


def dims_option(default: str, text: str) -> Callable[[F], F]:
    """Add ``-d``, several dimensions."""
    return option(
        "-d", "--dims", type=numbers, default=default, show_default=True, heading=Heading.CUT,
        metavar="FIRST:LAST|D,...", help=text,
    )  # fmt: skip


def allow_huge_option(command: F) -> F:
    """Add ``--allow-huge``."""
    return option(
        "--allow-huge", is_flag=True, heading=Heading.INPUTS,
        help="Read images of more than 100 million pixels too.",
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
        help="Leave out pixels whose bands all have this value; nan leaves out what is not a "
             "number. May be given again. What a TIFF file itself calls no data is left out too.",
    )(cast("F", packed))  # fmt: skip
    command = option(
        "--mask", metavar="FILE|alpha", heading=Heading.INPUTS,
        help="Leave out pixels where this image of the same size is zero, or those that are "
             "transparent (alpha). They are 0 in label maps, and regions then count from 1.",
    )(command)  # fmt: skip
    command = allow_huge_option(command)
    command = option(
        "--stretch", type=stretch, metavar="auto|none|minmax|P:Q", heading=Heading.INPUTS,
        help="Make these values black and white: the least and greatest, two percentiles such as "
             "0.1:99.9, or all that the type can hold (none); auto takes 8 bits and floats in "
             "[0, 1] as they are, and stretches what uses less than half of its bits."
             "  [default: auto]",
    )(command)  # fmt: skip
    command = option(
        "--bands", type=bands, metavar="auto|all|N,...", heading=Heading.INPUTS,
        help="Use these bands of an image, counted from 1 and in this order: three are red, green "
             "and blue, one is grey, and of any other number the principal components are taken; "
             "auto takes the first three.  [default: auto]",
    )(command)  # fmt: skip
    return option(
        "--page", type=click.IntRange(min=0), metavar="N", heading=Heading.INPUTS,
        help="Page or frame of a file that has several, counted from 0."
             "  [default: the first, and a line says so]",
    )(command)  # fmt: skip


def check_output(output: Path, overwrite: bool, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse an output of the wrong kind, over an input, or that exists already."""
    from pfeseg.files.writing import refuse_existing

    if output.suffix.lower() not in endings:
        raise click.UsageError(f"{output}: the output must end in {' or '.join(endings)}")
    if output.resolve() in [path.resolve() for path in inputs]:
        raise click.UsageError(f"{output} is an input and would be written over")
    if not overwrite:
        refuse_existing([output])
