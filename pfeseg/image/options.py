"""Ways to stretch an image, which can be read without importing NumPy."""

from __future__ import annotations

from pfeseg.errors import InvalidInputError, argument

STRETCHES = ("auto", "none", "minmax")
"""Ways that have a name; others are two percentages, such as "0.1:99.9"."""

USUAL_PERCENTAGES = (0.1, 99.9)


def percentages(stretch: str) -> tuple[float, float]:
    """Return the percentages of the pixels below black and below white that a stretch names.

    Those of "auto" are the usual ones.
    """
    if stretch == "auto":
        return USUAL_PERCENTAGES
    try:
        low, high = (float(number) for number in stretch.split(":"))
    except (AttributeError, ValueError):
        low, high = 0.0, 0.0
    if not 0 <= low < high <= 100:
        raise InvalidInputError(
            f"{argument('stretch')} must be {', '.join(STRETCHES)} or two percentages from 0 to "
            f"100, the smaller first, such as 0.1:99.9; got {stretch!r}"
        )
    return low, high


def check_stretch(stretch: str) -> None:
    """Refuse what is no way to stretch an image."""
    if stretch not in STRETCHES:
        percentages(stretch)
