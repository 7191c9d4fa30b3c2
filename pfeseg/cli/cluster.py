"""``pfeseg cluster``: labels by k-means."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pfeseg.cli.options import (
    Command,
    Heading,
    check_output,
    option,
    output_file_options,
    reading_options,
)
from pfeseg.cli.settings import make_settings, settings_options
from pfeseg.cli.values import number_or
from pfeseg.cli.wording import counted_regions, say


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
    reading: dict[str, Any],
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
    from pfeseg.run.stages import cluster_stage, is_masked, with_stored

    if options["config"] is None:
        left_out = [name for name in ("seed", "stretch", "bands") if options[name] is None]
        settings = with_stored(settings, embedding_file, left_out)
    picture = None
    if image:
        picture = read_raster(image, settings.stretch, settings.bands, **reading)
    huge = reading["allow_huge"]
    labels = cluster_stage(embedding_file, output, settings, picture, huge)
    say(f"{output}: label map of {counted_regions(labels, is_masked(embedding_file))}")
