"""Pictures for people: label maps drawn over their image, by array operations."""

from __future__ import annotations

import colorsys
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.image import as_rgb, downsample, enlarge_labels

TINT = 0.45
"""Share of the region's colour in an overlay; the rest is the image."""

BOUNDARY = (1.0, 1.0, 1.0)

TILE_GAP = 4
"""White pixels between the tiles of a montage."""

SHEET_TILE = 240
"""Longer side of the tiles of a contact sheet."""

SHEET_FONT = 14

_GOLDEN_RATIO = (5**0.5 - 1) / 2


def draw_overlay(image: ArrayLike, labels: ArrayLike) -> NDArray[np.uint8]:
    """Tint each region of an image with a colour of its own and draw the boundaries.

    Touching regions never share a colour, and a label keeps its colour from
    picture to picture unless that would break this.

    Parameters
    ----------
    image : (h, w) or (h, w, 3) array
    labels : (h, w) integer array
        Of any values.

    Returns
    -------
    (h, w, 3) uint8 array
    """
    rgb, regions = as_rgb(image), np.asarray(labels)
    if regions.dtype == bool:
        regions = regions.astype(np.uint8)
    if not np.issubdtype(regions.dtype, np.integer):
        raise InvalidInputError(f"labels must be integers, got {regions.dtype}")
    if regions.shape != rgb.shape[:2]:
        raise InvalidInputError(
            f"labels of shape {regions.shape} do not fit an image of shape {rgb.shape[:2]}"
        )
    names, compact = np.unique(regions, return_inverse=True)
    compact = compact.reshape(regions.shape)
    colours = region_colours(compact, names)
    picture = (1 - TINT) * rgb + TINT * colours[compact]
    picture[find_boundaries(regions)] = BOUNDARY
    return np.asarray(np.rint(picture * 255), dtype=np.uint8)


def draw_boundaries(labels: ArrayLike) -> NDArray[np.uint8]:
    """Draw the boundaries of a label map white on black, (h, w)."""
    return find_boundaries(np.asarray(labels)).astype(np.uint8) * np.uint8(255)


def draw_contour_map(ucm2: NDArray[np.floating[Any]]) -> NDArray[np.uint8]:
    """Draw an ultrametric contour map, (2 h + 1, 2 w + 1), the strongest black, (h, w).

    Weak contours are many and strong ones few, so darkness grows with the cube of the level.
    """
    sides = np.max([ucm2[1::2, 2::2], ucm2[2::2, 1::2], ucm2[2::2, 2::2]], axis=0)
    return np.asarray(np.rint(255 * (1 - (sides / (sides.max() or 1.0)) ** 3)), dtype=np.uint8)


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
    image: ArrayLike, tiles: Sequence[tuple[NDArray[np.integer[Any]], str]], marked: int
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

    rgb = as_rgb(image)
    small = downsample(rgb, max(1.0, max(rgb.shape[:2]) / SHEET_TILE))
    height, width = small.shape[:2]
    pictures = [np.asarray(np.rint(small * 255), dtype=np.uint8)]
    pictures += [
        draw_overlay(small, enlarge_labels(labels, (height, width))) for labels, _ in tiles
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


def find_boundaries(labels: NDArray[np.integer[Any]]) -> NDArray[np.bool_]:
    """Mark the pixels whose right or lower neighbour has another label, (h, w)."""
    marks = np.zeros(labels.shape, dtype=bool)
    marks[:, :-1] |= labels[:, :-1] != labels[:, 1:]
    marks[:-1] |= labels[:-1] != labels[1:]
    return marks


def region_colours(
    labels: NDArray[np.integer[Any]], names: NDArray[np.integer[Any]] | None = None
) -> NDArray[np.float64]:
    """Choose a colour for each label 0, 1, ..., different for those that touch, (labels, 3).

    A label has the colour of its name, which is its own number unless given, in an endless
    palette whose first colours are far apart; it takes a later one only if a touching,
    smaller label has that already.
    """
    n_labels = int(labels.max()) + 1
    preferred = np.arange(n_labels) if names is None else names
    earlier: list[list[int]] = [[] for _ in range(n_labels)]
    for small, large in touching_labels(labels):
        earlier[large].append(int(small))
    palette = _Palette()
    chosen: list[int] = []
    for label in range(n_labels):
        taken = {chosen[other] for other in earlier[label]}
        index = int(preferred[label]) % palette.SIZE
        while index in taken:
            index += 1
        chosen.append(index)
    return np.array([palette.colour(index) for index in chosen])


class _Palette:
    """Endless sequence of bright colours; the first SIZE are well apart."""

    SIZE = 24

    def colour(self, index: int) -> tuple[float, float, float]:
        hue = (0.02 + index * _GOLDEN_RATIO) % 1.0
        saturation, value = ((0.85, 1.0), (0.95, 0.7), (0.5, 1.0))[index // 8 % 3]
        return colorsys.hsv_to_rgb(hue, saturation, value)


def touching_labels(labels: NDArray[np.integer[Any]]) -> NDArray[np.int64]:
    """List the pairs of different labels, the smaller first, that meet at a side or corner."""
    n_labels = int(labels.max()) + 1
    neighbours = (
        (labels[:, :-1], labels[:, 1:]),
        (labels[:-1], labels[1:]),
        (labels[:-1, :-1], labels[1:, 1:]),
        (labels[:-1, 1:], labels[1:, :-1]),
    )
    keys = []
    for a, b in neighbours:
        differ = a != b
        small = np.minimum(a[differ], b[differ]).astype(np.int64)
        keys.append(np.unique(small * n_labels + np.maximum(a[differ], b[differ])))
    return np.stack(np.divmod(np.unique(np.concatenate(keys)), n_labels), axis=1)
