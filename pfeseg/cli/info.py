"""``pfeseg info``: what a file holds, or what this installation is."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import allow_huge_option
from pfeseg.cli.wording import one_line
from pfeseg.errors import InvalidInputError

LIBRARIES = ("numpy", "scipy", "scikit-image", "scikit-learn", "imageio", "pillow")


@click.command(cls=Command)
@click.argument("file", required=False, type=click.Path(path_type=Path))
@option("--json", "as_json", is_flag=True, heading=Heading.RESULTS, help="Print JSON.")
@allow_huge_option
def info(file: Path | None, as_json: bool, allow_huge: bool) -> None:
    """Show what FILE contains: a stage file, a label map or a report.

    Without FILE, it shows the version, the compiled kernels in use, the number of threads and the
    versions of the libraries.
    """
    facts = _describe(file, allow_huge) if file else _installation()
    if as_json:
        click.echo(json.dumps(facts))
        return
    _print(facts, "")


def _print(facts: dict[str, Any], indent: str) -> None:
    for name, value in facts.items():
        if isinstance(value, dict):
            click.echo(one_line(f"{indent}{name}:"))
            _print(value, indent + "  ")
        else:
            click.echo(one_line(f"{indent}{name}: {value}"))


def _installation() -> dict[str, Any]:
    import platform
    from importlib.metadata import version

    from pfeseg import __version__
    from pfeseg.kernels import variant
    from pfeseg.machine import available_threads

    return {
        "pfeseg": __version__,
        "kernels": variant(),
        "threads": available_threads(),
        "python": platform.python_version(),
        **{name: version(name) for name in LIBRARIES},
    }


def _describe(path: Path, allow_huge: bool) -> dict[str, Any]:
    if not path.exists():
        raise InvalidInputError(f"{path}: no such file")
    match path.suffix.lower():
        case ".npz":
            from pfeseg.run.stages import describe_stage

            return describe_stage(path)
        case ".png" | ".tif" | ".tiff" | ".npy":
            import numpy as np

            from pfeseg.files.labels import read_labels

            labels = read_labels(path, allow_huge)
            size = f"{labels.shape[1]} x {labels.shape[0]}"
            return {"kind": "labels", "image_size": size, "regions": len(np.unique(labels))}
        case ".json":
            from pfeseg.files.report import read_report

            return {"kind": "report", **read_report(path)}
    raise InvalidInputError(f"{path}: expected a stage file, a label map or a report of pfeseg")
