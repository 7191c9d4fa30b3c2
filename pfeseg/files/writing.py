"""Writing files, none of which is ever left half written."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument

_counter = count()

NUMBERED = re.compile(r"\d{4,}\.png")
"""Names of the pictures in a folder of results, one a region."""

QUALITY = 90
"""Of JPEG and WebP pictures."""

MOST_PIXELS = {".jpg": 65_500, ".webp": 16_383}
"""Of a side, in the formats that have a limit."""


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Offer a temporary path that becomes `path` if the block succeeds, and else vanishes."""
    # Short, as the name of the file itself may be as long as names can be.
    temporary = path.with_name(f".pfeseg-{os.getpid()}-{next(_counter)}.part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        yield temporary
        temporary.replace(path)
    except OSError as error:
        raise InvalidInputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        with suppress(OSError):
            temporary.unlink(missing_ok=True)


@contextmanager
def replacing_folder(path: Path, own: re.Pattern[str] = NUMBERED) -> Iterator[Path]:
    """Offer a temporary folder that becomes `path` if the block succeeds, and else vanishes.

    A folder that is there already is replaced as a whole if all names in it are `own`, those of
    numbered pictures; any other is not, as more would be lost than a result.
    """
    final = path.resolve()  # what a link points to is replaced, not the link
    name = f".pfeseg-{os.getpid()}-{next(_counter)}"
    temporary, former = final.with_name(f"{name}.part"), final.with_name(f"{name}-old.part")
    try:
        _refuse_foreign(path, own)
        temporary.mkdir(parents=True)
        yield temporary
        if final.exists():
            final.rename(former)
        temporary.rename(final)
    except OSError as error:
        raise InvalidInputError(f"{path}: cannot be written ({error.strerror or error})") from error
    finally:
        if former.exists() and not final.exists():
            former.rename(final)
        for folder in (temporary, former):
            shutil.rmtree(folder, ignore_errors=True)


def _refuse_foreign(folder: Path, own: re.Pattern[str]) -> None:
    """Refuse to replace a file, or a folder that holds anything but what is our own."""
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{folder}: cannot be made, as it is a file")
    entries = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
    foreign = [name for name in entries if not own.fullmatch(name)]
    if foreign:
        raise InvalidInputError(
            f"{folder}: not replaced, as it holds {foreign[0]}, which is no result; "
            "move or remove it first"
        )


def write_png(path: Path, picture: NDArray[Any], threads: int | None = None) -> None:
    """Write a picture of uint8 or uint16; `threads` never change the file."""
    from pfeseg.files.png import encode_png

    with replacing(path) as temporary, temporary.open("wb") as file:
        file.writelines(encode_png(picture, threads))


def write_picture(path: Path, picture: NDArray[np.uint8], threads: int | None = None) -> None:
    """Write a picture, (h, w, 3), in the format that the ending of `path` names."""
    kind = path.suffix.lower()
    if kind == ".png":
        write_png(path, picture, threads)
        return
    from PIL import Image

    most = MOST_PIXELS[kind]
    if max(picture.shape) > most:
        raise InvalidInputError(
            f"{path}: a {kind} picture has at most {most} pixels a side, not "
            f"{max(picture.shape)}; use {argument('overlay_size', most)}, or png"
        )
    with replacing(path) as temporary:
        if kind == ".webp":
            Image.fromarray(picture).save(temporary, "WEBP", quality=QUALITY, method=2)
        else:  # colours at full resolution, or thin outlines would fray
            Image.fromarray(picture).save(temporary, "JPEG", quality=QUALITY, subsampling=0)


def write_text(path: Path, text: str) -> None:
    """Write text as UTF-8."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def refuse_existing(paths: Iterable[Path], also: str = "") -> None:
    """Refuse to write over files that exist; `also` is another way out than --overwrite."""
    existing = [path for path in paths if path.exists()]
    if existing:
        others = f" (and {len(existing) - 1} more results)" if len(existing) > 1 else ""
        raise InvalidInputError(
            f"{existing[0]} exists{others}; use --overwrite to replace it{also}"
        )


def refuse_unwritable(folder: Path) -> None:
    """Refuse a folder in which nothing could be written, or that could not be made."""
    existing = folder
    while not existing.exists() and existing != existing.parent:
        existing = existing.parent
    if not existing.is_dir():
        raise InvalidInputError(f"{folder}: cannot be made, as {existing} is a file")
    if not os.access(existing, os.W_OK | os.X_OK):
        raise InvalidInputError(f"{folder}: no permission to write in {existing}")
