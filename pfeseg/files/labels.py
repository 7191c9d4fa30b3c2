"""Label maps on disk."""

from __future__ import annotations

import io
import math
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import (
    check_sheet,
    check_size,
    open_picture,
    open_tiff,
    parse_npy,
    quiet_pillow,
    read_file,
)
from pfeseg.files.replacing import replacing
from pfeseg.files.writing import write_png

LabelsFormat = Literal["png", "tif", "npy"]

MAX_LABEL = 2**62


def write_labels(path: Path, labels: NDArray[np.integer[Any]], threads: int | None = None) -> None:
    """Write a label map in the format that the ending of `path` names.

    .png holds up to 65,536 labels in 16 bits, .tif and .npy any number in 32. `threads` never
    change the file.
    """
    kind = labels_format(path)
    if kind == "png":
        if labels.max() > 65535:
            raise InvalidInputError(
                f"{path}: {labels.max() + 1} labels are more than a 16-bit PNG holds (65536); "
                "write them as tif or npy"
            )
        write_png(path, labels.astype(np.uint16), threads)
    elif kind == "tif":
        import tifffile

        with replacing(path) as file:
            tifffile.imwrite(file, labels.astype(np.uint32), compression="zlib")
    else:
        with replacing(path) as file:
            np.save(file, labels.astype(np.int32, copy=False))


def read_labels(path: Path, allow_huge: bool = False) -> NDArray[np.int64]:
    """Read a label map that `write_labels`, or another program, wrote.

    One of more pixels than images may have is refused without `allow_huge`.
    """
    kind, content = labels_format(path), io.BytesIO(read_file(path))
    try:
        labels = np.asarray(_read(kind, content, str(path), allow_huge))
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:  # readers raise whatever a broken file makes them
        raise InvalidInputError(f"{path}: not a label map that can be read") from error
    if labels.dtype == bool:
        labels = labels.astype(np.uint8)
    if labels.ndim != 2 or not np.issubdtype(labels.dtype, np.integer):
        raise InvalidInputError(
            f"{path}: a label map holds one integer a pixel, but this is of shape "
            f"{labels.shape} and {labels.dtype}"
        )
    if labels.size == 0 or labels.min() < 0 or labels.max() > MAX_LABEL:
        raise InvalidInputError(f"{path}: a label map holds numbers from 0 to {MAX_LABEL}")
    return np.asarray(labels, dtype=np.int64)


def _read(kind: LabelsFormat, content: io.BytesIO, name: str, allow_huge: bool) -> NDArray[Any]:
    if kind == "npy":
        labels = parse_npy(content.getvalue())
        check_size((labels.size, 1), name, allow_huge)
        return labels
    if kind == "tif":
        with open_tiff(content) as tiff:
            series = tiff.series[0]
            check_sheet(series, (math.prod(series.shape[1:]), series.shape[0]), name, allow_huge)
            return np.asarray(series.asarray())
    with quiet_pillow(), open_picture(content) as image:
        check_size(image.size, name, allow_huge)
        return np.asarray(image)  # of a palette image, the indices


def labels_format(path: Path) -> LabelsFormat:
    """Tell the format of a label map from its name."""
    formats: dict[str, LabelsFormat] = {
        ".png": "png", ".tif": "tif", ".tiff": "tif", ".npy": "npy",
    }  # fmt: skip
    if path.suffix.lower() not in formats:
        raise InvalidInputError(f"{path}: a label map must end in .png, .tif or .npy")
    return formats[path.suffix.lower()]
