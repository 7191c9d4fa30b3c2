"""Files of several pages, of which all but one are not used."""

from __future__ import annotations

import io
import math
import warnings
from contextlib import suppress

from pfeseg.errors import ImageWarning, argument
from pfeseg.files.opening import open_picture, open_tiff
from pfeseg.files.quiet import quiet_pillow
from pfeseg.files.tiff import SIGNATURES, page_sheets

FORMATS_OF_PAGES = ("TIFF", "GIF", "WEBP", "PNG")
"""Those of which several pictures in one file are no copies of the first in other sizes."""

AXES_OF_A_PAGE = "CSYX"
"""How tifffile calls channels, colours, rows and columns."""


def tell_of_pages(content: io.BytesIO) -> None:
    """Warn that there are more pages than the first."""
    is_tiff = content.getvalue()[:4] in SIGNATURES
    count = 2 if is_tiff else 1  # at most, as far as is known
    with suppress(Exception), quiet_pillow(), open_picture(content) as image:
        count = image.n_frames if image.format in FORMATS_OF_PAGES else 1
    if is_tiff and count > 1:
        with suppress(Exception):
            count = _count_tiff_pages(content)
    if count > 1:
        warnings.warn(
            f"{count} pages, used the first, number 0; {argument('page')} chooses another, and "
            "'pfeseg segment --volume' takes all as a volume",
            ImageWarning,
            stacklevel=3,
        )


def _count_tiff_pages(content: io.BytesIO) -> int:
    """Count the pages of a TIFF file but channels, masks and smaller copies."""
    content.seek(0)
    with open_tiff(content) as tiff:
        if tiff.is_imagej or tiff.is_ome:
            return math.prod(
                count
                for axis, count in zip(tiff.series[0].axes, tiff.series[0].shape, strict=True)
                if axis not in AXES_OF_A_PAGE
            )
        return len(page_sheets(tiff))
