"""Volumes on disk: stacks of TIFF pages, ImageJ's and OME's Z axes, and arrays of NumPy's."""

from __future__ import annotations

import io
import math
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files import opening
from pfeseg.files.deep import colours_of
from pfeseg.files.opening import open_tiff, parse_npy, telling_damage
from pfeseg.files.pages import AXES_OF_A_PAGE
from pfeseg.files.quiet import no_log_lines
from pfeseg.files.reading import NPY_SIGNATURE, content_of
from pfeseg.files.replacing import replacing
from pfeseg.files.tiff import SIGNATURES, page_sheets

Spacing = tuple[float, float, float]

MOST_SHORT_LABELS = 65536
"""Label volumes of more are stacks of 32 bits, which ImageJ does not read as numbers."""

MOST_PARTS = 2**32 - 1
"""TIFF files tell a resolution by two numbers of 32 bits; a spacing beyond these is left out."""


def read_volume(
    source: Path | bytes, *, allow_huge: bool = False, name: str
) -> tuple[NDArray[Any], Spacing | None]:
    """Read a volume, (Z, Y, X) or (Z, Y, X, c), and the spacing of its voxels if it is told.

    Parameters
    ----------
    source : Path or bytes
    allow_huge : bool
        Read volumes of more than `MAX_PIXELS` voxels too.
    name : str
        What to call the source in error messages.
    """
    content = content_of(source, name)
    start = content.getvalue()[: len(NPY_SIGNATURE)]
    spacing = None
    with telling_damage(name, "a damaged or unsupported volume"), no_log_lines():
        if start == NPY_SIGNATURE:
            array = parse_npy(content.getvalue())
            _check_voxels(array.shape[:3], name, allow_huge)
        elif start[:4] in SIGNATURES:
            array, spacing = _read_stack(content, name, allow_huge)
        else:
            raise InvalidInputError(
                f"{name}: a volume must be a TIFF file of several pages or an array (.npy)"
            )
    if array.ndim not in (3, 4):
        raise InvalidInputError(
            f"{name}: a volume must have shape (slices, height, width) or (slices, height, width, "
            f"bands), got {array.shape}"
        )
    return array, spacing


def _check_voxels(
    shape: Sequence[int], name: str, allow_huge: bool, voxel_bytes: float = 1
) -> None:
    """Refuse a volume, (Z, Y, X), that would take unreasonable memory, as `check_size` images."""
    if allow_huge:
        return
    what = f"{name}: {' x '.join(map(str, shape[::-1]))} voxels"
    limit = f"use {argument('allow_huge', True)} if that is right"
    if math.prod(shape) > opening.MAX_PIXELS:
        raise InvalidInputError(
            f"{what} are more than {opening.MAX_PIXELS // 10**6} million; {limit}"
        )
    if math.prod(shape) * voxel_bytes > opening.MAX_BYTES:
        raise InvalidInputError(
            f"{what} of {voxel_bytes:.0f} bytes are more than {opening.MAX_BYTES / 1e9:.1f} GB; "
            f"{limit}"
        )


def _read_stack(
    content: io.BytesIO, name: str, allow_huge: bool
) -> tuple[NDArray[Any], Spacing | None]:
    content.seek(0)
    with open_tiff(content) as tiff:
        if tiff.is_imagej or tiff.is_ome:
            return _read_axes(tiff.series[0], name, allow_huge), _told_spacing(tiff)
        sheets: list[Any] = [tiff.pages[index] for index in page_sheets(tiff)]
        if len(sheets) < 2:
            raise InvalidInputError(
                f"{name}: has {len(sheets)} page(s), and a volume has several; for an image, "
                f"leave out {argument('volume', True)}"
            )
        largest = max(sheets, key=_bytes_of)
        shape = (len(sheets), largest.imagelength, largest.imagewidth)
        _check_voxels(shape, name, allow_huge, _bytes_of(largest) / max(1, shape[1] * shape[2]))
        slices = [colours_of(content, sheet, name) for sheet in sheets]
        if len({(one.shape, one.dtype) for one in slices}) > 1:
            raise InvalidInputError(f"{name}: its pages differ in size or type; a volume's do not")
        return np.stack(slices), None


def _bytes_of(sheet: Any) -> int:
    """Return how many bytes the pixels of a page, or of a series of pages, take."""
    item = sheet.dtype.itemsize if sheet.dtype is not None else 8
    return int(math.prod(sheet.shape) * item)


def _read_axes(series: Any, name: str, allow_huge: bool) -> NDArray[Any]:
    """Bring the axes of a microscope's image to slices, rows, columns and channels."""
    sides = dict(zip(series.axes, series.shape, strict=True))
    slices = math.prod(n for axis, n in sides.items() if axis not in AXES_OF_A_PAGE)
    shape = (slices, sides.get("Y", 1), sides.get("X", 1))
    _check_voxels(shape, name, allow_huge, _bytes_of(series) / max(1, math.prod(shape)))
    axes, array = series.axes, np.asarray(series.asarray())
    pages = [k for k, axis in enumerate(axes) if axis not in AXES_OF_A_PAGE and array.shape[k] > 1]
    if len(pages) != 1:
        told = ", ".join(f"{axis} = {n}" for axis, n in zip(axes, array.shape, strict=True))
        raise InvalidInputError(
            f"{name}: a volume has one axis of slices beside Y, X and channels, not {told}"
        )
    channels = [k for k, axis in enumerate(axes) if axis in "CS"]
    single = [k for k in range(len(axes)) if k not in pages + channels and axes[k] not in "YX"]
    array = array.transpose(*single, *pages, axes.index("Y"), axes.index("X"), *channels)
    array = array.reshape(array.shape[len(single) :])
    return array.reshape(*array.shape[:3], -1) if channels else array


def _told_spacing(tiff: Any) -> Spacing | None:
    """Return the spacing that a file of ImageJ's or an OME file tells, or None."""
    if tiff.is_ome:
        text = tiff.ome_metadata or ""
        found = [re.search(rf'PhysicalSize{axis}="([0-9.eE+-]+)"', text) for axis in "ZYX"]
        steps = [float(one[1]) for one in found if one]
    else:
        tags, told = tiff.pages[0].tags, tiff.imagej_metadata or {}
        resolutions = [tags.valueof(f"{axis}Resolution", (0, 1)) for axis in "YX"]
        steps = [float(told["spacing"])] if "spacing" in told else []
        steps += [parts / count for count, parts in resolutions if count]
    if len(steps) != 3 or not all(step > 0 for step in steps):
        return None
    return steps[0], steps[1], steps[2]


def write_label_volume(path: Path, labels: NDArray[np.int32], spacing: Spacing) -> None:
    """Write labels, (Z, Y, X), as a TIFF stack that ImageJ reads, or as .npy.

    A stack has 16 bits with the spacing, or 32 where there are more labels than that.
    """
    if path.suffix == ".npy":
        with replacing(path) as file:
            np.save(file, labels)
        return
    import tifffile

    z, y, x = spacing
    with replacing(path) as file:
        told: dict[str, Any] = {"photometric": "minisblack", "metadata": {"axes": "ZYX"}}
        if all(1 / MOST_PARTS <= step <= MOST_PARTS for step in (x, y)):
            told["resolution"] = (1 / x, 1 / y)
            told["metadata"]["spacing"] = z
        if labels.max() < MOST_SHORT_LABELS:
            tifffile.imwrite(file, labels.astype(np.uint16), imagej=True, **told)
        else:
            told.pop("resolution", None)
            tifffile.imwrite(file, labels.astype(np.uint32), compression="zlib", **told)
