"""Files: reading images, writing results so that none is ever left half written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError

MAX_LABELS_16_BIT = 1 << 16


def read_image(path: Path) -> NDArray[Any]:
    """Read an image as a (h, w) or (h, w, 3) array of uint8, uint16 or float."""
    import imageio.v3 as iio

    if not path.exists():
        raise InvalidInputError(f"{path}: no such file")
    try:
        image = np.asarray(iio.imread(path, plugin="pillow", index=0, rotate=True))
    except (OSError, ValueError, SyntaxError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInputError(f"{path}: not a readable image ({reason})") from error
    if image.dtype == bool:
        image = image.astype(np.uint8) * np.uint8(255)
    if image.ndim == 3 and image.shape[2] in (2, 4):
        image = _on_white(image)
    return image


def _on_white(image: NDArray[Any]) -> NDArray[Any]:
    """Composite an image, whose last channel is its opacity, on white."""
    top = np.iinfo(image.dtype).max if np.issubdtype(image.dtype, np.integer) else 1
    opacity = image[..., -1:] / top
    colours = image[..., :-1] * opacity + top * (1 - opacity)
    return np.rint(colours).astype(image.dtype) if top > 1 else colours.astype(image.dtype)


def write_png(path: Path, picture: NDArray[Any]) -> None:
    """Write a picture of uint8 or uint16."""
    import imageio.v3 as iio

    with replacing(path) as temporary:
        iio.imwrite(temporary, picture, extension=".png")


def write_labels(path: Path, labels: NDArray[np.integer[Any]]) -> None:
    """Write a label map as a 16-bit grey PNG."""
    if labels.max() >= MAX_LABELS_16_BIT:
        raise InvalidInputError(
            f"{path}: {labels.max() + 1} labels do not fit a 16-bit PNG of {MAX_LABELS_16_BIT}"
        )
    write_png(path, labels.astype(np.uint16))


def write_json(path: Path, value: Any) -> None:
    """Write JSON text."""
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(value, indent=2) + "\n", encoding="utf-8")


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Offer a temporary path that becomes `path` if the block succeeds, and else vanishes."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield temporary
        temporary.replace(path)
    finally:
        temporary.unlink(missing_ok=True)
