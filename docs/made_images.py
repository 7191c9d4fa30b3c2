"""Images that no camera took, drawn for the gallery: fields seen from above, and cells."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.ndimage import gaussian_filter
from scipy.spatial import cKDTree

SOILS = np.array(
    [[86, 120, 62], [142, 150, 82], [178, 160, 110], [110, 136, 76], [150, 120, 88], [66, 98, 58]]
)
"""Colours of fields, from meadow to ploughed earth."""

WATER, ROAD, ROOF = (52, 78, 96), (196, 190, 180), (158, 92, 76)


def draw_fields(height: int = 400, width: int = 600, seed: int = 4) -> NDArray[np.uint8]:
    """Draw fields with furrows, a river, a road and a village, (height, width, 3)."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width].astype(float)
    places = rng.uniform((-40, -40), (height + 40, width + 40), (26, 2))
    field = cKDTree(places).query(np.dstack([y, x]))[1]
    soil = SOILS[rng.integers(len(SOILS), size=len(places))] + rng.normal(0, 9, (len(places), 3))
    turn, pitch, depth = (rng.uniform(*span, len(places)) for span in ((0, 3), (0.4, 1), (2, 12)))
    furrows = depth[field] * np.sin(
        pitch[field] * (x * np.cos(turn[field]) + y * np.sin(turn[field]))
    )
    image = soil[field] + furrows[..., None]
    image[np.abs(y - 0.55 * x - 60 - 14 * np.sin(x / 30)) < 4] = ROAD
    middle = 0.62 * width + 55 * np.sin(y / 70) + 0.12 * y
    image[np.abs(x - middle) < 15 + 4 * np.sin(y / 40)] = WATER
    for row, column in rng.normal((95, 130), (32, 45), (34, 2)).astype(int).clip(8):
        size = rng.integers(4, 8, 2)
        image[row : row + size[0], column : column + size[1]] = ROOF + rng.normal(0, 12, 3)
    image = gaussian_filter(image, (0.7, 0.7, 0)) + rng.normal(0, 4, image.shape)
    return image.clip(0, 255).astype(np.uint8)


def draw_cells(height: int = 400, width: int = 600, seed: int = 1) -> NDArray[np.uint16]:
    """Draw glowing cells on a dark ground, (height, width), as a camera of 12 bits sees them."""
    rng = np.random.default_rng(seed)
    y, x = np.mgrid[:height, :width].astype(float)
    image = np.full((height, width), 160.0)
    spots: list[tuple[float, float]] = []
    while len(spots) < 45:
        row, column = rng.uniform((24, 24), (height - 24, width - 24))
        if all(np.hypot(row - r, column - c) > 48 for r, c in spots):
            spots.append((row, column))
    for row, column in spots:
        turn, long, wide = rng.uniform(0, np.pi), rng.uniform(17, 23), rng.uniform(11, 16)
        along = (x - column) * np.cos(turn) + (y - row) * np.sin(turn)
        across = (y - row) * np.cos(turn) - (x - column) * np.sin(turn)
        inside = (along / long) ** 2 + (across / wide) ** 2 < 1
        image[inside] += rng.uniform(700, 1500)
        image[inside & (np.hypot(along + 4, across) < 5)] += 500
    image = gaussian_filter(image, 1.2)
    return rng.poisson(image).clip(0, 4095).astype(np.uint16)
