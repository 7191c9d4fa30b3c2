"""``pfeseg evaluate``: segmentations against ground truth."""

from __future__ import annotations

import csv
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import allow_huge_option
from pfeseg.cli.wording import in_options, one_line, say
from pfeseg.errors import failure

if TYPE_CHECKING:
    from pfeseg.benchmark.evaluation import ScoreRow

TITLES = {"pri": "PRI", "vi": "VI", "ari": "ARI", "iou": "IoU", "dice": "Dice", "f": "F"}

FOR_LESS_MEMORY = "shrink both label maps first"


@click.command(cls=Command)
@click.argument("labels", type=click.Path(path_type=Path))
@click.argument("ground_truth", type=click.Path(path_type=Path))
@option(
    "--boundaries",
    is_flag=True,
    heading=Heading.RESULTS,
    help="Score boundaries instead of regions: precision, recall and F.",
)
@option(
    "--format",
    "layout",
    type=click.Choice(["table", "csv", "json"]),
    default="table",
    show_default=True,
    heading=Heading.RESULTS,
    help="Output format.",
)
@allow_huge_option
def evaluate(
    labels: Path, ground_truth: Path, boundaries: bool, layout: str, allow_huge: bool
) -> int:
    """Score LABELS against GROUND_TRUTH by covering, PRI and VI, as the BSDS benchmark does.

    LABELS is a label map (.png, .tif or .npy), or a .mat file with 'segs' or 'ucm2', which
    holds several segmentations. GROUND_TRUTH is a BSDS .mat file or a label map. Both may also
    be folders: then NAME.*, NAME_labels.* or NAME_ucm.* is compared with NAME.mat, or else with
    NAME.png, .tif or .npy.

    VI should be small, and all other scores large. Not part of the benchmark are the adjusted Rand
    index (ARI), and IoU and Dice, the overlap of each region of the ground truth with the best
    region of LABELS, averaged over all regions. Over a data set, ODS is the score of the one
    setting that is best for all images, OIS that of the best setting for each image, and 'best'
    that of the best setting for each region.

    With --boundaries, boundary pixels are matched one to one, within 0.75 % of the image's
    diagonal. Precision is the share of the boundary pixels of LABELS that are matched, recall the
    share of those of the ground truth, and F their harmonic mean; average precision is the area
    below the curve of precision over recall.

    \b
    Examples:
      pfeseg evaluate photo_labels.png photo.mat
      pfeseg evaluate results bsds500/groundTruth/val --format csv
      pfeseg evaluate photo_ucm.mat photo.mat --boundaries
    """
    from pfeseg.benchmark import evaluation

    if labels.exists() and ground_truth.exists() and labels.is_dir() != ground_truth.is_dir():
        raise click.UsageError("LABELS and GROUND_TRUTH must be two files or two folders")
    compare = evaluation.compare_contours if boundaries else evaluation.compare_regions
    compared: dict[str, Any] = {}
    failed = False
    for pair in evaluation.find_pairs(labels, ground_truth, allow_huge):
        try:
            compared[pair.name] = compare(pair)
        except Exception as error:
            message = in_options(failure(error, str(pair.segmentation), FOR_LESS_MEMORY))
            say(f"Error: {message}")
            failed = True
    if compared and boundaries:
        _print(evaluation.boundary_rows(compared), evaluation.BOUNDARY_METRICS, layout)
    elif compared:
        _print(evaluation.region_rows(compared), evaluation.REGION_METRICS, layout)
    return 1 if failed else 0


def _print(rows: Sequence[ScoreRow], metrics: Sequence[str], layout: str) -> None:
    if layout == "json":
        click.echo(json.dumps([{"image": row.image, **row.figures} for row in rows]))
        return
    if layout == "csv":
        writer = csv.writer(sys.stdout, lineterminator="\n")
        writer.writerow(("image", *metrics))
        for row in rows:
            figures = (f"{row.figures[m]:.6f}" if m in row.figures else "" for m in metrics)
            writer.writerow((one_line(row.image), *figures))
        return
    names = [one_line(row.image) for row in rows]
    width = max(len("image"), *map(len, names))
    titles = [TITLES.get(metric, metric) for metric in metrics]
    widths = [max(len(title), 6) + 2 for title in titles]
    header = "".join(f"{title:>{w}}" for title, w in zip(titles, widths, strict=True))
    click.echo(f"{'image':{width}}{header}")
    for name, row in zip(names, rows, strict=True):
        cells = (
            f"{row.figures[metric]:{w}.4f}" if metric in row.figures else " " * w
            for metric, w in zip(metrics, widths, strict=True)
        )
        click.echo(f"{name:{width}}{''.join(cells)}".rstrip())
