"""How strongly an image changes across each pixel edge, in colour and material.

The two sides of an edge are compared in the direction, among three, in which they
differ most. A side is a Gaussian window; colours are compared by their means, classes of material
by the chi-square distance of their histograms.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.image.places import pixel_centres
from pfeseg.image.smoothing import gaussian
from pfeseg.regions.appearance import CHANNELS, Appearance, Feature

FloatArray = NDArray[np.float64]
EdgeMaps = tuple[NDArray[np.float32], NDArray[np.float32]]
"""One value for each pixel and its right neighbour, (h, w - 1), and its lower one, (h - 1, w)."""

WINDOW = 0.3
"""Width of a side's Gaussian window, in units of the distance between the two sides."""


@dataclass(frozen=True)
class Cue:
    """One comparison of the two sides of an edge.

    Attributes
    ----------
    what : str
        What is compared.
    reach : int
        Distance of the two sides in pixels, of the size at which it is described; an odd number.
    ridge_weight : float
        In the ridges between basins, where cues count by their root mean square.
    """

    what: Feature
    reach: int
    ridge_weight: float = 0.0

    @property
    def name(self) -> str:
        """What tells it from the others."""
        return f"{self.what} at {self.reach}"


CUES = (
    Cue("lightness", 3, ridge_weight=0.7),
    Cue("colour", 5, ridge_weight=0.7),
    Cue("materials", 5, ridge_weight=0.5),
    Cue("materials", 21),
)
"""Chosen on the training images of BSDS500, see benchmarks/quality.md."""

Contrasts = list[tuple[Cue, EdgeMaps]]


def ridges(found: Contrasts) -> EdgeMaps:
    """Sum the cues by their ridge weights: where exactly a boundary would run."""
    right, down = (np.zeros_like(m) for m in found[0][1])
    for cue, maps in found:
        if not cue.ridge_weight:
            continue
        power = sum(float(np.einsum("ij,ij->", m, m, dtype=np.float64)) for m in maps)
        if power:  # an image of one colour has no ridges at all
            weight = np.float32(cue.ridge_weight / np.sqrt(power / sum(m.size for m in maps)))
            right += weight * maps[0]
            down += weight * maps[1]
    return right, down


def contrasts(appearance: Appearance, threads: int = 1) -> Contrasts:
    """Compute every cue on its own; the number of threads never changes the result."""

    def compare_sides(cue: Cue) -> EdgeMaps:
        window = gaussian(WINDOW * cue.reach, 0, truncate=3)
        if cue.what == "materials":
            materials = appearance.materials
            n_classes = int(materials.max()) + 1
            maps = kernels.class_contrast(materials, n_classes, window, cue.reach)
            return enlarge_edges(maps, appearance.shape)
        first, last, _ = CHANNELS[cue.what].indices(appearance.lab.shape[2])
        return kernels.colour_contrast(appearance.lab, first, last, window, cue.reach)

    if threads == 1:
        return [(cue, compare_sides(cue)) for cue in CUES]
    with ThreadPoolExecutor(threads) as pool:  # it runs without the interpreter's lock
        return list(zip(CUES, pool.map(compare_sides, CUES), strict=True))


def enlarge_edges(maps: EdgeMaps, shape: tuple[int, int]) -> EdgeMaps:
    """Bring the values of edges to an image of another shape, by linear interpolation."""
    height, width = shape
    right, down = maps
    if (len(right), down.shape[1]) == shape:
        return maps
    along_y, across_y = from_first_centre(len(right), height), _sides(len(right), height)
    along_x, across_x = from_first_centre(down.shape[1], width), _sides(down.shape[1], width)
    return _interpolate(right, along_y, across_x), _interpolate(down, across_y, along_x)


def from_first_centre(small: int, large: int) -> FloatArray:
    """Return `pixel_centres` as counted from the centre of the first of the `small` pixels."""
    return pixel_centres(small, large) - 0.5


def _sides(small: int, large: int) -> FloatArray:
    """Places of the sides between `large` pixels, from the first side between `small` ones."""
    return np.arange(1, large) * small / large - 1


def _interpolate(values: NDArray[np.float32], y: FloatArray, x: FloatArray) -> NDArray[np.float32]:
    """Take the values at places of a grid; beyond its ends those of the ends."""
    if not values.size:  # an image one pixel wide has no edges to the right
        return np.zeros((len(y), len(x)), dtype=np.float32)
    return kernels.interpolate(values[..., None], y, x)[..., 0]
