"""``pfeseg sweep``: many dimensions of one image, and which to take."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli import one_line
from pfeseg.cli.options import (
    dims_option,
    jobs_option,
    make_settings,
    numbers,
    output_folder_option,
    overwrite_option,
    reading_options,
    settings_options,
)
from pfeseg.cli.progress import count_bar
from pfeseg.methods import CUTS

if TYPE_CHECKING:
    from pfeseg.metrics import Scores
    from pfeseg.trials import Pair, Sweep, Trial

COLUMNS = ("d", "k", "regions", "energy", "flatness", "orthogonality", "agreement", "seconds")
SCORES = ("covering", "pri", "vi")


@click.command()
@click.argument("image", type=click.Path(path_type=Path))
@dims_option("5:10", "Dimensions to try.")
@click.option(
    "-k",
    "--segments",
    type=numbers,
    metavar="FIRST:LAST|K,...",
    help="Numbers of clusters to try with each d.  [default: show k = d, choose from 3:8]",
)
@click.option(
    "--ground-truth",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="Score every segmentation against a BSDS .mat file or a label map.",
)
@output_folder_option
@overwrite_option
@jobs_option("Processes to share the dimensions; never changes the result.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of the table.")
@click.option("-q", "--quiet", is_flag=True, help="Print the table only, without progress.")
@reading_options
@settings_options(without=("n_dims", *CUTS), default_preset="clusters")
def sweep(
    image: Path,
    dims: tuple[int, ...],
    segments: tuple[int, ...] | None,
    ground_truth: Path | None,
    output: Path | None,
    overwrite: bool,
    jobs: int,
    as_json: bool,
    quiet: bool,
    page: int,
    allow_huge: bool,
    **options: Any,
) -> None:  # fmt: skip
    """Segment IMAGE with several dimensions and numbers of clusters, and recommend one.

    Prints a table, and writes STEM_sweep.csv with all segmentations and STEM_sweep.png, a sheet
    of pictures. All d share one graph and one factorisation of the solver's systems.

    \b
    energy         mean over the channels of |M y|_1 / |D^1/2 y|_2; small is flat
    flatness       share of the edges along which the embedding does not change
    orthogonality  squared error of Y^T D Y = I
    agreement      see below

    The recommendation needs no ground truth. It is the consensus: of all the segmentations with
    the d and k to choose from, the one with the largest mean Rand index with all others, its
    'agreement'. A boundary that depends on a particular d and k is found by few of them, one
    that is in the image by many. 'pfeseg segment -d auto -k auto' chooses so from d in 5:10 and
    k in 3:8.

    With --ground-truth, the best d by each metric is told too: the paper's dynamic scheme.

    \b
    Examples:
      pfeseg sweep photo.jpg -d 5:25 --jobs 2
      pfeseg sweep photo.jpg -d 8 -k 3:12
      pfeseg sweep photo.jpg -d 5,10,15 --ground-truth photo.mat
    """
    settings = make_settings(clusters=True, **options)
    from pfeseg.bsds_files import check_size, read_ground_truths
    from pfeseg.errors import InvalidInputError
    from pfeseg.files import write_png, write_text
    from pfeseg.metrics import score
    from pfeseg.outputs import check_writable
    from pfeseg.reading import read_image
    from pfeseg.trials import candidate_pairs
    from pfeseg.trials import sweep as run_sweep

    folder = output or image.parent
    table, sheet = folder / f"{image.stem}_sweep.csv", folder / f"{image.stem}_sweep.png"
    existing = [path for path in (table, sheet) if path.exists()]
    if existing and not overwrite:
        raise InvalidInputError(f"{existing[0]} exists; use --overwrite to replace it")
    check_writable(folder)
    truths = read_ground_truths(ground_truth) if ground_truth else []
    picture = read_image(image, page=page, allow_huge=allow_huge)
    if ground_truth:
        check_size(ground_truth, truths, picture.shape)
    shown: list[Pair]
    candidates: list[Pair]
    if segments:
        shown = candidates = [(d, k) for d in dims for k in segments]
    else:
        shown = [(d, d) for d in dims]
        candidates = candidate_pairs(settings, dims, picture.shape)
    with count_bar(len(set(dims)), "dimension", quiet) as bar:
        result = run_sweep(
            picture, shown, candidates, settings, jobs=jobs, on_dimension=lambda _: bar.update()
        )
    scores = [score(result.labels(trial), truths) for trial in result.trials] if truths else None
    rows = [_row(t, scores[i] if scores else None) for i, t in enumerate(result.trials)]
    write_text(table, _csv(rows))
    write_png(sheet, _sheet(picture, result, len(shown), rows))
    best = _best_dims(rows[: len(shown)]) if scores else {}
    chosen = {"d": result.best.n_dims, "k": result.best.n_segments}
    if as_json:
        facts = {"recommended": chosen, "rows": rows[: len(shown)]}
        click.echo(json.dumps(facts | ({"best": best} if best else {})))
        return
    _print(rows, len(shown), result.recommended)
    for metric, row in best.items():
        click.echo(f"best by {metric}: d = {row['d']}, k = {row['k']} ({row[metric]:.4f})")
    click.echo(f"recommended: -d {chosen['d']} -k {chosen['k']}")
    if not quiet:
        click.echo(one_line(f"written: {table}, {sheet}"), err=True)


def _row(trial: Trial, scores: Scores | None) -> dict[str, Any]:
    from dataclasses import asdict

    row: dict[str, Any] = {
        "d": trial.n_dims,
        "k": trial.n_segments,
        "regions": trial.n_regions,
        "energy": trial.energy,
        "flatness": trial.flatness,
        "orthogonality": trial.orthogonality_error,
        "agreement": trial.agreement,
        "seconds": round(trial.seconds, 4),
    }
    return row | (asdict(scores) if scores else {})


def _best_dims(rows: list[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    return {
        "covering": max(rows, key=lambda row: row["covering"]),
        "pri": max(rows, key=lambda row: row["pri"]),
        "vi": min(rows, key=lambda row: row["vi"]),
    }


def _csv(rows: list[dict[str, Any]]) -> str:
    def text(value: Any) -> str:
        return "" if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)

    lines = [",".join(rows[0])]
    lines += [",".join(text(value) for value in row.values()) for row in rows]
    return "\n".join(lines) + "\n"


def _print(rows: list[dict[str, Any]], n_shown: int, recommended: int) -> None:
    """Print the rows that were asked for, and the recommended one below if it is none of them."""
    columns = [name for name in (*COLUMNS, *SCORES) if name in rows[0]]
    formats = {"d": "{:d}", "k": "{:d}", "regions": "{:d}", "orthogonality": "{:.3g}"}
    formats |= {"seconds": "{:.2f}"}
    click.echo("  ".join(f"{name:>{max(len(name), 5)}}" for name in columns))
    for index in [*range(n_shown), *([recommended] if recommended >= n_shown else [])]:
        cells = []
        for name in columns:
            value = rows[index][name]
            text = "-" if value is None else formats.get(name, "{:.4f}").format(value)
            cells.append(f"{text:>{max(len(name), 5)}}")
        click.echo("  ".join(cells) + ("  <- recommended" if index == recommended else ""))


def _sheet(picture: Any, result: Sweep, n_shown: int, rows: list[dict[str, Any]]) -> Any:
    from pfeseg.image import enlarge_labels
    from pfeseg.pictures import draw_contact_sheet

    def caption(index: int) -> str:
        row = rows[index]
        lines = [f"d = {row['d']}, k = {row['k']}"]
        lines += [f"covering {row['covering']:.2f}"] if "covering" in row else []
        lines += ["recommended"] if index == result.recommended else []
        return "\n".join(lines)

    def tile(trial: Trial) -> Any:
        height, width = trial.small_labels.shape
        return enlarge_labels(result.labels(trial), (height, width))  # small, as there are many

    indices = [*range(n_shown), *([result.recommended] if result.recommended >= n_shown else [])]
    return draw_contact_sheet(
        picture,
        [(tile(result.trials[i]), caption(i)) for i in indices],
        marked=indices.index(result.recommended),
    )
