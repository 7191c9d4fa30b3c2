"""Label maps on disk."""

from __future__ import annotations

import io
import math
import warnings
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.checks import check_kind, check_path, check_threads, small_labels
from pfeseg.errors import ImageWarning, InvalidInputError, argument
from pfeseg.files.beside import beside_labels, style_of
from pfeseg.files.opening import (
    check_sheet,
    check_size,
    open_picture,
    open_tiff,
    parse_npy,
    read_file,
)
from pfeseg.files.png import encode_png
from pfeseg.files.quiet import quiet_pillow
from pfeseg.files.replacing import replacing_group
from pfeseg.image.arrays import Raster
from pfeseg.image.georeference import Georeference

LabelsFormat = Literal["png", "tif", "npy"]

BLOCK = 256
"""Side of the tiles in which large label maps are written."""

MAX_LABEL = 2**62


def write_labels(
    path: Path | str,
    labels: ArrayLike,
    threads: int | None = None,
    image: Raster | None = None,
) -> None:
    """Write a label map in the format that the ending of `path` names, whole or not at all.

    Parameters
    ----------
    path : Path or str
        .png holds up to 65,536 labels in 16 bits, .tif and .npy any number in 32. What is there
        is replaced, with what lies beside it.
    labels : (h, w) integer array
    threads : int, optional
        All processors unless given; never changes the file.
    image : Raster, optional
        What the labels belong to, as `read_raster` made it. If it is georeferenced, so is the
        label map, with a style for QGIS beside it, and .tif has 16 bits if these are enough.

    Raises
    ------
    InvalidInputError
        For anything that is not a label map, for another ending, and for labels that the format
        cannot hold.
    OSError
        If the file cannot be written.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> import imageio.v3 as iio
    >>> import pfeseg
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder) / "labels.png"
    ...     pfeseg.write_labels(path, [[0, 1], [2, 300]])
    ...     print(iio.imread(path).tolist())
    [[0, 1], [2, 300]]
    """
    path, threads = check_path("path", path), check_threads(threads)
    kind, labels = labels_format(path), small_labels(labels)
    if image is not None:
        check_kind("image", image, Raster)
    if kind == "png" and labels.max() > 65535:
        raise InvalidInputError(
            f"{path}: {labels.max() + 1} labels are more than a 16-bit PNG holds (65536); "
            "write them as tif or npy"
        )
    place = image.georeference if image is not None else None
    with replacing_group(path, beside_labels(path)) as folder:
        new = folder / path.name
        if place is not None:
            _write_place(new, labels, place, image is not None and image.mask is not None)
        if kind == "png":
            with new.open("wb") as file:
                file.writelines(encode_png(labels.astype(np.uint16), threads))
        elif kind == "npy":
            with new.open("wb") as file:
                np.save(file, labels.astype(np.int32, copy=False))
        elif place is None:
            import tifffile

            tifffile.imwrite(new, labels.astype(np.uint32), compression="zlib")


def _write_place(
    path: Path, labels: NDArray[np.integer[Any]], place: Georeference, has_outside: bool
) -> None:
    """Write what tells where a label map lies: a GeoTIFF itself, what is beside of others."""
    from pfeseg.files.geotiff import write_auxiliary, write_geotiff
    from pfeseg.files.style import qgis_style

    kind = labels_format(path)
    if kind == "npy":
        _warn_of_lost_place()
        return
    if kind == "tif":
        write_geotiff(path, labels, place, has_outside)
    else:
        write_auxiliary(path, place)
    style_of(path).write_text(qgis_style(labels, int(has_outside)), encoding="utf-8")


def _warn_of_lost_place() -> None:
    warnings.warn(
        f"a NumPy file cannot hold a place on earth; {argument('labels_format', 'tif')} does",
        ImageWarning,
        stacklevel=4,
    )


def write_label_blocks(
    path: Path,
    shape: tuple[int, int],
    blocks: Iterable[NDArray[np.uint32]],
    largest: int,
    image: Raster,
) -> None:
    """Write a label map, .tif or .npy, of which never more than a block is in memory.

    Parameters
    ----------
    path : Path
    shape : (H, W)
    blocks : iterable of (`BLOCK`, W) array
        From top to bottom; the last may have fewer rows.
    largest : int
        The largest label.
    image : Raster
        A part of what the labels belong to, with the place of the whole.
    """
    place, has_outside = image.georeference, image.mask is not None
    with replacing_group(path, beside_labels(path)) as folder:
        new = folder / path.name
        if labels_format(path) == "npy":
            if place is not None:
                _warn_of_lost_place()
            with new.open("wb") as file:
                header = {"descr": "<i4", "fortran_order": False, "shape": shape}
                np.lib.format.write_array_header_1_0(file, header)
                for block in blocks:
                    block.astype("<i4").tofile(file)
        elif place is not None:
            from pfeseg.files.geotiff import write_geotiff_blocks

            write_geotiff_blocks(new, shape, blocks, largest, place, has_outside)
        else:
            _write_tiff_blocks(new, shape, blocks)


def _write_tiff_blocks(
    path: Path, shape: tuple[int, int], blocks: Iterable[NDArray[np.uint32]]
) -> None:
    import tifffile

    tiles = (
        block[:, left : left + BLOCK] for block in blocks for left in range(0, shape[1], BLOCK)
    )
    tifffile.imwrite(
        path,
        tiles,
        shape=shape,
        dtype=np.uint32,
        tile=(BLOCK, BLOCK),
        compression="zlib",
        bigtiff=4 * shape[0] * shape[1] >= 2**32,
    )


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
            f"{path}: a label map holds one integer per pixel, but this has shape "
            f"{labels.shape} and type {labels.dtype}"
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
