"""Ways to stretch an image and to choose its bands, which can be read without NumPy."""

from __future__ import annotations

from pfeseg.checks import shown
from pfeseg.errors import InvalidInputError, argument

STRETCHES = ("auto", "none", "minmax")
"""Ways that have a name; others are two percentages, such as "0.1:99.9"."""

USUAL_PERCENTAGES = (0.1, 99.9)


def percentages(stretch: str) -> tuple[float, float]:
    """Return the percentages of the pixels below black and below white that a stretch names.

    Those of "auto" are the usual ones.
    """
    if isinstance(stretch, str) and stretch == "auto":
        return USUAL_PERCENTAGES
    try:
        low, high = (float(number) for number in stretch.split(":"))
    except (AttributeError, TypeError, ValueError):
        low, high = 0.0, 0.0
    if not 0 <= low < high <= 100:
        raise InvalidInputError(
            f"{argument('stretch')} must be {', '.join(STRETCHES)} or two percentages from 0 to "
            f"100, the smaller first, such as 0.1:99.9; got {shown(stretch)}"
        )
    return low, high


def check_stretch(stretch: str) -> None:
    """Refuse what is no way to stretch an image."""
    if not isinstance(stretch, str) or stretch not in STRETCHES:
        percentages(stretch)


ALL_BANDS = "all"


def check_bands(bands: str) -> None:
    """Refuse what is no choice of bands: auto, all, or numbers such as 4,3,2."""
    if not isinstance(bands, str) or bands not in ("auto", ALL_BANDS):
        _band_numbers(bands)


def choose_bands(bands: str, count: int) -> tuple[int, ...]:
    """Return the bands to use of as many as there are, counted from 1.

    "auto" takes the first three, or all where there are fewer.
    """
    check_bands(bands)
    if bands == "auto":
        return tuple(range(1, min(count, 3) + 1))
    if bands == ALL_BANDS:
        return tuple(range(1, count + 1))
    numbers = _band_numbers(bands)
    if max(numbers) > count:
        raise InvalidInputError(
            f"{argument('bands')} names band {max(numbers)}, but the image has {count}; "
            "they are counted from 1"
        )
    return numbers


def _band_numbers(bands: str) -> tuple[int, ...]:
    try:
        numbers = tuple(int(number) for number in bands.split(","))
    except (AttributeError, TypeError, ValueError):
        numbers = ()
    if not numbers or min(numbers) < 1 or len(set(numbers)) < len(numbers):
        raise InvalidInputError(
            f"{argument('bands')} must be auto, all or different numbers from 1 on, such as 4,3,2; "
            f"got {shown(bands)}"
        )
    return numbers
