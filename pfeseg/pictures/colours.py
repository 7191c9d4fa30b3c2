"""A colour for each region, different from those of its neighbours."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.labels.maps import CORNERS, SIDES, count_pixels, touching
from pfeseg.regions.hierarchy import Hierarchy

_GOLDEN_RATIO = (5**0.5 - 1) / 2

FIRST_COLOURS = (
    *("1966ff", "bcf218", "ff1940", "33eeff", "736028", "ff19c6", "ffa6c4", "1c5e8c"),
    *("ffb219", "18f297", "8c0e58", "0b730b", "f2dd9d", "0b7362", "ada6ff", "8c230e"),
    *("8011a6", "9ba621", "13bf13", "f28955", "ff3388", "7cbf82", "33bbff", "d96cc7"),
)
"""The palette begins with these. Each is as far as can be, in CIELAB, from those before it, and
none is dark, pale or grey."""


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
    for small, large in touching(labels, SIDES + CORNERS).tolist():
        earlier[large].append(small)
    chosen: list[int] = []
    for label in range(n_labels):
        taken = {chosen[other] for other in earlier[label]}
        chosen.append(_first_free(int(preferred[label]), taken))
    return np.array([_colour(index) for index in chosen])


def palette(n_colours: int) -> NDArray[np.float64]:
    """Return the first colours of the palette, (n_colours, 3)."""
    return np.array([_colour(index) for index in range(n_colours)])


def nested_colours(tree: Hierarchy) -> NDArray[np.float64]:
    """Choose a colour for each region of the base of a hierarchy that serves all its levels.

    Where regions merge, the whole has the colour of the larger one, so a region keeps its colour
    while it lives. With these, regions that touch never share a colour at any level.

    Returns
    -------
    (regions of the base, 3) array
    """
    born = _births(tree)
    chosen: dict[int, int] = {}
    for turn, (region, neighbours) in enumerate(born):
        chosen[region] = _first_free(turn, {chosen[other] for other in neighbours})
    return np.array([_colour(chosen[region]) for region in range(len(born))])


def _births(tree: Hierarchy) -> list[tuple[int, set[int]]]:
    """List which base region names each new region, from the whole image to the finest.

    With it go the names of the regions that it touches when it parts from a larger one. They
    are there already; later ones look at it in turn.
    """
    areas = count_pixels(tree.base).tolist()
    names = list(range(len(areas)))
    touched: list[set[int]] = [set() for _ in areas]
    for a, b in touching(tree.base, SIDES + CORNERS).tolist():
        touched[a].add(b)
        touched[b].add(a)
    born: list[tuple[int, set[int]]] = []
    last = 0
    for kept, absorbed in tree.merges.tolist():
        small, large = absorbed, kept
        if areas[absorbed] > areas[kept]:
            small, large = kept, absorbed
        around = {names[other] for other in touched[small]} | {names[large]}
        born.append((names[small], around))
        names[kept] = names[large]
        areas[kept] += areas[absorbed]
        for other in touched[absorbed]:
            touched[other].discard(absorbed)
            touched[other].add(kept)
        touched[kept] = (touched[kept] | touched[absorbed]) - {kept, absorbed}
        last = kept
    born.append((names[last], set()))
    return born[::-1]


def _first_free(wanted: int, taken: set[int]) -> int:
    """Return the place in the palette that is wanted, or the next one that is not taken."""
    index = wanted % len(FIRST_COLOURS)
    while index in taken:
        index += 1
    return index


def _colour(index: int) -> tuple[float, float, float]:
    """Return a colour of the palette, which is endless."""
    if index < len(FIRST_COLOURS):
        red, green, blue = bytes.fromhex(FIRST_COLOURS[index])
        return red / 255, green / 255, blue / 255
    hue = (0.02 + index * _GOLDEN_RATIO) % 1.0
    saturation, value = ((0.85, 1.0), (0.95, 0.7), (0.5, 1.0))[index // 8 % 3]
    return colorsys.hsv_to_rgb(hue, saturation, value)
