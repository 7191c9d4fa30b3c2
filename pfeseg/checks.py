"""Checks of settings when they are made; numbers become plain ones, as JSON has them."""

from __future__ import annotations

import math
import operator
from collections.abc import Collection
from typing import Any

from pfeseg.errors import InvalidInputError, argument


def to_whole(settings: Any, name: str, least: int, most: int) -> None:
    """Make a field of a frozen dataclass a plain int within bounds."""
    value = getattr(settings, name)
    try:
        whole = int(value) if isinstance(value, float) and value == int(value) else value
        number = operator.index(whole)
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        raise InvalidInputError(
            f"{argument(name)} must be a whole number from {least} to {most}, got {value!r}"
        )
    object.__setattr__(settings, name, number)


def to_positive(settings: Any, name: str, *, or_zero: bool = False) -> None:
    """Make a field of a frozen dataclass a plain positive float."""
    value = getattr(settings, name)
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        number = math.nan
    if not (math.isfinite(number) and (number > 0 or (or_zero and number == 0))):
        wanted = "0 or a positive number" if or_zero else "a positive number"
        raise InvalidInputError(f"{argument(name)} must be {wanted}, got {value!r}")
    object.__setattr__(settings, name, number)


def one_of(settings: Any, name: str, allowed: Collection[str]) -> None:
    """Refuse a field that is none of the words allowed."""
    value = getattr(settings, name)
    if not isinstance(value, str) or value not in allowed:
        raise InvalidInputError(
            f"{argument(name)} must be one of {', '.join(allowed)}; got {value!r}"
        )


def true_or_false(settings: Any, name: str) -> None:
    """Refuse a field that is not a truth value."""
    value = getattr(settings, name)
    if not isinstance(value, bool):
        raise InvalidInputError(f"{argument(name)} must be true or false, got {value!r}")
