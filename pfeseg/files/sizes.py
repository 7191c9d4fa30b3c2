"""The size of an image, told from the beginning of its file."""

from __future__ import annotations

from pathlib import Path

from pfeseg.files.opening import open_file, open_picture
from pfeseg.files.quiet import quiet_pillow


def peek_size(path: Path) -> tuple[int, int] | None:
    """Return (height, width) without reading the pixels, or None where that is not possible."""
    try:
        with quiet_pillow(), open_file(path) as file, open_picture(file) as image:
            width, height = image.size
    except Exception:  # whatever is wrong is told when the image is read
        return None
    return height, width
