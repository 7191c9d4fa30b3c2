"""What the pixel graph and the start can be asked for; needs no arrays."""

from __future__ import annotations

import math
import numbers
from typing import Literal, get_args

from pfeseg.checks import shown
from pfeseg.errors import InvalidInputError, argument

Features = Literal["rgb", "lab", "pmi"]
FEATURES: tuple[Features, ...] = get_args(Features)

Assignment = Literal["hard", "soft"]
ASSIGNMENTS: tuple[Assignment, ...] = get_args(Assignment)

MAX_RADIUS = 1000
"""Largest radius, in pixels, within which pixels are joined."""

MAX_SIGMA = 1e6
"""Every weight is 1 anyway where sigma is larger."""


def check_graph_options(neighbours: float, features: str, sigma: str | float) -> None:
    """Refuse what `build_pixel_graph` cannot take."""
    if not (_is_number(neighbours) and 1 <= neighbours <= MAX_RADIUS):
        raise InvalidInputError(
            f"{argument('neighbours')} must be 4, 8 or a radius of 1 to {MAX_RADIUS} pixels, "
            f"got {shown(neighbours)}"
        )
    if not isinstance(features, str) or features not in FEATURES:
        raise InvalidInputError(
            f"{argument('features')} must be one of {', '.join(FEATURES)}; got {shown(features)}"
        )
    if isinstance(sigma, str):
        parse_rms(sigma)
    elif not (_is_number(sigma) and 0 < float(sigma) < MAX_SIGMA):
        raise InvalidInputError(
            f'{argument("sigma")} must be "rms", a multiple such as "0.8rms" or a positive number '
            f"below {MAX_SIGMA:g}, got {shown(sigma)}"
        )


def parse_rms(sigma: str) -> float:
    """Read a sigma such as "rms" or "0.8rms" as a multiple of the root mean square."""
    number = sigma.removesuffix("rms")
    try:
        multiple = float(number) if number else 1.0
    except ValueError:
        multiple = math.nan
    if sigma == number or not 0 < multiple < MAX_SIGMA:
        raise InvalidInputError(
            f'{argument("sigma")} must be "rms", a multiple such as "0.8rms" or a number, '
            f"got {shown(sigma)}"
        )
    return multiple


def squared_radius(neighbours: float) -> float:
    """Return the squared distance within which pixels are joined: 4 and 8 are names, not radii."""
    named = {4: 1.0, 8: 2.0}
    is_named = isinstance(neighbours, numbers.Integral) and neighbours in named
    return named[int(neighbours)] if is_named else float(neighbours) ** 2


def _is_number(value: object) -> bool:
    try:
        return (
            isinstance(value, numbers.Real) and not isinstance(value, bool) and math.isfinite(value)
        )
    except OverflowError:  # a whole number too large for a float
        return False
