"""``pfeseg clean``: the clean-up of a label map."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import check_output, output_file_options, reading_options
from pfeseg.cli.values import pixels_or_percent
from pfeseg.cli.wording import counted_regions, say

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


@click.command(cls=Command)
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("image", type=click.Path(path_type=Path))
@output_file_options
@option(
    "--min-region",
    type=pixels_or_percent,
    default="0.5%",
    metavar="PIXELS|PERCENT%",
    heading=Heading.CUT,
    show_default=True,
    help="Smallest region to keep; 1 splits the labels and absorbs nothing.",
)
@reading_options
def clean(
    labels: Path,
    image: Path,
    output: Path,
    overwrite: bool,
    min_region: float,
    reading: Reading,
    stretch: str | None,
    bands: str | None,
) -> None:  # fmt: skip
    """Split LABELS, made by 'cluster' or 'merge', into connected regions and absorb small ones.

    The smallest region is merged into the neighbour whose mean colour in IMAGE is most similar,
    again and again, until no region is smaller than --min-region.
    """
    check_output(output, overwrite, (".png", ".tif", ".npy"), labels, image)
    from pfeseg.files.labels import read_labels, write_labels
    from pfeseg.files.raster import read_raster
    from pfeseg.regions.clean import clean_regions, min_pixels

    before = read_labels(labels, reading["allow_huge"])
    picture = read_raster(image, stretch, bands, **reading)
    after = clean_regions(before, picture, min_pixels(min_region, before.size))
    write_labels(output, after, image=picture)
    say(f"{output}: label map of {counted_regions(after, picture.mask is not None)}")
