"""Draw the pictures of the README: the sample images, the paper preset and the default."""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np
from numpy.typing import NDArray
from PIL import Image

from pfeseg import Settings, draw_overlay, segment
from pfeseg.pictures.overlay import draw_contour_map

DOCS = Path(__file__).parent
SAMPLES = DOCS.parent / "sample_images"
NAMES = ("astronaut.jpg", "chelsea.jpg", "coffee.jpg", "rocket.jpg")
TILE = (270, 200)
GAP = 4


def tile(picture: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Fit a picture into a white tile."""
    image = Image.fromarray(picture).convert("RGB")
    image.thumbnail(TILE, Image.Resampling.LANCZOS)
    sheet = Image.new("RGB", (TILE[0] + GAP, TILE[1] + GAP), "white")
    sheet.paste(image, ((TILE[0] - image.width) // 2, (TILE[1] - image.height) // 2))
    return np.asarray(sheet)


def main() -> None:
    """Write side_by_side.jpg: a row for each image."""
    rows = []
    for name in NAMES:
        image = iio.imread(SAMPLES / name)
        result = segment(image)
        assert result.hierarchy is not None
        pictures = [
            image,
            draw_overlay(image, segment(image, Settings.preset("paper")).labels),
            draw_overlay(image, result.labels),
            draw_contour_map(result.hierarchy.contour_map()),
        ]
        rows.append(np.concatenate([tile(picture) for picture in pictures], axis=1))
    iio.imwrite(
        DOCS / "side_by_side.jpg", np.concatenate(rows), quality=62, optimize=True, progressive=True
    )


if __name__ == "__main__":
    main()
