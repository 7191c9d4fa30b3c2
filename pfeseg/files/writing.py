"""Writing files, none of which is ever left half written."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError

_counter = count()


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


def write_png(path: Path, picture: NDArray[Any]) -> None:
    """Write a picture of uint8 or uint16."""
    import imageio.v3 as iio

    with replacing(path) as temporary:
        iio.imwrite(temporary, picture, extension=".png", plugin="pillow")


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
