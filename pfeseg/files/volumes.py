"""Volumes on disk: stacks of TIFF pages, ImageJ's and OME's Z axes, and arrays of NumPy's."""

from __future__ import annotations

import io
import re
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.deep import colours_of
from pfeseg.files.pages import AXES_OF_A_PAGE
from pfeseg.files.quiet import no_log_lines
from pfeseg.files.reading import MAX_PIXELS, NPY_SIGNATURE, content_of
from pfeseg.files.tiff import SIGNATURES, page_sheets
from pfeseg.files.writing import replacing

Spacing = tuple[float, float, float]

MOST_SHORT_LABELS = 65536
"""Label volumes of more are stacks of 32 bits, which ImageJ does not read as numbers."""


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
    try:
        with no_log_lines():
            if start == NPY_SIGNATURE:
                array = np.asarray(np.load(content, allow_pickle=False))
            elif start[:4] in SIGNATURES:
                array, spacing = _read_stack(content, name)
            else:
                raise InvalidInputError(
                    f"{name}: a volume must be a TIFF file of several pages or an array (.npy)"
                )
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:  # readers raise whatever a broken file makes them
        raise InvalidInputError(f"{name}: a damaged or unsupported volume ({error})") from error
    if array.ndim not in (3, 4):
        raise InvalidInputError(
            f"{name}: a volume must have shape (slices, height, width) or (slices, height, width, "
            f"bands), got {array.shape}"
        )
    if int(np.prod(array.shape[:3])) > MAX_PIXELS and not allow_huge:
        raise InvalidInputError(
            f"{name}: {' x '.join(map(str, array.shape[2::-1]))} voxels are more than "
            f"{MAX_PIXELS // 10**6} million; use {argument('allow_huge', True)} if that is right"
        )
    return array, spacing


def _read_stack(content: io.BytesIO, name: str) -> tuple[NDArray[Any], Spacing | None]:
    import tifffile

    content.seek(0)
    with tifffile.TiffFile(content) as tiff:
        if tiff.is_imagej or tiff.is_ome:
            return _read_axes(tiff.series[0], name), _told_spacing(tiff)
        sheets: list[Any] = [tiff.pages[index] for index in page_sheets(tiff)]
        if len(sheets) < 2:
            raise InvalidInputError(
                f"{name}: has {len(sheets)} page(s), and a volume has several; images are taken "
                f"without {argument('volume', True)}"
            )
        slices = [colours_of(content, sheet, name) for sheet in sheets]
        if len({(one.shape, one.dtype) for one in slices}) > 1:
            raise InvalidInputError(f"{name}: its pages differ in size or type; a volume's do not")
        return np.stack(slices), None


def _read_axes(series: Any, name: str) -> NDArray[Any]:
    """Bring the axes of a microscope's image to slices, rows, columns and channels."""
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
        with replacing(path) as temporary, temporary.open("wb") as file:
            np.save(file, labels)
        return
    import tifffile

    z, y, x = spacing
    with replacing(path) as temporary:
        told: dict[str, Any] = {"photometric": "minisblack"}
        told["metadata"] = {"axes": "ZYX", "spacing": z}
        if labels.max() < MOST_SHORT_LABELS:
            short = labels.astype(np.uint16)
            tifffile.imwrite(temporary, short, imagej=True, resolution=(1 / x, 1 / y), **told)
        else:
            tifffile.imwrite(temporary, labels.astype(np.uint32), compression="zlib", **told)
