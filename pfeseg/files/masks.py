"""Single regions as pictures: a folder of masks, or of cutouts, numbered from 1 by their labels."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.files.png import encode_png
from pfeseg.files.replacing import replacing_folder
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.stretch import BLOCK_ROWS
from pfeseg.labels.maps import find_boxes
from pfeseg.machine import available_threads

Labels = NDArray[np.integer[Any]]
Box = tuple[slice, slice]
Parts = Iterator[bytes]


def write_masks(folder: Path, labels: Labels, threads: int | None = None, first: int = 0) -> None:
    """Write a mask of each region: 255 inside, 0 outside, 8 bits, of the size of the image.

    Only the rows of a region's box are drawn and compressed, so that thousands of regions take
    little more than their label map. `first` is the first label that counts.
    """
    height, width = labels.shape

    def encode(label: int, box: Box) -> Parts:
        rows, columns = box
        mask = np.zeros((rows.stop - rows.start, width), dtype=np.uint8)
        mask[:, columns] = _inside(labels, label, box)
        return encode_png(mask, 1, above=rows.start, below=height - rows.stop)

    _write_each(folder, labels, first, encode, threads)


def write_cutouts(
    folder: Path, image: ImageLike, labels: Labels, threads: int | None = None, first: int = 0
) -> None:
    """Write each region as a picture of its box, 8 bits, transparent where the region is not."""
    raster = as_raster(image).picture()

    def encode(label: int, box: Box) -> Parts:
        alpha = _inside(labels, label, box)[..., None]
        colours = np.where(alpha, _eight_bits(raster, box), np.uint8(0))
        return encode_png(np.concatenate([colours, alpha], axis=2), 1)

    _write_each(folder, labels, first, encode, threads)


def _write_each(
    folder: Path,
    labels: Labels,
    first: int,
    encode: Callable[[int, Box], Parts],
    threads: int | None,
) -> None:
    """Write a picture of each label that is there; `threads` never change the files."""
    boxes = find_boxes(labels)
    digits = max(4, len(str(len(boxes))))
    with replacing_folder(folder) as temporary:

        def write(label: int) -> None:
            box = boxes[label]
            if box is not None:
                with (temporary / f"{label + 1 - first:0{digits}}.png").open("wb") as file:
                    file.writelines(encode(label, box))

        with ThreadPoolExecutor(threads or available_threads()) as pool:
            for _ in pool.map(write, range(first, len(boxes))):
                pass


def _inside(labels: Labels, label: int, box: Box) -> NDArray[np.uint8]:
    return np.where(labels[box] == label, np.uint8(255), np.uint8(0))


def _eight_bits(raster: Raster, box: Box) -> NDArray[np.uint8]:
    """Return part of an image as it is shown, as (h, w, 3) bytes."""
    part = replace(raster, values=raster.values[box])
    if part.values.dtype == np.uint8 and (part.black, part.white) == (0, 255):
        return np.broadcast_to(part.values, (*part.shape, 3))
    picture = np.empty((*part.shape, 3), dtype=np.uint8)
    for first in range(0, len(picture), BLOCK_ROWS):
        rows = replace(part, values=part.values[first : first + BLOCK_ROWS])
        picture[first : first + BLOCK_ROWS] = np.rint(rows.rgb() * 255)
    return picture
