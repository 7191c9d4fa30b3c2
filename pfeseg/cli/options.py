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
    """Read a number unless it ends in the word rms."""
    try:
        return text if text.endswith("rms") else float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither 'rms', '0.8rms' nor a number") from None


def number_or(*words: str) -> Callable[[str], str | int]:
    """Make a reader of whole numbers of at least 1, or some words."""

    def read(text: str) -> str | int:
        if text in words:
            return text
        if not text.isdecimal() or int(text) < 1:
            allowed = " nor ".join(repr(word) for word in words)
            raise click.BadParameter(
                f"{text!r} is neither {allowed} nor a whole number of at least 1"
            )
        return int(text)

    return read


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
            help="Shrink each side by this before the solve.  [default: 1, paper: 4]"),
    _option("downsample", "--max-size", type=click.IntRange(min=1), metavar="PIXELS",
            help="Shrink further where the longer side would exceed this."
                 "  [default: 120, paper: no limit]"),
    _option("graph", "--neighbours", type=radius_or_neighbours, metavar="4|8|RADIUS",
            help="Pixels that are joined: 4 or 8, or all within a radius such as 2.5."
                 "  [default: 2.0; clusters, paper: 4]"),
    _option("graph", "--features", type=click.Choice(["rgb", "lab", "pmi"]),
            help="What edge weights compare: colours in RGB or CIELAB, or how often they meet in "
                 "the image (pointwise mutual information)."
                 "  [default: pmi, clusters: lab, paper: rgb]"),
    _option("graph", "--sigma", type=rms_or_number, metavar="[X]rms|NUMBER",
            help="Width of the edge weights of colours; rms takes it from the image, 0.8rms that "
                 "many times as much.  [default: 0.8rms, paper: rms]"),
    _option("graph init", "--texture", type=click.FloatRange(min=0), metavar="WEIGHT",
            help="Weight of the local contrast beside CIELAB colours, in mutual information and "
                 "in the mixture; with 0 this is one of RGB colours."
                 "  [default: 2.5, paper: 0]"),
    _option("init", "-d", "--dims", "n_dims", type=number_or("auto"), metavar="D|auto",
            help="Dimension of the embedding; auto chooses it as 'sweep' does."
                 "  [default: 12, clusters: 8, paper: 15]"),
    _option("init", "--assignment", type=click.Choice(["hard", "soft"]),
            help="Start from the likeliest mixture component or from all.  [default: hard]"),
    _option("embed", "--lam", type=float, metavar="NUMBER",
            help="Weight of the split in split Bregman.  [default: 10000]"),
    _option("embed", "--r", type=float, metavar="NUMBER",
            help="Weight of the fidelity in Stage I.  [default: 100]"),
    _option("embed", "--r-relaxed", type=float, metavar="NUMBER",
            help="Weight of the fidelity in Stage II.  [default: 15, clusters: 1.5, paper: 10]"),
    _option("embed", "--soc-iterations", type=int, metavar="N",
            help="Cap of the outer loop of Stage I.  [default: 1, paper: 10]"),
    _option("embed", "--split-iterations", type=int, metavar="N",
            help="Cap of the inner loop of Stage I.  [default: 5]"),
    _option("embed", "--relaxed-iterations", type=int, metavar="N",
            help="Cap of Stage II.  [default: 15, clusters: 30, paper: 100]"),
    _option("embed", "--tol", type=float, metavar="NUMBER",
            help="Stop a loop at this relative change.  [default: 2.2e-16]"),
    _option("embed", "--linear-solver", type=click.Choice(["pcg", "direct"]),
            help="Compiled conjugate gradient, or the exact reference.  [default: pcg]"),
    _option("embed", "--pcg-rtol", type=float, metavar="NUMBER",
            help="Relative residual at which PCG stops.  [default: 0.001]"),
    _option("embed", "--precision", type=click.Choice(["single", "double"]),
            help="Of the PCG path.  [default: single]"),
    _option("embed", "--threads", type=click.IntRange(min=1), metavar="N",
            help="Threads of the solver; never changes the result."
                 "  [default: all, or 1 with --jobs]"),
    _option("cluster", "-k", "--segments", "n_segments", type=number_or("auto", "dims"),
            metavar="K|auto|dims",
            help="Cut by k-means into so many clusters; auto chooses their number as 'sweep' "
                 "does, dims takes D."
                 "  [default: the hierarchy is cut instead; clusters, paper: dims]"),
    _option("merge", "--regions", "n_regions", type=click.IntRange(min=1), metavar="N",
            help="Cut the hierarchy of regions where it has so many, or keep all if it has fewer."),
    _option("merge", "--level", "level", type=click.FloatRange(0, 1), metavar="T",
            help="Cut the hierarchy at this level: 0 keeps its finest regions, 1 merges all."
                 "  [default: 0.5]"),
    _option("cluster merge", "--refine/--no-refine", "refine", default=None,
            help="Draw boundaries along the edges of the image at full size, or leave the steps "
                 "of the solve.  [default: refine, paper: no-refine]"),
    _option("clean", "--min-region", type=pixels_or_percent, metavar="PIXELS|PERCENT%",
            help="Split the labels into connected regions and let those that are smaller, such "
                 "as 200 or 0.5%, join the touching region of most similar colour."
                 "  [default: absorb none]"),
    _option("graph init cluster merge", "--seed", type=click.IntRange(0, 2**32 - 1), metavar="N",
            help="Seed of the classes of colour, the mixture and k-means.  [default: 0]"),
]  # fmt: skip


def settings_options(
    *stages: str, without: tuple[str, ...] = (), default_preset: str = "default"
) -> Callable[[F], F]:
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
            help="Settings to start from: default, clusters or paper; options change them."
                 f"  [default: {default_preset}]",
        )(command)  # fmt: skip

    return add


def make_settings(
    preset: str | None, config: Path | None, *, clusters: bool = False, **changes: Any
) -> Settings:
    """Make settings of the values of `settings_options`; None changes nothing.

    Without a preset it is "clusters" where k-means will cut: always if `clusters`, else if the
    number of clusters or a method that knows no hierarchy is given.
    """
    from pfeseg.errors import InvalidInputError
    from pfeseg.settings import Settings

    if preset and config:
        raise click.UsageError("give --preset or --config, not both")
    clusters |= changes.get("n_segments") is not None or changes.get("method") not in (None, "pfe")
    usual = "clusters" if clusters else "default"
    try:
        base = _read_config(config) if config else Settings.preset(preset or usual)
        return base.changed(**{name: v for name, v in changes.items() if v is not None})
    except InvalidInputError as error:
        raise click.UsageError(str(error)) from error


def with_stored_seed(settings: Settings, stage_file: Path, options: dict[str, Any]) -> Settings:
    """Take the seed of the stages before, as in one run of all stages, unless one is given."""
    from pfeseg.files import read_stage

    if options["seed"] is not None or options["config"] is not None:
        return settings
    stored = read_stage(stage_file, "embedding")[0]["settings"]
    return settings.changed(seed=stored.get("seed", settings.seed))


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
