"""Writing pictures and text, and what must be so before anything is written."""

from __future__ import annotations

import os
from collections.abc import Iterable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.replacing import replacing

QUALITY = 90
"""Of JPEG and WebP pictures."""

MOST_PIXELS = {".jpg": 65_500, ".webp": 16_383}
"""Of a side, in the formats that have a limit."""


def write_png(path: Path, picture: NDArray[Any], threads: int | None = None) -> None:
    """Write a picture of uint8 or uint16; `threads` never change the file."""
    from pfeseg.files.png import encode_png

    with replacing(path) as file:
        file.writelines(encode_png(picture, threads))


def write_picture(path: Path, picture: NDArray[np.uint8], threads: int | None = None) -> None:
    """Write a picture, (h, w, 3), in the format that the ending of `path` names."""
    kind = path.suffix.lower()
    if kind == ".png":
        write_png(path, picture, threads)
        return
    import imageio.v3 as iio

    most = MOST_PIXELS[kind]
    if max(picture.shape) > most:
        raise InvalidInputError(
            f"{path}: a {kind} picture has at most {most} pixels a side, not "
            f"{max(picture.shape)}; use {argument('overlay_size', most)}, or png"
        )
    # Colours at full resolution in JPEG, or thin outlines would fray.
    how: dict[str, Any] = {"method": 2} if kind == ".webp" else {"subsampling": 0}
    encoded = iio.imwrite(
        "<bytes>", picture, extension=kind, plugin="pillow", quality=QUALITY, **how
    )
    with replacing(path) as file:
        file.write(encoded)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8."""
    with replacing(path) as file:
        file.write(text.encode())


def refuse_existing(paths: Iterable[Path], also: str = "") -> None:
    """Refuse to write over files that exist; `also` is another way out than --overwrite."""
    existing = [path for path in paths if os.path.lexists(path)]
    if existing:
        others = f" (and {len(existing) - 1} more results)" if len(existing) > 1 else ""
        raise InvalidInputError(
            f"{existing[0]} exists{others}; use --overwrite to replace it{also}"
        )


def is_empty(folder: Path) -> bool:
    """Tell whether there is nothing in a folder, or no such folder."""
    try:
        with os.scandir(folder) as entries:
            return next(entries, None) is None
    except FileNotFoundError:
        return True
    except OSError:
        return False


def refuse_unwritable(folder: Path) -> None:
    """Refuse a folder in which nothing could be written, or that could not be made."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InvalidInputError(f"{folder}: cannot be made, as {existing} is a file")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{folder}: no permission to write in {existing}")
