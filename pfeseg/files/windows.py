"""Images of which only parts are in memory: files that are read by windows.

TIFF files of plain pixels and NumPy's are read where a window touches them. All other formats,
and TIFF files of which tifffile decodes no parts, are read whole once and laid into a file of
NumPy's beside the results.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.deep import ALPHA_SAMPLES, PREMULTIPLIED, composite
from pfeseg.files.masking import (
    ALPHA,
    find_mask,
    is_nodata,
    no_alpha,
    parse_nodata,
    read_mask_image,
    refuse_other_size,
)
from pfeseg.files.opening import open_file, open_tiff
from pfeseg.files.reading import NPY_SIGNATURE, read_image, reason
from pfeseg.files.tiff import SIGNATURES, find_mask_sheet, find_sheet, turn_of
from pfeseg.image.arrays import Raster
from pfeseg.image.options import choose_bands
from pfeseg.image.tiling import Window

LARGEST_SEGMENT = 1 << 24
"""Pixels of a strip or tile of a TIFF file; files of larger ones are not decoded in parts."""

GREY, RGB = 1, 2
"""Photometric interpretations of plain pixels."""


@dataclass(frozen=True)
class Plane:
    """One array in a file, of which windows are read; nothing stays open between them.

    Attributes
    ----------
    path : Path
    page : int or None
        Of a TIFF file; None for a file of NumPy's.
    shape : (H, W, c)
    alpha : bool
        Whether the last band is transparency.
    """

    path: Path
    page: int | None
    shape: tuple[int, int, int]
    alpha: bool = False

    def read(self, window: Window) -> NDArray[Any]:
        """Read a window, (h, w, c)."""
        try:
            if self.page is None:
                stored = np.load(self.path, mmap_mode="r", allow_pickle=False)
                part = np.array(stored[window])
            else:
                part = _read_page(self.path, self.page, window)
        except MemoryError:
            raise
        except Exception as error:  # decoders raise whatever a broken file makes them
            raise InvalidInputError(reason(error)) from error
        return part.reshape(part.shape[0], part.shape[1], -1)


@dataclass(frozen=True)
class WindowedImage:
    """An image of which windows are read, with its mask; small, so that processes can share it.

    Attributes
    ----------
    pixels : Plane
    masks : tuple of Plane
        Zero outside.
    nodata : tuple of float
    by_alpha : bool
        Whether what is transparent is outside.
    """

    pixels: Plane
    masks: tuple[Plane, ...] = ()
    nodata: tuple[float, ...] = ()
    by_alpha: bool = False

    @property
    def shape(self) -> tuple[int, int]:
        """Height and width."""
        return self.pixels.shape[:2]

    def read(self, window: Window, bands: str) -> tuple[NDArray[Any], NDArray[np.bool_] | None]:
        """Read all bands of a window, and which of its pixels belong to the image if not all do.

        `bands` are those that are used: where these are no data, pixels are outside.
        """
        array = self.pixels.read(window)
        inside = np.ones(array.shape[:2], dtype=bool)
        if self.by_alpha:
            inside &= array[..., -1] != 0
        if self.pixels.alpha:
            array = composite(array[..., :-1], array[..., -1])
        for mask in self.masks:
            inside &= (mask.read(window) != 0).any(axis=2)
        if self.nodata:
            used = np.array(choose_bands(bands, array.shape[2])) - 1
            inside &= ~is_nodata(array[..., used], self.nodata)
        return array, None if inside.all() else inside

    def raster(self, window: Window, model: Raster) -> Raster | None:
        """Read a window as an image like another part of it; None if all lies outside."""
        array, inside = self.read(window, model.choice)
        if inside is not None and not inside.any():
            return None
        return model.like(array, inside)


def open_windows(
    path: Path,
    scratch: Path,
    *,
    page: int = 0,
    allow_huge: bool = False,
    mask: str | None = None,
    nodata: tuple[float, ...] = (),
    bands: str = "auto",
) -> WindowedImage:
    """Prepare a file to be read by windows.

    Parameters
    ----------
    path : Path
    scratch : Path
        Folder for what can only be read whole, which must stay as long as windows are read.
    page, allow_huge, mask, nodata
        As for `read_raster`. Files that are read by windows may have any size.
    bands : str
        Which are used.
    """
    name = str(path)
    try:
        found = _find_plane(path, page)
    except (InvalidInputError, OSError):
        found = None  # told by what reads whole files
    if found is None:
        return _open_whole(path, scratch, page, allow_huge, mask, nodata, bands)
    pixels, masks = found, list[Plane]()
    stored = list[float]()
    if pixels.page is not None:
        own, stored = _told_by_tiff(path, page)
        masks += [own] if own is not None and own.shape[:2] == pixels.shape[:2] else []
    if mask is not None and mask != ALPHA:
        beside = _open_mask(name, pixels.shape, mask, scratch)
        refuse_other_size(name, pixels.shape, mask, beside.shape)
        masks.append(beside)
    if mask == ALPHA and not pixels.alpha:
        raise no_alpha(name)
    return WindowedImage(pixels, tuple(masks), (*nodata, *stored), mask == ALPHA)


def _find_plane(path: Path, page: int) -> Plane | None:
    """Find the pixels of a file of which parts can be decoded; None if they cannot."""
    with open_file(path) as file:
        start = file.read(8)
    if start.startswith(NPY_SIGNATURE) and not page:
        stored = np.load(path, mmap_mode="r", allow_pickle=False)
        if stored.ndim not in (2, 3) or not stored.size or stored.dtype.kind not in "buif":
            return None
        return Plane(path, None, (*stored.shape, 1)[:3])
    if start[:4] not in SIGNATURES:
        return None
    with open_tiff(path) as tiff:
        if tiff.is_imagej or tiff.is_ome:
            return None
        index = find_sheet(tiff, page, str(path))
        sheet: Any = tiff.pages[index]
        if not _is_plain(sheet) or not _decodes(tiff, sheet):
            return None
        transparent = bool(sheet.extrasamples) and sheet.extrasamples[-1] in ALPHA_SAMPLES
        samples = int(sheet.samplesperpixel)
        shape = (int(sheet.imagelength), int(sheet.imagewidth), samples)
        return Plane(path, index, shape, transparent)


def _is_plain(sheet: Any) -> bool:
    """Tell whether the pixels of a page are to be taken as they are."""
    return (
        sheet.photometric in (GREY, RGB)
        and turn_of(sheet) == 1
        and PREMULTIPLIED not in sheet.extrasamples
        and not set(sheet.extrasamples[:-1]) & set(ALPHA_SAMPLES)
        and sheet.bitspersample in (8, 16, 32, 64)
        and sheet.dtype is not None
        and sheet.imagedepth == 1
        and bool(sheet.is_memmappable or sheet.chunks[0] * sheet.chunks[1] <= LARGEST_SEGMENT)
    )


def _decodes(tiff: Any, sheet: Any) -> bool:
    """Tell whether the first segment of a page can be decoded with the packages that are there."""
    try:
        _decode(tiff, sheet, [0])
    except Exception:  # whatever a decoder that is not there makes it
        return False
    return True


def _decode(tiff: Any, sheet: Any, indices: list[int]) -> list[tuple[Any, Any, Any]]:
    """Decode segments of a page: pixels or None, where they begin, and their shape."""
    told = {"jpegtables": sheet.jpegtables, "jpegheader": sheet.jpegheader}
    segments = tiff.filehandle.read_segments(
        [sheet.dataoffsets[index] for index in indices],
        [sheet.databytecounts[index] for index in indices],
    )
    return [sheet.decode(data, indices[place], **told) for data, place in segments]


def _read_page(path: Path, page: int, window: Window) -> NDArray[Any]:
    """Decode the segments of a TIFF page that a window touches, (h, w, c)."""
    import tifffile

    with open_tiff(path) as tiff:
        sheet: Any = tiff.pages[page]
        rows, columns = window
        apart = sheet.planarconfig == 2 and sheet.samplesperpixel > 1
        if sheet.is_memmappable:
            stored = tifffile.memmap(path, page=page, mode="r")
            if apart:
                return np.moveaxis(np.array(stored[:, rows, columns]), 0, 2)
            return np.array(stored[rows, columns])
        height, width = rows.stop - rows.start, columns.stop - columns.start
        samples = int(sheet.samplesperpixel)
        part = np.full((height, width, samples), sheet.nodata, dtype=sheet.dtype)
        deep, wide = sheet.chunks[:2]
        down, across = -(-sheet.imagelength // deep), -(-sheet.imagewidth // wide)
        touched = [
            (layer * down + y) * across + x
            for layer in range(samples if apart else 1)
            for y in range(rows.start // deep, -(-rows.stop // deep))
            for x in range(columns.start // wide, -(-columns.stop // wide))
        ]
        for index in touched:  # one by one, so that no more than that is in memory
            ((pixels, (layer, _, y, x, _), _),) = _decode(tiff, sheet, [index])
            if pixels is None:
                continue
            pixels = pixels[0]
            top, left = max(y, rows.start), max(x, columns.start)
            end = min(y + pixels.shape[0], rows.stop), min(x + pixels.shape[1], columns.stop)
            bands = slice(layer, layer + 1) if apart else slice(None)
            part[
                top - rows.start : end[0] - rows.start,
                left - columns.start : end[1] - columns.start,
                bands,
            ] = pixels[top - y : end[0] - y, left - x : end[1] - x]
        return part


def _told_by_tiff(path: Path, page: int) -> tuple[Plane | None, list[float]]:
    """Return the mask that a TIFF file has of a page, and what it calls no data."""
    with open_tiff(path) as tiff:
        index = find_sheet(tiff, page, str(path))
        stored = parse_nodata(tiff.pages[index])
        mask = find_mask_sheet(tiff, index)
        if mask is None:
            return None, stored
        return Plane(path, mask.index, (int(mask.imagelength), int(mask.imagewidth), 1)), stored


def _open_mask(name: str, shape: tuple[int, ...], mask: str, scratch: Path) -> Plane:
    """Prepare the image of a mask to be read by windows."""
    found = _find_plane(Path(mask), 0) if Path(mask).is_file() else None
    return found or _store(read_mask_image(name, shape, mask), scratch, "mask")


def _open_whole(
    path: Path,
    scratch: Path,
    page: int,
    allow_huge: bool,
    mask: str | None,
    nodata: tuple[float, ...],
    bands: str,
) -> WindowedImage:
    """Read a file and its mask whole, and lay them where windows can be read."""
    name = str(path)
    array = read_image(path, page=page, allow_huge=allow_huge)
    layers = array if array.ndim == 3 else array[..., None]
    used = layers[..., np.array(choose_bands(bands, layers.shape[2])) - 1]
    inside = find_mask(path, used, mask=mask, nodata=nodata, page=page, name=name)
    masks = () if inside is None else (_store(inside, scratch, "mask"),)
    return WindowedImage(_store(array, scratch, "pixels"), masks)


def _store(array: NDArray[Any], scratch: Path, name: str) -> Plane:
    path = scratch / f"{name}.npy"
    np.save(path, array)
    return Plane(path, None, (*array.shape, 1)[:3])
