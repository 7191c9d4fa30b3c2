"""Files that pfeseg writes, and reads again: label maps, reports and the results of stages.

None is ever left half written.
"""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from itertools import count
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.reading import quiet_pillow

LabelsFormat = Literal["png", "tif", "npy"]

FORMAT_VERSION = 1

_counter = count()

MAX_LABEL = 2**62

STAGES = {
    "image": "pfeseg downsample",
    "graph": "pfeseg graph",
    "init": "pfeseg init",
    "embedding": "pfeseg embed",
}
"""Kinds of stage files, and the command that makes each."""

STAGE_ARRAYS = {
    "image": ("image", "texture", "size", "full_size"),
    "graph": ("n_nodes", "edges", "weights", "size", "full_size"),
    "init": ("Y0", "size", "full_size"),
    "embedding": ("Y", "degrees", "size", "full_size"),
}
"""What a file of each kind must hold."""


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


def write_labels(path: Path, labels: NDArray[np.integer[Any]]) -> None:
    """Write a label map in the format that the ending of `path` names.

    .png holds up to 65,536 labels in 16 bits, .tif and .npy any number in 32.
    """
    kind = labels_format(path)
    if kind == "png":
        if labels.max() > 65535:
            raise InvalidInputError(
                f"{path}: {labels.max() + 1} labels are more than a 16-bit PNG holds (65536); "
                "write them as tif or npy"
            )
        write_png(path, labels.astype(np.uint16))
    elif kind == "tif":
        import tifffile

        with replacing(path) as temporary:
            tifffile.imwrite(temporary, labels.astype(np.uint32), compression="zlib")
    else:
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, labels.astype(np.int32))


def read_labels(path: Path) -> NDArray[np.int64]:
    """Read a label map that `write_labels`, or another program, wrote."""
    kind = labels_format(path)
    try:
        if kind == "npy":
            labels = np.load(path, allow_pickle=False)
        elif kind == "tif":
            import tifffile

            labels = tifffile.imread(path)
        else:
            with quiet_pillow() as pillow, pillow.open(path) as image:
                labels = np.asarray(image)  # of a palette image, the indices
        labels = np.asarray(labels)
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path}: no such file") from error
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


def labels_format(path: Path) -> LabelsFormat:
    """Tell the format of a label map from its name."""
    formats: dict[str, LabelsFormat] = {
        ".png": "png", ".tif": "tif", ".tiff": "tif", ".npy": "npy",
    }  # fmt: skip
    if path.suffix.lower() not in formats:
        raise InvalidInputError(f"{path}: a label map must end in .png, .tif or .npy")
    return formats[path.suffix.lower()]


def write_stage(
    path: Path, kind: str, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write the result of a stage: its arrays, and the settings that made them."""
    from pfeseg import __version__

    header = {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "pfeseg_version": __version__,
        "settings": settings,
    }
    with replacing(path) as temporary, temporary.open("wb") as file:
        np.savez(file, pfeseg=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]


def read_stage(path: Path, kind: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `write_stage` wrote: its header and its arrays, of one kind or any."""
    wanted = f"a file made by '{STAGES[kind]}'" if kind else "a file made by pfeseg"
    try:
        with np.load(path, allow_pickle=False) as stored:
            arrays = dict(stored)
        header = json.loads(str(arrays.pop("pfeseg")))
        version, found = int(header["format_version"]), STAGES[header["kind"]]
        dict(header["settings"])
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path}: no such file") from error
    except Exception as error:  # zip, header and array errors are all the same to the user
        raise InvalidInputError(f"{path}: expected {wanted}; this is not one") from error
    if version > FORMAT_VERSION:
        raise InvalidInputError(
            f"{path}: its format {version} is newer than this pfeseg reads "
            f"({FORMAT_VERSION}); upgrade pfeseg"
        )
    if kind and header["kind"] != kind:
        raise InvalidInputError(f"{path}: expected {wanted}, found one made by '{found}'")
    missing = set(STAGE_ARRAYS[header["kind"]]) - set(arrays)
    if missing:
        raise InvalidInputError(f"{path}: damaged, as it lacks {', '.join(sorted(missing))}")
    return header, arrays
