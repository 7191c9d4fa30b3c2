"""``pfeseg segment``: an image in, its label map and pictures out."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from pfeseg.cli.options import (
    make_settings,
    output_folder_option,
    overwrite_option,
    settings_options,
)
from pfeseg.errors import InvalidInputError

if TYPE_CHECKING:
    from pfeseg.pipeline import Segmentation
    from pfeseg.settings import Settings


@click.command(short_help="Cut an image into its regions.")
@click.argument("image", type=click.Path(path_type=Path))
@output_folder_option
@overwrite_option
@settings_options
def segment(image: Path, output: Path | None, overwrite: bool, **options: Any) -> None:
    r"""Cut IMAGE into its regions.

    Writes STEM_labels.png (16-bit, a viewer shows it as black), STEM_overlay.png
    (the regions in colour over the image) and STEM.json (settings, timings, how
    the solver ended).

    \b
    Example:
      pfeseg segment photo.jpg -d 15 -k 8
    """
    started = time.perf_counter()
    settings = make_settings(**options)
    folder = output or image.parent
    targets = {
        "labels": folder / f"{image.stem}_labels.png",
        "overlay": folder / f"{image.stem}_overlay.png",
        "report": folder / f"{image.stem}.json",
    }
    existing = [path for path in targets.values() if path.exists()]
    if existing and not overwrite:
        raise InvalidInputError(f"{existing[0]} exists; use --overwrite to replace it")
    result = segment_file(image, settings, targets)
    click.echo(
        f"{image}: {result.n_regions} regions in {time.perf_counter() - started:.1f} s -> "
        + ", ".join(str(path) for path in targets.values()),
        err=True,
    )


def segment_file(image: Path, settings: Settings, targets: dict[str, Path]) -> Segmentation:
    """Segment one file and write its results."""
    from pfeseg import __version__
    from pfeseg.files import read_image, write_json, write_labels, write_png
    from pfeseg.pictures import draw_overlay
    from pfeseg.pipeline import segment as segment_image

    pixels = read_image(image)
    with progress_bar(settings, image.name) as bar:
        try:
            result = segment_image(pixels, settings, lambda _: bar.update())
        except InvalidInputError as error:
            raise InvalidInputError(f"{image}: {error}") from error
    report = {"input": str(image), "pfeseg_version": __version__, **result.report()}
    try:
        for path in targets.values():
            path.parent.mkdir(parents=True, exist_ok=True)
        write_labels(targets["labels"], result.labels)
        write_png(targets["overlay"], draw_overlay(pixels, result.labels))
        write_json(targets["report"], report)
    except OSError as error:
        raise InvalidInputError(f"{error.filename}: cannot write ({error.strerror})") from error
    return result


def progress_bar(settings: Settings, title: str) -> Any:
    """Make a bar that counts solver iterations; it shows on a terminal only."""
    from tqdm import tqdm

    solver = settings.solver
    most = solver.soc_iterations * solver.split_iterations + solver.relaxed_iterations
    return tqdm(desc=title, total=most + 1, unit="it", leave=False, disable=None)
