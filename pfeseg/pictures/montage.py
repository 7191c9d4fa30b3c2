"""Several pictures on one sheet: the channels of an embedding, or many segmentations."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.image.arrays import ImageLike, as_raster
from pfeseg.image.resize import enlarge_labels, shrink
from pfeseg.pictures.overlay import OUTSIDE, draw_overlay

TILE_GAP = 4
"""White pixels between the tiles of a montage."""

SHEET_TILE = 240
"""Longer side of the tiles of a contact sheet."""

SHEET_FONT = 14


def draw_embedding(Y: ArrayLike, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw each channel of an embedding as a grey tile, from its least to its greatest value.

    Parameters
    ----------
    Y : (h * w, d) array
    shape : (h, w)

    Returns
    -------
    uint8 array
        Tiles in rows, about as many down as across.
    """
    channels = np.asarray(Y, dtype=np.float64).T
    low, high = channels.min(axis=1, keepdims=True), channels.max(axis=1, keepdims=True)
    span = np.where(high > low, high - low, 1.0)
    tiles = np.rint((channels - low) / span * 255).astype(np.uint8).reshape(-1, *shape)
    across = min(len(tiles), int(np.ceil(np.sqrt(len(tiles) * shape[0] / shape[1]))))
    down = -(-len(tiles) // across)
    height, width = shape[0] + TILE_GAP, shape[1] + TILE_GAP
    sheet = np.full((down * height - TILE_GAP, across * width - TILE_GAP), 255, dtype=np.uint8)
    for k, tile in enumerate(tiles):
        y, x = k // across * height, k % across * width
        sheet[y : y + shape[0], x : x + shape[1]] = tile
    return sheet


def draw_contact_sheet(
    image: ImageLike, tiles: Sequence[tuple[NDArray[np.integer[Any]], str]], marked: int
) -> NDArray[np.uint8]:
    """Draw an image and several segmentations of it side by side, each with its caption.

    Parameters
    ----------
    image : (h, w) or (h, w, 3) array
    tiles : sequence of (labels, caption)
        Label maps of the image, of any size; captions of one or more lines.
    marked : int
        Index of the tile that gets a frame.
    """
    from PIL import Image, ImageDraw, ImageFont

    raster = as_raster(image).picture()
    shrunk = shrink(raster, max(1.0, max(raster.shape) / SHEET_TILE))
    small = shrunk.rgb()
    shown = replace(as_raster(small), mask=shrunk.mask)
    height, width = small.shape[:2]
    picture = np.asarray(np.rint(small * 255), dtype=np.uint8)
    if shrunk.mask is not None:
        picture[~shrunk.mask] = OUTSIDE
    pictures = [picture]
    pictures += [
        draw_overlay(shown, enlarge_labels(labels, (height, width))) for labels, _ in tiles
    ]
    captions = ["image", *(caption for _, caption in tiles)]
    font = ImageFont.load_default(SHEET_FONT)
    lines = [line for caption in captions for line in caption.splitlines()]
    n_lines = max(len(caption.splitlines()) for caption in captions)
    cell_width = max(width, *(int(font.getlength(line)) for line in lines)) + 3 * TILE_GAP
    cell_height = height + int((0.5 + 1.3 * n_lines) * SHEET_FONT) + TILE_GAP
    across = max(1, round(np.sqrt(len(pictures) * 1.5 * cell_height / cell_width)))
    down = -(-len(pictures) // across)
    sheet = Image.new("RGB", (across * cell_width, down * cell_height + TILE_GAP), "white")
    pen = ImageDraw.Draw(sheet)
    for k, (picture, caption) in enumerate(zip(pictures, captions, strict=True)):
        x, y = k % across * cell_width + TILE_GAP, k // across * cell_height + TILE_GAP
        if k == marked + 1:
            frame = (x - 3, y - 3, x + width + 2, y + height + 2)
            pen.rectangle(frame, outline="red", width=3)
        sheet.paste(Image.fromarray(picture), (x, y))
        pen.text((x, y + height + TILE_GAP), caption, fill="black", font=font)
    return np.asarray(sheet)
