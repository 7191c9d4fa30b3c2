"""Pictures as JPEG files, and as data URIs: addresses that are the file itself, in text."""

from __future__ import annotations

import base64

import numpy as np
from numpy.typing import NDArray

QUALITY = 82


def jpeg(picture: NDArray[np.uint8]) -> bytes:
    """Return a picture, (h, w, 3), as a JPEG file."""
    import imageio.v3 as iio

    return iio.imwrite("<bytes>", picture, extension=".jpg", plugin="pillow", quality=QUALITY)


def jpeg_uri(picture: NDArray[np.uint8]) -> str:
    """Return a picture, (h, w, 3), as the data URI of a JPEG file."""
    return as_uri(jpeg(picture))


def as_uri(content: bytes) -> str:
    """Return the data URI of a JPEG file."""
    return "data:image/jpeg;base64," + base64.b64encode(content).decode("ascii")
