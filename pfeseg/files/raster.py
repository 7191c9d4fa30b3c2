"""Images of files, checked and stretched, of the bands and pixels that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np

from pfeseg.errors import InvalidInputError
from pfeseg.files.masking import find_mask
from pfeseg.files.reading import name_of, read_image
from pfeseg.image.arrays import Raster, as_raster
from pfeseg.image.options import choose_bands


def read_raster(
    source: Path | bytes,
    stretch: str | None = None,
    bands: str | None = None,
    *,
    page: int | None = None,
    allow_huge: bool = False,
    mask: str | None = None,
    nodata: Sequence[float] = (),
    name: str | None = None,
) -> Raster:
    """Read an image as `read_image` does, and check it as `as_raster` does.

    `stretch` and `bands` are "auto" unless told otherwise; `mask` and `nodata` are those of
    `find_mask`. What is wrong with the pixels is told with the name of the file.
    """
    name = name or name_of(source)
    array = read_image(source, page=page, allow_huge=allow_huge, name=name)
    try:
        layers = array if array.ndim == 3 else array[..., None]
        used = choose_bands(bands or "auto", layers.shape[2])
        if used != tuple(range(1, layers.shape[2] + 1)):
            layers = layers[..., np.array(used) - 1]
        inside = find_mask(source, layers, mask=mask, nodata=nodata, page=page or 0, name=name)
        return as_raster(array, stretch or "auto", bands or "auto", inside)
    except InvalidInputError as error:
        if error.marked.startswith(f"{name}: "):
            raise
        raise InvalidInputError(f"{name}: {error.marked}") from error
