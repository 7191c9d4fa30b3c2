"""``pfeseg merge``: labels from the hierarchy of regions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import check_output, output_file_options, reading_options
from pfeseg.cli.settings import completed, make_settings, settings_options
from pfeseg.cli.wording import counted_regions, say

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


@click.command(cls=Command)
@click.argument("embedding_file", metavar="EMBEDDING.npz", type=click.Path(path_type=Path))
@click.argument("image", type=click.Path(path_type=Path))
@output_file_options
@option(
    "--hierarchy",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE.mat",
    heading=Heading.RESULTS,
    help="Also write the whole hierarchy, as an ultrametric contour map.",
)
@reading_options
@settings_options("merge")
def merge(
    embedding_file: Path,
    image: Path,
    output: Path,
    overwrite: bool,
    hierarchy: Path | None,
    reading: Reading,
    **options: Any,
) -> None:  # fmt: skip
    """Merge the regions of IMAGE into a hierarchy, and cut it into a label map.

    EMBEDDING.npz is what 'embed' made from the same image. FILE ends in .png, .tif or .npy.
    """
    settings = make_settings(**options)
    inputs = (embedding_file, image)
    check_output(output, overwrite, (".png", ".tif", ".npy"), *inputs)
    if hierarchy:
        check_output(hierarchy, overwrite, (".mat",), *inputs)
    from pfeseg.files.matlab import write_contour_map
    from pfeseg.files.raster import read_raster
    from pfeseg.run.stages import merge_stage, read_embedding

    stored = read_embedding(embedding_file)
    settings = completed(settings, stored.settings, options)
    picture = read_raster(image, settings.stretch, settings.bands, **reading)
    labels, tree = merge_stage(stored, picture, output, settings)
    say(f"{output}: label map of {counted_regions(labels, picture.mask is not None)}")
    if hierarchy:
        write_contour_map(hierarchy, tree.contour_map())
        say(f"{hierarchy}: contour map of {len(tree.merges) + 1} regions")
