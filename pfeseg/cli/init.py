"""``pfeseg init``: the third stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pfeseg.cli.help import Command
from pfeseg.cli.options import check_output, output_file_options
from pfeseg.cli.settings import make_settings, settings_options
from pfeseg.cli.wording import say


@click.command(cls=Command)
@click.argument("image_file", metavar="IMAGE.npz", type=click.Path(path_type=Path))
@output_file_options
@settings_options("init")
def init(image_file: Path, output: Path, overwrite: bool, **options: Any) -> None:
    """Make the initial embedding of IMAGE.npz (made by 'downsample')."""
    settings = make_settings(**options)
    check_output(output, overwrite, (".npz",), image_file)
    from pfeseg.run.stages import init_stage

    Y0 = init_stage(image_file, output, settings)
    say(f"{output}: initial embedding of {Y0.shape[1]} dimensions")
