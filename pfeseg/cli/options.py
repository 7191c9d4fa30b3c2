"""Options that commands share, each defined once, and what they mean together."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

if TYPE_CHECKING:
    from pfeseg.settings import Settings

F = TypeVar("F", bound=Callable[..., Any])

# The parameter names are those of the fields of Settings.
_SETTINGS = [
    click.option("-d", "--dims", "n_dims", type=click.IntRange(min=1), metavar="D",
                 help="Dimension of the embedding.  [paper: 15]"),
    click.option("-k", "--segments", "n_segments", type=click.IntRange(min=1), metavar="K",
                 help="Number of k-means clusters.  [default: D]"),
    click.option("--downsample", type=click.FloatRange(min=1), metavar="FACTOR",
                 help="Shrink each side by this before the solve.  [paper: 4]"),
    click.option("--seed", type=click.IntRange(0, 2**32 - 1), metavar="N",
                 help="Seed of the mixture and of k-means.  [default: 0]"),
]  # fmt: skip


def settings_options(command: F) -> F:
    """Add the options that make up a `Settings`."""
    for option in reversed(_SETTINGS):
        command = option(command)
    return click.option(
        "--preset", default="paper", show_default=True, metavar="NAME",
        help="Settings to start from; options change them.",
    )(command)  # fmt: skip


def make_settings(preset: str, **changes: Any) -> Settings:
    """Make settings of the values of `settings_options`; None keeps the preset's."""
    from pfeseg.errors import InvalidInputError
    from pfeseg.settings import Settings

    try:
        return Settings.preset(preset, **{k: v for k, v in changes.items() if v is not None})
    except InvalidInputError as error:
        raise click.UsageError(str(error)) from error


def output_folder_option(command: F) -> F:
    """Add ``-o DIR``."""
    return click.option(
        "-o", "--output", type=click.Path(file_okay=False, path_type=Path), metavar="DIR",
        help="Folder for the results, made when missing.  [default: beside the input]",
    )(command)  # fmt: skip


def overwrite_option(command: F) -> F:
    """Add ``--overwrite``."""
    return click.option("--overwrite", is_flag=True, help="Replace results that exist.")(command)
