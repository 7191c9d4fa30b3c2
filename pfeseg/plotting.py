"""A place to plot into, with matplotlib (an optional extra)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pfeseg.checks import shown
from pfeseg.errors import InvalidInputError, argument

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def new_axes(given: Axes | None = None) -> Axes:
    """Return the axes that were given, or those of a new figure."""
    if given is not None:
        if not (hasattr(given, "imshow") and hasattr(given, "figure")):
            raise InvalidInputError(
                f"{argument('ax')} must be the axes of a matplotlib figure, got {shown(given)}"
            )
        return given
    try:
        from matplotlib import pyplot
    except ImportError as error:
        raise InvalidInputError(
            "plots need matplotlib, which is not installed: pip install 'pfeseg[figures]'"
        ) from error
    return pyplot.figure().add_subplot()
