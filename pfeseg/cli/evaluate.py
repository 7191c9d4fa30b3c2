"""``pfeseg evaluate``: segmentations against ground truth."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.options import Command, Heading, option
from pfeseg.cli.wording import in_options, one_line
from pfeseg.errors import InvalidInputError, failure

if TYPE_CHECKING:
    from pfeseg.labels.metrics import Comparison

METRICS = ("covering", "pri", "vi")


@click.command(cls=Command)
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("ground_truth", type=click.Path(path_type=Path))
@option(
    "--format",
    "layout",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    heading=Heading.RESULTS,
    help="Layout of what is printed.",
)
def evaluate(labels: Path, ground_truth: Path, layout: str) -> int:  # fmt: skip
    """Score LABELS against GROUND_TRUTH by covering, PRI and VI, as the BSDS benchmark does.

    LABELS is a label map (.png, .tif or .npy), or a .mat file with 'segs' or 'ucm2', which
    hold several segmentations. GROUND_TRUTH is a BSDS .mat file or a label map. Or
    both are folders: NAME.* or NAME_labels.* is compared with NAME.mat, or else with
    NAME.png, .tif or .npy.

    Large covering and PRI are good, and small VI. For a data set, ODS takes the one setting that is
    best for all images, OIS the best for each image, and 'best' the best for each region.

    \b
    Examples:
      pfeseg evaluate photo_labels.png photo.mat
      pfeseg evaluate results bsds500/groundTruth/val --format csv
    """
    from pfeseg.files.matlab import read_ground_truths, read_segmentations
    from pfeseg.labels.metrics import compare

    compared: dict[str, list[Comparison]] = {}
    failed = False
    for name, segmentation, truth in _pairs(labels, ground_truth):
        try:
            if truth is None:
                raise InvalidInputError(
                    f"{segmentation}: no ground truth {name}.* in {ground_truth}"
                )
            truths = read_ground_truths(truth)
            compared[name] = [compare(s, truths) for s in read_segmentations(segmentation)]
        except Exception as error:
            message = in_options(failure(error, str(segmentation)))
            click.echo(f"Error: {one_line(message)}", err=True)
            failed = True
    if compared:
        _print(_rows(compared), layout)
    return 1 if failed else 0


def _pairs(labels: Path, ground_truth: Path) -> list[tuple[str, Path, Path | None]]:
    for path in (labels, ground_truth):
        if not path.exists():
            raise InvalidInputError(f"{path}: no such file or folder")
    if not labels.is_dir() and not ground_truth.is_dir():
        return [(_name(labels), labels, ground_truth)]
    if not (labels.is_dir() and ground_truth.is_dir()):
        raise click.UsageError("LABELS and GROUND_TRUTH must be two files or two folders")
    endings = (".mat", ".png", ".tif", ".tiff", ".npy")
    files = sorted(p for p in labels.iterdir() if p.suffix.lower() in endings)
    named = [p for p in files if p.stem.endswith("_labels")]
    if not files:
        raise InvalidInputError(f"{labels}: this folder holds no label maps")
    pairs: list[tuple[str, Path, Path | None]] = []
    for path in named or files:  # beside *_labels.png lie overlays, which are no label maps
        candidates = (ground_truth / f"{_name(path)}{ending}" for ending in endings)
        pairs.append((_name(path), path, next((c for c in candidates if c.exists()), None)))
    return pairs


def _name(path: Path) -> str:
    return path.stem.removesuffix("_labels")


def _rows(compared: dict[str, list[Comparison]]) -> list[dict[str, Any]]:
    """One row per image, its best setting by each metric; then those of the data set."""
    from dataclasses import asdict

    from pfeseg.labels.metrics import summarise

    rows: list[dict[str, Any]] = [
        {"image": name, **asdict(summarise([settings]).ois)} for name, settings in compared.items()
    ]
    if len(compared) > 1 or any(len(settings) > 1 for settings in compared.values()):
        total = summarise(list(compared.values()))
        rows.append({"image": "all (ODS)", **asdict(total.ods)})
        rows.append({"image": "all (OIS)", **asdict(total.ois)})
        rows.append({"image": "all (best)", "covering": total.best_covering})
    return rows


def _print(rows: list[dict[str, Any]], layout: str) -> None:
    if layout == "json":
        click.echo(json.dumps(rows))
    elif layout == "csv":
        click.echo(",".join(("image", *METRICS)))
        for row in rows:
            figures = (f"{row[m]:.6f}" if m in row else "" for m in METRICS)
            click.echo(",".join((row["image"], *figures)))
    else:
        width = max(len("image"), *(len(row["image"]) for row in rows))
        click.echo(f"{'image':{width}}  covering     PRI      VI")
        for row in rows:
            figures = (f"{row[m]:8.4f}" if m in row else " " * 8 for m in METRICS)
            click.echo(f"{row['image']:{width}}  {''.join(figures)}".rstrip())
