"""``pfeseg embed``: the fourth stage."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pfeseg.cli.help import Command
from pfeseg.cli.options import check_output, output_file_options, threads_option
from pfeseg.cli.progress import iteration_bar
from pfeseg.cli.settings import make_settings, settings_options
from pfeseg.cli.wording import say


@click.command(cls=Command)
@click.argument("graph_file", metavar="GRAPH.npz", type=click.Path(path_type=Path))
@click.argument("init_file", metavar="INIT.npz", type=click.Path(path_type=Path))
@output_file_options
@threads_option
@settings_options("embed")
def embed(
    graph_file: Path,
    init_file: Path,
    output: Path,
    overwrite: bool,
    threads: int | None,
    **options: Any,
) -> None:  # fmt: skip
    """Compute the embedding of GRAPH.npz (from 'graph'), starting from INIT.npz (from 'init')."""
    settings = make_settings(**options)
    check_output(output, overwrite, (".npz",), graph_file, init_file)
    from pfeseg.run.stages import embed_stage

    with iteration_bar(settings.solver, graph_file.name) as bar:
        result = embed_stage(
            graph_file, init_file, output, settings, lambda _: bar.update(), threads
        )
    say(f"{output}: embedding of {result.Y.shape[1]} dimensions ({result.stop_reason})")
