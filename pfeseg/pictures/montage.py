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

GROUND = (228, 228, 228)
"""Behind the channels of an embedding, on which white is seen."""

BELOW_ZERO, ABOVE_ZERO = (24, 92, 168), (196, 84, 12)
"""Colours of an embedding's least and greatest values."""


def draw_embedding(Y: ArrayLike, shape: tuple[int, int]) -> NDArray[np.uint8]:
    """Draw each channel of an embedding as a tile: white at zero, blue below, orange above.

    The strongest colour stands for the value farthest from zero. Tiles of few pixels are enlarged
    by a whole factor, and numbered.

    Parameters
    ----------
    Y : (h * w, d) array
    shape : (h, w)

    Returns
    -------
    (H, W, 3) uint8 array
        Tiles in rows, about as many down as across.
    """
    from PIL import Image, ImageDraw, ImageFont

    channels = np.asarray(Y, dtype=np.float64).T
    factor = max(1, round(SHEET_TILE / max(shape)))
    height, width = shape[0] * factor, shape[1] * factor
    font = ImageFont.load_default(SHEET_FONT)
    widest = int(font.getlength(f"channel {len(channels)}")) + 1
    cell_height = height + SHEET_FONT + 3 * TILE_GAP
    cell_width = max(width, widest) + TILE_GAP
    across = min(len(channels), int(np.ceil(np.sqrt(len(channels) * cell_height / cell_width))))
    down = -(-len(channels) // across)
    sheet = Image.new("RGB", (across * cell_width - TILE_GAP, down * cell_height), GROUND)
    pen = ImageDraw.Draw(sheet)
    for k, channel in enumerate(channels):
        x, y = k % across * cell_width, k // across * cell_height
        tile = colour_around_zero(channel.reshape(shape))
        sheet.paste(Image.fromarray(tile.repeat(factor, axis=0).repeat(factor, axis=1)), (x, y))
        pen.text((x, y + height + TILE_GAP), f"channel {k + 1}", fill="black", font=font)
    return np.asarray(sheet)


def colour_around_zero(values: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Colour values white at zero, blue below and orange above, (..., 3)."""
    largest = np.abs(values).max(initial=0.0) or 1.0
    share = (values / largest)[..., None]
    ends = np.where(share < 0, BELOW_ZERO, ABOVE_ZERO)
    return np.asarray(np.rint(255 + np.abs(share) * (ends - 255.0)), dtype=np.uint8)


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
