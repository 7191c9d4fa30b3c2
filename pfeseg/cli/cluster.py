"""``pfeseg cluster``: the last stage of the computation."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from pfeseg.cli.options import check_output, make_settings, output_file_options, settings_options


@click.command()
@click.argument("embedding_file", metavar="EMBEDDING.npz", type=click.Path(path_type=Path))
@output_file_options
@settings_options("cluster")
def cluster(embedding_file: Path, output: Path, overwrite: bool, **options: Any) -> None:
    """Cluster EMBEDDING.npz, made by 'embed', into a label map: .png, .tif or .npy."""
    settings = make_settings(**options)
    check_output(output, overwrite, (".png", ".tif", ".npy"), embedding_file)
    from pfeseg.files import read_stage
    from pfeseg.stages import cluster_stage

    if options["seed"] is None and options["config"] is None:  # as in one run of all stages
        stored = read_stage(embedding_file, "embedding")[0]["settings"]
        settings = settings.changed(seed=stored.get("seed", settings.seed))
    labels = cluster_stage(embedding_file, output, settings)
    click.echo(f"{output}: label map of {labels.max() + 1} regions", err=True)
