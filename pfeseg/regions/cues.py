"""How strongly an image changes across each pixel edge, in colour and texture.

The two sides of an edge are compared in the direction, among three, in which they
differ most. A side is a Gaussian window; colours are compared by their means, classes of material
and texture by the chi-square distance of their histograms.
"""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.image.smoothing import smooth
from pfeseg.regions.appearance import HISTOGRAMS, Appearance, Feature

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
        Distance of the two sides in pixels, an odd number.
    weight : float
        In the strength of contours.
    ridge_weight : float
        In the ridges between basins, where cues count by their root mean square.
    """

    what: Feature
    reach: int
    weight: float
    ridge_weight: float = 0.0


CUES = (
    Cue("lightness", 5, 0.111, ridge_weight=0.7),
    Cue("colour", 5, 0.091, ridge_weight=0.7),
    Cue("materials", 5, 0.0, ridge_weight=0.5),
    Cue("materials", 11, 4.88, ridge_weight=0.25),
    Cue("textons", 11, 2.92),
)
"""Weights chosen on the training images of BSDS500, see benchmarks/quality.md."""

Contrasts = list[tuple[Cue, EdgeMaps]]


def contour_strength(found: Contrasts) -> EdgeMaps:
    """Sum the cues by their weights: how likely people are to draw a boundary there."""
    return _sum([(cue.weight, maps) for cue, maps in found])


def ridges(found: Contrasts) -> EdgeMaps:
    """Sum the fine cues by their ridge weights: where exactly a boundary would run."""
    terms = []
    for cue, maps in found:
        power = sum(float(np.square(m, dtype=np.float64).sum()) for m in maps)
        if cue.ridge_weight and power:
            rms = np.sqrt(power / sum(m.size for m in maps))
            terms.append((cue.ridge_weight / rms, maps))
    flat = [(0.0, found[0][1])]  # an image of one colour has no ridges at all
    return _sum(terms or flat)


def contrasts(appearance: Appearance, threads: int = 1) -> Contrasts:
    """Compute every cue on its own; the number of threads never changes the result."""

    def compare_sides(cue: Cue) -> EdgeMaps:
        channels = appearance.channels(cue.what).astype(np.float32, copy=False)
        sides = smooth(channels, WINDOW * cue.reach, truncate=3)
        return kernels.oriented_contrast(sides, cue.reach, cue.what in HISTOGRAMS)

    with ThreadPoolExecutor(threads) as pool:  # both steps run without the interpreter's lock
        return list(zip(CUES, pool.map(compare_sides, CUES), strict=True))


def _sum(terms: list[tuple[float, EdgeMaps]]) -> EdgeMaps:
    right = sum(np.float32(weight) * maps[0] for weight, maps in terms)
    down = sum(np.float32(weight) * maps[1] for weight, maps in terms)
    return np.asarray(right), np.asarray(down)
