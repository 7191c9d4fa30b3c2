"""``pfeseg cluster``: labels by k-means."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import check_output, output_file_options, reading_options
from pfeseg.cli.settings import completed, make_settings, settings_options
from pfeseg.cli.values import number_or
from pfeseg.cli.wording import counted_regions, say

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


@click.command(cls=Command)
@click.argument("embedding_file", metavar="EMBEDDING.npz", type=click.Path(path_type=Path))
@click.argument("image", required=False, type=click.Path(path_type=Path))
@output_file_options
@reading_options
@option(
    "-k",
    "--segments",
    "n_clusters",
    type=number_or("auto", "dims"),  # auto, to be refused with the reason
    metavar="K|dims",
    heading=Heading.CUT,
    help="Number of clusters; dims is the dimension of the embedding.  [default: dims]",
)
@settings_options("cluster", without=("n_clusters",))
def cluster(
    embedding_file: Path,
    image: Path | None,
    output: Path,
    overwrite: bool,
    reading: Reading,
    **options: Any,
) -> None:  # fmt: skip
    """Make a label map of clusters.

    EMBEDDING.npz is made by 'embed' from the same image. Whole regions are clustered by both the
    embedding and IMAGE. Pixels (--cluster pixels) can be clustered without IMAGE; if it is given,
    it only moves the boundaries to its edges. FILE ends in .png, .tif or .npy.
    """
    settings = make_settings(**options)
    inputs = (embedding_file, image) if image else (embedding_file,)
    check_output(output, overwrite, (".png", ".tif", ".npy"), *inputs)
    from pfeseg.files.raster import read_raster
    from pfeseg.run.stages import cluster_stage, read_embedding

    stored = read_embedding(embedding_file)
    settings = completed(settings, stored.settings, options)
    picture = None
    if image:
        picture = read_raster(image, settings.stretch, settings.bands, **reading)
    labels = cluster_stage(stored, output, settings, picture, reading["allow_huge"])
    say(f"{output}: label map of {counted_regions(labels, stored.mask is not None)}")
