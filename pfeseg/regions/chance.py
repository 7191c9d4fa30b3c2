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
        Of each contrast, its mean along the common boundary.
    regions : dict
        Of the differences between the means, or histograms, of the regions, and of the roughness of
        the smoother one.
    perimeter : Curve
        Of the share that the boundary has in the shorter of the two perimeters.
    width : Curve
        Of the width of the thinner region, its area over its perimeter and the root of the image's
        area.
    smaller, larger : float
        Of the logarithms of the two areas, as shares of the image.
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
        "fine lightness at 3": Curve(-0.0744, 1.15, 47.3),
        "fine colour at 5": Curve(-0.0334, 0.365, 29.9),
        "materials at 5": Curve(2.08, 0, 0.825),
        "materials at 21": Curve(1.61, 0.195, 0.8),
        "step of the embedding": Curve(-1.7, 2.55, 0.558),
    },
    regions={
        "lightness": Curve(-0.0155, -0.126, 52),
        "colour": Curve(0.00495, -0.0382, 37.1),
        "materials": Curve(4.08, -2.06, 0.988),
        "textons": Curve(-0.945, 2.15, 0.841),
        "embedding": Curve(-0.229, 0.474, 2.11),
        "roughness": Curve(0.16, -0.564, 6.26),
    },
    perimeter=Curve(-0.507, -0.764, 0.722),
    width=Curve(25.2, -4.93, 0.0465),
    smaller=0.195,
    larger=0.206,
    bias=-6.2,
)
"""Fitted to the training images of BSDS500 by benchmarks/fit.py, see benchmarks/quality.md; the
bias such that the level 1/2 is the best there."""
