"""Options that commands share, each defined once, and what they mean together."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from pfeseg.methods import METHODS, TITLES

if TYPE_CHECKING:
    from pfeseg.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])


def radius_or_neighbours(text: str) -> float:
    """Read a number; whole ones stay whole: 4 means four neighbours, 4.0 a radius."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither 4, 8 nor a radius such as 2.5") from None


def rms_or_number(text: str) -> str | float:
    """Read a number unless it is the word rms."""
    try:
        return "rms" if text == "rms" else float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither 'rms' nor a number") from None


def number_or_auto(text: str) -> str | int:
    """Read a whole number of at least 1 unless it is the word auto."""
    if text == "auto":
        return text
    if not text.isdecimal() or int(text) < 1:
        raise click.BadParameter(f"{text!r} is neither 'auto' nor a whole number of at least 1")
    return int(text)


def pixels_or_percent(text: str) -> float:
    """Read a number of pixels, or a percentage as a share below 1."""
    try:
        number = float(text.removesuffix("%"))
        share = number / 100
        if text.endswith("%") and 0 <= share < 1:
            return share
        if not text.endswith("%") and (number >= 1 or number == 0) and number < math.inf:
            return number
    except ValueError:
        pass
    raise click.BadParameter(
        f"{text!r} is neither a number of pixels such as 200 nor a percentage such as 0.5%"
    )


MAX_NUMBER = 10**6
"""Largest dimension."""


def numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers: 5:25 (both ends included), 5:25:5 (in steps), 5,8,11, or a mixture."""
    found: list[int] = []
    try:
        for part in text.split(","):
            ends = [int(number) for number in part.split(":")]
            first, last, step = (*ends, ends[0], 1)[:3] if len(ends) == 1 else (*ends, 1)[:3]
            if len(ends) > 3 or first < 1 or step < 1 or last < first or last > MAX_NUMBER:
                raise ValueError
            found += range(first, last + 1, step)
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a range such as 5:25 or 5:25:5, nor a list such as 5,8,11"
        ) from None
    return tuple(dict.fromkeys(found))


def _option(group: str, *names: str, **attributes: Any) -> tuple[str, str, Callable[[F], F]]:
    """Define an option of some stages, and tell the name of its parameter."""
    parameter = names[-1].removeprefix("--").replace("-", "_")
    return group, parameter, click.option(*names, **attributes)


# The parameter names are those of the fields of Settings and SolverSettings.
_SETTINGS = [
    _option("method", "--method", type=click.Choice(METHODS),
            help="Piecewise flat embedding (PFE) or one of its rivals: "
                 + ", ".join(TITLES[m] for m in METHODS if m != "pfe") + ".  [default: pfe]"),
    _option("downsample", "--downsample", type=click.FloatRange(min=1), metavar="FACTOR",
            help="Shrink each side by this before the solve.  [paper: 4]"),
    _option("downsample", "--max-size", type=click.IntRange(min=1), metavar="PIXELS",
            help="Shrink further where the longer side would exceed this."),
    _option("graph", "--neighbours", type=radius_or_neighbours, metavar="4|8|RADIUS",
            help="Pixels that are joined: 4 or 8, or all within a radius such as 2.5.  [paper: 4]"),
    _option("graph", "--features", type=click.Choice(["rgb", "lab"]),
            help="Colour space of the edge weights.  [paper: rgb]"),
    _option("graph", "--sigma", type=rms_or_number, metavar="rms|NUMBER",
            help="Width of the edge weights; rms takes it from the image.  [paper: rms]"),
    _option("init", "-d", "--dims", "n_dims", type=number_or_auto, metavar="D|auto",
            help="Dimension of the embedding; auto chooses it as 'sweep' does.  [paper: 15]"),
    _option("init", "--assignment", type=click.Choice(["hard", "soft"]),
            help="Start from the likeliest mixture component or from all.  [paper: hard]"),
    _option("embed", "--lam", type=float, metavar="NUMBER",
            help="Weight of the split in split Bregman.  [paper: 10000]"),
    _option("embed", "--r", type=float, metavar="NUMBER",
            help="Weight of the fidelity in Stage I.  [paper: 100]"),
    _option("embed", "--r-relaxed", type=float, metavar="NUMBER",
            help="Weight of the fidelity in Stage II.  [paper: 10]"),
    _option("embed", "--soc-iterations", type=int, metavar="N",
            help="Cap of the outer loop of Stage I.  [paper: 10]"),
    _option("embed", "--split-iterations", type=int, metavar="N",
            help="Cap of the inner loop of Stage I.  [paper: 5]"),
    _option("embed", "--relaxed-iterations", type=int, metavar="N",
            help="Cap of Stage II.  [paper: 100]"),
    _option("embed", "--tol", type=float, metavar="NUMBER",
            help="Stop a loop at this relative change.  [paper: 2.2e-16]"),
    _option("embed", "--linear-solver", type=click.Choice(["pcg", "direct"]),
            help="Compiled conjugate gradient, or the exact reference.  [default: pcg]"),
    _option("embed", "--pcg-rtol", type=float, metavar="NUMBER",
            help="Relative residual at which PCG stops.  [default: 0.001]"),
    _option("embed", "--precision", type=click.Choice(["single", "double"]),
            help="Of the PCG path.  [default: single]"),
    _option("embed", "--threads", type=click.IntRange(min=1), metavar="N",
            help="Threads of the solver; never changes the result."
                 "  [default: all, or 1 with --jobs]"),
    _option("cluster", "-k", "--segments", "n_segments", type=number_or_auto, metavar="K|auto",
            help="Number of k-means clusters; auto chooses it as 'sweep' does.  [default: D]"),
    _option("clean", "--min-region", type=pixels_or_percent, metavar="PIXELS|PERCENT%",
            help="Split the clusters into connected regions and let those that are smaller, such "
                 "as 200 or 0.5%, join the touching region of most similar colour."
                 "  [default: keep the clusters as they are]"),
    _option("init cluster", "--seed", type=click.IntRange(0, 2**32 - 1), metavar="N",
            help="Seed of the mixture and of k-means.  [default: 0]"),
]  # fmt: skip


def settings_options(*stages: str, without: tuple[str, ...] = ()) -> Callable[[F], F]:
    """Add the options of some stages, or of all, and ``--preset`` and ``--config``."""

    def add(command: F) -> F:
        for group, parameter, option in reversed(_SETTINGS):
            if parameter not in without and (not stages or set(group.split()) & set(stages)):
                command = option(command)
        command = click.option(
            "--config", type=click.Path(exists=True, dir_okay=False, path_type=Path),
            metavar="FILE", help="Settings to start from: the report of an earlier run.",
        )(command)  # fmt: skip
        return click.option(
            "--preset", metavar="NAME",
            help="Settings to start from; options change them.  [default: paper]",
        )(command)  # fmt: skip

    return add


def make_settings(preset: str | None, config: Path | None, **changes: Any) -> Settings:
    """Make settings of the values of `settings_options`; None changes nothing."""
    from pfeseg.errors import InvalidInputError
    from pfeseg.settings import Settings

    if preset and config:
        raise click.UsageError("give --preset or --config, not both")
    try:
        base = _read_config(config) if config else Settings.preset(preset or "paper")
        return base.changed(**{name: v for name, v in changes.items() if v is not None})
    except InvalidInputError as error:
        raise click.UsageError(str(error)) from error


def _read_config(path: Path) -> Settings:
    import json

    from pfeseg.errors import InvalidInputError
    from pfeseg.settings import Settings

    try:
        values = json.loads(path.read_text(encoding="utf-8"))
        settings = values.get("settings", values)
        if not settings:
            raise InvalidInputError("it holds no settings")
        return Settings.from_dict(settings)
    except InvalidInputError as error:
        raise InvalidInputError(f"{path}: {error}") from error
    except (ValueError, AttributeError, TypeError, OSError, RecursionError) as error:
        raise InvalidInputError(f"{path}: no settings in JSON ({error})") from error


def output_folder_option(command: F) -> F:
    """Add ``-o DIR``."""
    return click.option(
        "-o", "--output", type=click.Path(path_type=Path), metavar="DIR",
        help="Folder for the results, made when missing; subfolders of the inputs are mirrored."
             "  [default: beside the input]",
    )(command)  # fmt: skip


def jobs_option(text: str) -> Callable[[F], F]:
    """Add ``--jobs``; `text` says what runs side by side."""
    return click.option(
        "--jobs", type=click.IntRange(min=1), default=1, metavar="N",
        help=f"{text}  [default: 1]",
    )  # fmt: skip


def dims_option(default: str, text: str) -> Callable[[F], F]:
    """Add ``-d``, several dimensions."""
    return click.option(
        "-d", "--dims", type=numbers, default=default, show_default=True,
        metavar="FIRST:LAST|D,...", help=text,
    )  # fmt: skip


def overwrite_option(command: F) -> F:
    """Add ``--overwrite``."""
    return click.option("--overwrite", is_flag=True, help="Replace results that exist.")(command)


def output_file_options(command: F) -> F:
    """Add ``-o FILE``, which is required, and ``--overwrite``."""
    return click.option(
        "-o", "--output", type=click.Path(path_type=Path, dir_okay=False), metavar="FILE",
        required=True, help="File to write.",
    )(overwrite_option(command))  # fmt: skip


def reading_options(command: F) -> F:
    """Add the options of reading an image file."""
    command = click.option(
        "--allow-huge", is_flag=True, help="Read images of more than 100 million pixels too.",
    )(command)  # fmt: skip
    return click.option(
        "--page", type=click.IntRange(min=0), default=0, metavar="N",
        help="Page or frame of a file that has several, counted from 0.  [default: 0]",
    )(command)  # fmt: skip


def check_output(output: Path, overwrite: bool, endings: tuple[str, ...], *inputs: Path) -> None:
    """Refuse an output of the wrong kind, over an input, or that exists already."""
    from pfeseg.errors import InvalidInputError

    if output.suffix.lower() not in endings:
        raise click.UsageError(f"{output}: the output must end in {' or '.join(endings)}")
    if output.resolve() in [path.resolve() for path in inputs]:
        raise click.UsageError(f"{output} is an input and would be written over")
    if output.exists() and not overwrite:
        raise InvalidInputError(f"{output} exists; use --overwrite to replace it")
