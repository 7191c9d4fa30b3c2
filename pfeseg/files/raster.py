"""Images of files, checked and stretched, of the bands and pixels that were asked for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, TypedDict

import numpy as np

from pfeseg.checks import check_path, check_truth, shown, whole_number
from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.georeference import read_georeference
from pfeseg.files.masking import find_mask
from pfeseg.files.reading import name_of, read_image
from pfeseg.image.arrays import Raster, pixels_as_raster
from pfeseg.image.options import choose_bands

MAX_PAGE = 10**9


class Reading(TypedDict):
    """How a file is to be read, as `read_raster` takes it, but for what settings hold."""

    page: int | None
    allow_huge: bool
    mask: str | None
    nodata: tuple[float, ...]


def read_raster(
    source: Path | str | bytes,
    stretch: str | None = None,
    bands: str | None = None,
    *,
    page: int | None = None,
    allow_huge: bool = False,
    mask: Path | str | None = None,
    nodata: float | Sequence[float] = (),
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
        File of an image of the same size that is zero outside; "alpha" takes the alpha channel of
        the source itself.
    nodata : sequence of float
        Pixels whose bands all have one of these values are outside, and so is what the file itself
        calls no data.
    name : str, optional
        What to call the source in messages.

    Returns
    -------
    Raster

    Raises
    ------
    InvalidInputError
        For anything that is not an image that can be read, and for a stretch, bands or a mask
        that do not fit it. The message begins with the name of the source.

    Examples
    --------
    >>> import io
    >>> import imageio.v3 as iio
    >>> import numpy as np
    >>> import pfeseg
    >>> file = io.BytesIO()
    >>> iio.imwrite(file, np.array([[0, 70, 255]], np.uint8), extension=".png")
    >>> pfeseg.read_raster(file.getvalue())
    <Raster of 3 x 1 pixels, uint8: black 0, white 255>
    """
    source = source if isinstance(source, bytes) else check_path("source", source)
    page = None if page is None else whole_number("page", page, 0, MAX_PAGE)
    stretch, bands = "auto" if stretch is None else stretch, "auto" if bands is None else bands
    allow_huge, nodata = check_truth("allow_huge", allow_huge), _check_nodata(nodata)
    mask = None if mask is None else str(check_path("mask", mask))
    name = name_of(source) if name is None else str(name)
    array = read_image(source, page=page, allow_huge=allow_huge, name=name)
    try:
        layers = array if array.ndim == 3 else array[..., None]
        used = choose_bands(bands, layers.shape[2])
        if used != tuple(range(1, layers.shape[2] + 1)):
            layers = layers[..., np.array(used) - 1]
        inside = find_mask(source, layers, mask=mask, nodata=nodata, page=page or 0, name=name)
        raster = pixels_as_raster(array, stretch, bands, inside)
        place = read_georeference(source, raster.shape, page=page or 0, name=name)
    except InvalidInputError as error:
        if error.marked.startswith(f"{name}: "):
            raise
        raise InvalidInputError(f"{name}: {error.marked}") from error
    return replace(raster, georeference=place)


def _check_nodata(nodata: Any) -> list[float]:
    """Return the values that stand for no data, of one number or of several."""
    try:
        values = list(nodata) if np.ndim(nodata) else [nodata]
        numbers = [float(value) for value in values if not isinstance(value, str | bytes | bool)]
    except Exception:  # of the object that is no number
        numbers, values = [], [nodata]
    if len(numbers) < len(values):
        raise InvalidInputError(
            f"{argument('nodata')} must be a number or several, got {shown(nodata)}"
        )
    return numbers
