"""How likely people are to draw a boundary between two touching regions: logistic regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple


class Curve(NamedTuple):
    """What a feature adds: ``plain * x + root * sqrt(x)``, where x beyond the cap counts as that.

    So what is stronger than all but few boundaries of photographs, as in drawings, is not
    taken for something else.
    """

    plain: float
    root: float
    cap: float


@dataclass(frozen=True)
class Chance:
    """Weights whose sum is the logarithm of the odds that two regions are apart.

    Attributes
    ----------
    contrasts : dict
        What each contrast adds, by its mean along the common boundary.
    regions : dict
        What the differences between the means, or histograms, of the regions add, and the
        roughness of the smoother one.
    perimeter : Curve
        What the share of the boundary in the shorter of the two perimeters adds.
    width : Curve
        What the width of the thinner region adds: its area over its perimeter and the root of the
        image's area.
    smaller, larger : float
        Weights of the logarithms of the two areas, as shares of the image.
    bias : float
    """

    contrasts: dict[str, Curve]
    regions: dict[str, Curve]
    perimeter: Curve
    width: Curve
    smaller: float
    larger: float
    bias: float


CHANCE = Chance(
    contrasts={
        "lightness at 3": Curve(-0.0768, 1.17, 45.4),
        "colour at 5": Curve(-0.031, 0.335, 29.1),
        "materials at 5": Curve(-0.383, 4.26, 0.827),
        "materials at 21": Curve(0.973, 0.909, 0.803),
        "step of the embedding": Curve(-1.93, 3, 0.589),
    },
    regions={
        "lightness": Curve(-0.0132, -0.137, 51.2),
        "colour": Curve(0.000726, 0.0113, 36.7),
        "materials": Curve(3.75, -1.81, 0.988),
        "textons": Curve(-0.659, 1.79, 0.849),
        "embedding": Curve(-0.284, 0.429, 2.05),
        "roughness": Curve(0.132, -0.476, 6.07),
    },
    perimeter=Curve(-1.02, -0.34, 0.704),
    width=Curve(25.7, -5.66, 0.0472),
    smaller=0.226,
    larger=0.212,
    bias=-7.97,
)
"""Fitted to the training images of BSDS500 by benchmarks/fit.py, see benchmarks/quality.md; the
bias such that the level 1/2 of `pfeseg.regions.levels` is the best there."""
