"""Pictures as JPEG files, and as addresses that hold such a file themselves."""

from __future__ import annotations

import base64
import io

import numpy as np
from numpy.typing import NDArray

QUALITY = 82


def jpeg(picture: NDArray[np.uint8]) -> bytes:
    """Return a picture, (h, w, 3), as a JPEG file."""
    from PIL import Image

    file = io.BytesIO()
    Image.fromarray(picture).save(file, "JPEG", quality=QUALITY)
    return file.getvalue()


def jpeg_uri(picture: NDArray[np.uint8]) -> str:
    """Return a picture, (h, w, 3), as the address of a JPEG file that it holds itself."""
    return as_uri(jpeg(picture))


def as_uri(content: bytes) -> str:
    """Return the address of a JPEG file that it holds itself."""
    return "data:image/jpeg;base64," + base64.b64encode(content).decode("ascii")
