"""Draw the pictures of the README, the tutorial and the how-to pages, and write the gallery.

Run it with ``make gallery``. Every picture is made of an image that is in the public domain or
under CC0, or that a script of this project draws.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import imageio.v3 as iio
import numpy as np
from made_images import draw_cells, draw_fields
from numpy.typing import NDArray
from PIL import Image

from pfeseg import Segmentation, Settings, as_raster, draw_overlay, segment
from pfeseg.labels.following import follow
from pfeseg.pictures.overlay import draw_contour_map

DOCS = Path(__file__).parent
PICTURES = DOCS / "pictures"
SAMPLES = DOCS.parent / "sample_images"
GAP = 4

Picture = NDArray[np.uint8]


def sample(name: str) -> Picture:
    """Read a sample image."""
    return np.asarray(iio.imread(SAMPLES / name))


def of_skimage(name: str) -> Picture:
    """Return an image of scikit-image."""
    from skimage import data

    return np.asarray(getattr(data, name)())


@dataclass(frozen=True)
class Exhibit:
    """A row of the gallery: an image, where it comes from, and the options that it was cut with."""

    name: str
    title: str
    origin: str
    load: Callable[[], NDArray[Any]]
    words: str = ""
    settings: tuple[tuple[str, Any], ...] = ()

    @property
    def command(self) -> str:
        """The command that gives the regions."""
        return " ".join(["pfeseg segment IMAGE", *self.words.split()])

    def segment(self) -> Segmentation:
        """Segment the image as the command does."""
        return segment(self.load(), Settings(**dict(self.settings)))


NASA = "NASA, public domain"
EXHIBITS = (
    Exhibit("astronaut", "A portrait", NASA, lambda: sample("astronaut.jpg")),
    Exhibit("chelsea", "A cat", "Stéfan van der Walt, CC0", lambda: sample("chelsea.jpg")),
    Exhibit("coffee", "A cup of coffee", "Rachel Michetti, CC0", lambda: sample("coffee.jpg")),
    Exhibit("rocket", "A launch at night", "SpaceX, CC0", lambda: sample("rocket.jpg")),
    Exhibit("camera", "A photographer, in grey", "Lav Varshney, CC0", lambda: of_skimage("camera")),
    Exhibit("retina", "A retina", "Mikael Häggström, CC0", lambda: of_skimage("retina")),
    Exhibit("cell", "A cell in salt water", "Paul Müller, CC0", lambda: of_skimage("cell")),
    Exhibit("fields", "Fields seen from above", "drawn by docs/made_images.py", draw_fields),
    Exhibit(
        "cells", "Many small cells", "drawn by docs/made_images.py", draw_cells,
        "--max-size 240", (("max_size", 240),),
    ),
    Exhibit("scene", "A house", "drawn by sample_images", lambda: sample("scene.png")),
)  # fmt: skip


def shown(image: NDArray[Any]) -> Picture:
    """Return an image as people see it: three channels of 8 bits, stretched if it is deep."""
    return np.rint(as_raster(image).rgb() * 255).astype(np.uint8)


def tile(picture: Picture, width: int, height: int) -> Picture:
    """Fit a picture into a white tile."""
    image = Image.fromarray(picture).convert("RGB")
    image.thumbnail((width, height), Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", (width + GAP, height + GAP), "white")
    sheet.paste(image, ((width - image.width) // 2, (height - image.height) // 2))
    return np.asarray(sheet)


def strip(pictures: Sequence[Picture], width: int) -> Picture:
    """Put pictures of one shape side by side, each so many pixels wide."""
    height = round(width * pictures[0].shape[0] / pictures[0].shape[1])
    return np.concatenate([tile(picture, width, height) for picture in pictures], axis=1)


def save(name: str, picture: Picture) -> None:
    """Write a picture for a page."""
    PICTURES.mkdir(exist_ok=True)
    iio.imwrite(PICTURES / f"{name}.webp", picture, quality=72, method=6)


def contours(result: Segmentation) -> Picture:
    """Draw the hierarchy of a result."""
    assert result.hierarchy is not None
    return draw_contour_map(result.hierarchy.contour_map())


def draw_side_by_side() -> None:
    """Draw the picture of the README: each photograph, its regions, hierarchy, and the paper."""
    rows = []
    for name in ("astronaut.jpg", "chelsea.jpg", "coffee.jpg", "rocket.jpg"):
        image = sample(name)
        result = segment(image)
        paper = segment(image, Settings.preset("paper"))
        overlays = [draw_overlay(image, found.labels) for found in (result, paper)]
        row = [image, overlays[0], contours(result), overlays[1]]
        rows.append(np.concatenate([tile(picture, 228, 169) for picture in row], axis=1))
    path = DOCS / "side_by_side.jpg"
    iio.imwrite(path, np.concatenate(rows), quality=72, optimize=True, progressive=True)


def draw_tutorial() -> None:
    """Draw the pictures of the tutorial, and of the pages about levels and small things."""
    image = of_skimage("coffee")
    result = segment(image)
    assert result.hierarchy is not None
    save("coffee", strip([image, draw_overlay(image, result.labels)], 420))
    save("contours", strip([image, contours(result)], 420))
    cuts = follow([result.hierarchy.with_regions(n) for n in (3, 9, 15, 40)])
    save("levels", strip([draw_overlay(image, labels) for labels in cuts], 300))
    groups = [segment(image, n_clusters=k).labels for k in (4, 8)]
    save("clusters", strip([draw_overlay(image, labels) for labels in groups], 420))
    cells = draw_cells()
    grey = shown(cells)
    found = [segment(cells), segment(cells, Settings(max_size=240))]
    save("small_things", strip([grey, *(draw_overlay(grey, each.labels) for each in found)], 300))


def draw_sweep() -> None:
    """Draw the sheet of a sweep over levels, by the command."""
    with TemporaryDirectory() as folder:
        words = [str(SAMPLES / "chelsea.jpg"), "--levels", "0.3:0.7:0.1", "-o", folder]
        subprocess.run([sys.executable, "-m", "pfeseg", "sweep", *words], check=True)
        save("sweep", np.asarray(iio.imread(f"{folder}/chelsea_sweep.png")))


def draw_page() -> None:
    """Take a picture of the page of a batch, where there is a browser."""
    browser = shutil.which("chromium")
    if browser is None:
        print("no chromium, so pictures/page.webp stays as it is")
        return
    with TemporaryDirectory() as parent:
        folder = f"{parent}/results"
        paths = [str(path) for path in SAMPLES.glob("*.jpg")]
        page, shot = f"{folder}/report.html", f"{folder}/page.png"
        pfeseg = [sys.executable, "-m", "pfeseg", "segment", *paths, "-o", folder, "--report", "-q"]
        subprocess.run(pfeseg, check=True)
        options = ("--headless", "--no-sandbox", "--hide-scrollbars", "--window-size=1100,400")
        taken = [browser, *options, f"--screenshot={shot}", f"file://{page}"]
        subprocess.run(taken, check=True, capture_output=True)
        save("page", np.asarray(iio.imread(shot))[..., :3])


def gallery_page() -> str:
    """Return the gallery in Markdown."""
    parts = [HEAD]
    for exhibit in EXHIBITS:
        alternative = f"{exhibit.title}: the image, its regions, and the hierarchy of boundaries"
        parts.append(
            f"## {exhibit.title}\n\n![{alternative}](pictures/gallery_{exhibit.name}.webp)\n\n"
            f"`{exhibit.command}` (image: {exhibit.origin})\n"
        )
    return "\n".join(parts)


HEAD = """\
# Gallery

Each row shows an image, its regions, and the hierarchy of all boundaries, darker where more people
would draw them. The command below a row gives the regions. Most commands have no options, so the
gallery also shows where the default is not what you may want, and where
[another level](how-to/choosing-a-level.md) would be better.

The photographs are copies that come with scikit-image. `make gallery`, in a clone of the
repository, draws this page.
"""


def main() -> None:
    """Draw everything."""
    draw_side_by_side()
    draw_tutorial()
    draw_sweep()
    draw_page()
    for exhibit in EXHIBITS:
        image, result = exhibit.load(), exhibit.segment()
        overlay = draw_overlay(shown(image), result.labels)
        save(f"gallery_{exhibit.name}", strip([shown(image), overlay, contours(result)], 300))
    (DOCS / "gallery.md").write_text(gallery_page(), encoding="utf-8")


if __name__ == "__main__":
    main()
