"""A place to plot into, with matplotlib (an optional extra)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfeseg.errors import InvalidInputError

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(given: Axes | None = None) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    if given is not None:
        return given
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise InvalidInputError(
            "plots need matplotlib: install it with pip install matplotlib"
        ) from error
    return pyplot.figure().add_subplot()
