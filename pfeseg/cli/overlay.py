"""``pfeseg overlay``: pictures of a label map."""

from __future__ import annotations

from pathlib import Path

import click

from pfeseg.cli.options import Command, check_output, output_file_options, reading_options


@click.command(cls=Command)
@click.argument("image", type=click.Path(path_type=Path))
@click.argument("labels", type=click.Path(path_type=Path))
@output_file_options
@reading_options
def overlay(
    image: Path, labels: Path, output: Path, overwrite: bool, page: int, allow_huge: bool
) -> None:
    """Draw LABELS, a label map of any origin, over IMAGE, as a PNG."""
    check_output(output, overwrite, (".png",), image, labels)
    import numpy as np

    from pfeseg.errors import InvalidInputError
    from pfeseg.files.labels import read_labels
    from pfeseg.files.reading import read_image
    from pfeseg.files.writing import write_png
    from pfeseg.pictures.overlay import draw_overlay

    regions = read_labels(labels)
    pixels = read_image(image, page=page, allow_huge=allow_huge)
    try:
        picture = draw_overlay(pixels, regions)
    except InvalidInputError as error:
        raise InvalidInputError(f"{labels} and {image}: {error.marked}") from error
    write_png(output, picture)
    click.echo(f"{output}: overlay of {len(np.unique(regions))} regions", err=True)
