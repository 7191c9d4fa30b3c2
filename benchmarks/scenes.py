"""Scenes of known regions, of any size: rendered window by window, each as it is in the whole."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

Window = tuple[slice, slice]
Labels = NDArray[np.int32]

BLOCK = 256
"""Side of the windows in which a scene is rendered."""

LARGE, SMALL = 900, 420
"""Sides of the squares that hold one large region, and one small one, on average."""

NOISE = 8.0


class Scene:
    """Curved cells that reach across tiles, ellipses upon them; gradients, stripes and noise.

    Parameters
    ----------
    side : int
        Pixels.
    seed : int
    """

    def __init__(self, side: int, seed: int = 0) -> None:
        from scipy.spatial import cKDTree

        rng = np.random.default_rng(seed)
        self.side, self._seed = side, seed
        self.whole: Window = (slice(0, side), slice(0, side))
        self._n_large, n_small = (max(6, round((side / each) ** 2)) for each in (LARGE, SMALL))
        places = rng.random((self._n_large + n_small, 2)) * side
        self._cells = cKDTree(places[: self._n_large])
        self._wave, self._phase = rng.uniform(0.5, 1.5, 4) / 260, rng.uniform(0, 2 * np.pi, 4)
        radii, squeeze = rng.uniform(40, 150, n_small), rng.uniform(0.6, 1.6, n_small)
        turns = rng.uniform(0, np.pi, n_small)
        self._ellipses = np.column_stack([places[self._n_large :], radii, squeeze, turns])
        self._colours = _apart(places, rng)
        n = len(places)
        self._slopes = rng.uniform(-12, 12, (n, 2))
        self._stripes = np.column_stack(
            [rng.uniform(0.1, 0.6, n), rng.uniform(0, np.pi, n), rng.uniform(0, 14, n)]
        )

    def labels(self, rows: slice, columns: slice) -> Labels:
        """Return the true labels of a window."""
        y, x = (grid.astype(float) for grid in np.mgrid[rows, columns])
        wave, phase = self._wave, self._phase
        bent_x = x + 60 * np.sin(y * wave[0] + phase[0])
        bent_x += 25 * np.sin(3 * y * wave[1] + x * wave[0] + phase[1])
        bent_y = y + 60 * np.sin(x * wave[2] + phase[2])
        bent_y += 25 * np.sin(3 * x * wave[3] + y * wave[1] + phase[3])
        labels = self._cells.query(np.stack([bent_y, bent_x], axis=-1))[1].astype(np.int32)
        for k, (middle_y, middle_x, radius, squeeze, turn) in enumerate(self._ellipses):
            if not (_meet(rows, middle_y, 2 * radius) and _meet(columns, middle_x, 2 * radius)):
                continue
            down, right = y - middle_y, x - middle_x
            along = (right * np.cos(turn) + down * np.sin(turn)) / squeeze
            across = (down * np.cos(turn) - right * np.sin(turn)) * squeeze
            labels[along**2 + across**2 < radius**2] = self._n_large + k
        return labels

    def pixels(self, rows: slice, columns: slice) -> NDArray[np.uint8]:
        """Render a window, (h, w, 3), which begins at multiples of `BLOCK`."""
        labels = self.labels(rows, columns)
        y, x = (grid.astype(float) for grid in np.mgrid[rows, columns])
        pitch, turn, depth = np.moveaxis(self._stripes[labels], 2, 0)
        light = depth * np.sin(pitch * (x * np.cos(turn) + y * np.sin(turn)))
        slopes = self._slopes[labels]
        light += slopes[..., 0] * np.sin(y / 500) + slopes[..., 1] * np.sin(x / 500)
        rng = np.random.default_rng((self._seed, rows.start, columns.start))
        noise = rng.normal(0, NOISE, (*labels.shape, 3))
        pixels = self._colours[labels] + light[..., None] + noise
        return np.clip(pixels, 0, 255).astype(np.uint8)

    def write(self, path: Path) -> None:
        """Write the scene as a tiled TIFF file."""
        import tifffile

        tifffile.imwrite(
            path,
            self._blocks(),
            shape=(self.side, self.side, 3),
            dtype=np.uint8,
            tile=(BLOCK, BLOCK),
            photometric="rgb",
            compression="zlib",
            compressionargs={"level": 1},
            bigtiff=True,
        )

    def _blocks(self) -> Iterator[NDArray[np.uint8]]:
        starts = range(0, self.side, BLOCK)
        spans = [slice(first, min(first + BLOCK, self.side)) for first in starts]
        for rows in spans:
            for columns in spans:
                yield self.pixels(rows, columns)


def _meet(span: slice, middle: float, reach: float) -> bool:
    return bool(span.start < middle + reach and middle - reach < span.stop)


def _apart(places: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.float64]:
    """Choose colours, (n, 3), far from those of the nearest places."""
    colours: list[NDArray[np.float64]] = []
    for k, place in enumerate(places):
        offered = rng.uniform(40, 215, (60, 3))
        nearest = np.argsort(((places[:k] - place) ** 2).sum(axis=1))[:12]
        taken = np.array([colours[other] for other in nearest]).reshape(-1, 1, 3)
        distances = np.linalg.norm(offered - taken, axis=2)
        colours.append(offered[distances.min(axis=0, initial=1e3).argmax()])
    return np.array(colours)
