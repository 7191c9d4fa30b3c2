"""A colour for each region, different from those of its neighbours."""

from __future__ import annotations

import colorsys
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.labels.maps import CORNERS, SIDES, touching

_GOLDEN_RATIO = (5**0.5 - 1) / 2


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
    palette = _Palette()
    chosen: list[int] = []
    for label in range(n_labels):
        taken = {chosen[other] for other in earlier[label]}
        index = int(preferred[label]) % palette.SIZE
        while index in taken:
            index += 1
        chosen.append(index)
    return np.array([palette.colour(index) for index in chosen])


def palette(n_colours: int) -> NDArray[np.float64]:
    """Return the first colours of the palette, (n_colours, 3)."""
    colours = _Palette()
    return np.array([colours.colour(index) for index in range(n_colours)])


class _Palette:
    """Endless sequence of bright colours; the first SIZE are well apart."""

    SIZE = 24

    def colour(self, index: int) -> tuple[float, float, float]:
        hue = (0.02 + index * _GOLDEN_RATIO) % 1.0
        saturation, value = ((0.85, 1.0), (0.95, 0.7), (0.5, 1.0))[index // 8 % 3]
        return colorsys.hsv_to_rgb(hue, saturation, value)
