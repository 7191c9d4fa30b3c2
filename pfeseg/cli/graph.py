"""``pfeseg graph``: the second stage."""

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
@settings_options("graph")
def graph(image_file: Path, output: Path, overwrite: bool, **options: Any) -> None:
    """Build the pixel graph of IMAGE.npz (made by 'downsample')."""
    settings = make_settings(**options)
    check_output(output, overwrite, (".npz",), image_file)
    from pfeseg.run.stages import graph_stage

    built = graph_stage(image_file, output, settings)
    say(f"{output}: graph of {built.n_nodes} nodes and {built.n_edges} edges")
