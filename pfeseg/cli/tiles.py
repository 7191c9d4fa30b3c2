"""What ``--tile`` asks of a command: rasters that are segmented by parts."""

from __future__ import annotations

from collections.abc import Sequence

import click

from pfeseg.cli.help import F, Heading, option
from pfeseg.cli.wording import usage_errors
from pfeseg.files.kinds import BY_TILES
from pfeseg.segmentation.settings import Settings


def tile_option(command: F) -> F:
    """Add ``--tile``."""
    return option(
        "--tile", type=click.IntRange(64, 10**9), metavar="SIZE", heading=Heading.INPUTS,
        help="Segment a raster of any size in overlapping tiles of at most SIZE by SIZE pixels, "
             "several at the same time with --jobs or --dask, and join regions across the seams. "
             "Each tile is shrunk to --max-size; the overlay has at most 2000 pixels a side unless "
             "--overlay-size says otherwise.",
    )(command)  # fmt: skip


def check_tiled(
    settings: Settings,
    kinds: Sequence[str],
    labels_format: str | None,
    inputs: Sequence[str],
) -> None:
    """Refuse what cannot be done by tiles."""
    from pfeseg.run.tiles import check_by_tiles

    with usage_errors():
        check_by_tiles(settings)
    others = [kind for kind in kinds if kind not in BY_TILES]
    if others:
        raise click.UsageError(
            f"--tile writes {', '.join(BY_TILES)}; not {', '.join(others)}, which would need the "
            "whole image at once"
        )
    if labels_format == "png":
        raise click.UsageError("--tile writes label maps as tif or npy, not as png")
    if "-" in inputs:
        raise click.UsageError(
            "--tile reads files part by part, which standard input does not allow"
        )
