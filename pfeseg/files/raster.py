"""Images of files, checked and stretched, of the bands and pixels that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from pfeseg.errors import InvalidInputError
from pfeseg.files.georeference import read_georeference
from pfeseg.files.masking import find_mask
from pfeseg.files.reading import name_of, read_image
from pfeseg.image.arrays import Raster, as_raster
from pfeseg.image.options import choose_bands


def read_raster(
    source: Path | str | bytes,
    stretch: str | None = None,
    bands: str | None = None,
    *,
    page: int | None = None,
    allow_huge: bool = False,
    mask: str | None = None,
    nodata: Sequence[float] = (),
    name: str | None = None,
) -> Raster:
    """Read an image with its mask and its place on earth, and check it as `as_raster` does.

    Parameters
    ----------
    source : Path, str or bytes
        File, or the content of one.
    stretch, bands : str, optional
        As for `as_raster`; "auto" unless given.
    page : int
        Page or frame, counted from 0.
    allow_huge : bool
        Read images of more than 100 million pixels too.
    mask : str, optional
        File of an image of the same size, not zero inside; "alpha" is the file's own.
    nodata : sequence of float
        Outside is where all bands have one of these values, or what the file calls no data.
    name : str, optional
        What to call the source in messages.
    """
    source = Path(source) if isinstance(source, str) else source
    name = name or name_of(source)
    array = read_image(source, page=page, allow_huge=allow_huge, name=name)
    try:
        layers = array if array.ndim == 3 else array[..., None]
        used = choose_bands(bands or "auto", layers.shape[2])
        if used != tuple(range(1, layers.shape[2] + 1)):
            layers = layers[..., np.array(used) - 1]
        inside = find_mask(source, layers, mask=mask, nodata=nodata, page=page or 0, name=name)
        raster = as_raster(array, stretch or "auto", bands or "auto", inside)
        place = read_georeference(source, raster.shape, page=page or 0, name=name)
    except InvalidInputError as error:
        if error.marked.startswith(f"{name}: "):
            raise
        raise InvalidInputError(f"{name}: {error.marked}") from error
    return replace(raster, georeference=place)
