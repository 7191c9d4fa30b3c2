"""``pfeseg overlay``: pictures of a label map."""

from __future__ import annotations

from pathlib import Path

import click

from pfeseg.cli.options import check_new, output_file_option, overwrite_option, reading_options


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@click.argument("labels", type=click.Path(path_type=Path))
@output_file_option
@overwrite_option
@reading_options
def overlay(
    image: Path, labels: Path, output: Path, overwrite: bool, page: int, allow_huge: bool
) -> None:
    """Draw LABELS, a label map of any origin, over IMAGE, as a PNG."""
    check_new(output, overwrite)
    from pfeseg.files import read_labels, write_png
    from pfeseg.pictures import draw_overlay
    from pfeseg.reading import read_image

    regions = read_labels(labels)
    pixels = read_image(image, page=page, allow_huge=allow_huge)
    write_png(output, draw_overlay(pixels, regions))
    click.echo(f"{output}: overlay of {regions.max() + 1} regions", err=True)
