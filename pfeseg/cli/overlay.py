"""``pfeseg overlay``: pictures of a label map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pfeseg.cli.help import Command
from pfeseg.cli.options import (
    check_output,
    output_file_options,
    overlay_size_option,
    reading_options,
)
from pfeseg.cli.wording import counted_regions, say
from pfeseg.files.kinds import OVERLAY_FORMATS

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


@click.command(cls=Command)
@click.argument("image", type=click.Path(path_type=Path))
@click.argument("labels", type=click.Path(path_type=Path))
@output_file_options
@overlay_size_option
@reading_options
def overlay(
    image: Path,
    labels: Path,
    output: Path,
    overwrite: bool,
    overlay_size: int | None,
    reading: Reading,
    stretch: str | None,
    bands: str | None,
) -> None:
    """Draw LABELS, a label map from any source, over IMAGE.

    FILE ends in .png, .jpg or .webp.
    """
    endings = tuple(f".{ending}" for ending in OVERLAY_FORMATS)
    check_output(output, overwrite, endings, image, labels)

    from pfeseg.errors import InvalidInputError
    from pfeseg.files.labels import read_labels
    from pfeseg.files.raster import read_raster
    from pfeseg.files.writing import write_picture
    from pfeseg.pictures.overlay import draw_overlay

    regions = read_labels(labels, reading["allow_huge"])
    pixels = read_raster(image, stretch, bands, **reading)
    try:
        picture = draw_overlay(pixels, regions, overlay_size)
    except InvalidInputError as error:
        raise InvalidInputError(f"{labels} and {image}: {error.marked}") from error
    write_picture(output, picture)
    say(f"{output}: overlay of {counted_regions(regions, pixels.mask is not None)}")
