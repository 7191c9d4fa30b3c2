"""``pfeseg downsample``: the first stage."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.help import Command
from pfeseg.cli.options import check_output, output_file_options, reading_options
from pfeseg.cli.settings import make_settings, settings_options
from pfeseg.cli.wording import say

if TYPE_CHECKING:
    from pfeseg.files.raster import Reading


@click.command(cls=Command)
@click.argument("image", type=click.Path(path_type=Path))
@output_file_options
@reading_options
@settings_options("downsample")
def downsample(
    image: Path, output: Path, overwrite: bool, reading: Reading, **options: Any
) -> None:
    """Shrink IMAGE to the size that the solver works on, for 'graph' and 'init'."""
    settings = make_settings(**options)
    check_output(output, overwrite, (".npz",), image)
    from pfeseg.files.raster import read_raster
    from pfeseg.run.stages import downsample_stage

    picture = read_raster(image, settings.stretch, settings.bands, **reading)
    small = downsample_stage(picture, output, settings)
    say(f"{output}: image of {small.shape[1]} x {small.shape[0]} pixels")
