"""Readers of the values of options."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection

import click

from pfeseg.checks import shown
from pfeseg.errors import InvalidInputError
from pfeseg.image.options import check_bands, check_stretch

MOST_DIGITS = 18
"""Of a whole number: Python reads no more than some thousands, and nothing here needs these."""


def radius_or_neighbours(text: str) -> float:
    """Read a number; whole ones stay whole: 4 means four neighbours, 4.0 a radius."""
    try:
        return int(text) if text.isdigit() else float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither 4, 8 nor a radius such as 2.5") from None


def rms_or_number(text: str) -> str | float:
    """Read a number unless it ends in the word rms."""
    try:
        return text if text.endswith("rms") else float(text)
    except ValueError:
        raise click.BadParameter(f"{text!r} is neither 'rms', '0.8rms' nor a number") from None


def number_or(*words: str) -> Callable[[str], str | int]:
    """Make a reader of whole numbers of at least 1, or some words."""

    def read(text: str) -> str | int:
        if text in words:
            return text
        if text.isdecimal() and len(text) > MOST_DIGITS:
            raise click.BadParameter(f"{shown(text)} is too large")
        if not text.isdecimal() or int(text) < 1:
            allowed = " nor ".join(repr(word) for word in words)
            raise click.BadParameter(
                f"{text!r} is neither {allowed} nor a whole number of at least 1"
            )
        return int(text)

    return read


def pixels_or_percent(text: str) -> float:
    """Read a number of pixels, or a percentage as a share below 1."""
    try:
        number = float(text.removesuffix("%"))
        share = number / 100
        if text.endswith("%") and 0 <= share < 1:
            return share
        if not text.endswith("%") and (number >= 1 or number == 0) and number < math.inf:
            return number
    except ValueError:
        pass
    raise click.BadParameter(
        f"{text!r} is neither a number of pixels such as 200 nor a percentage such as 0.5%"
    )


def stretch(text: str) -> str:
    """Read a way to stretch an image: a word, or two percentages such as 0.1:99.9."""
    try:
        check_stretch(text)
    except InvalidInputError:
        raise click.BadParameter(
            f"{text!r} is neither auto, none, minmax nor two percentages such as 0.1:99.9"
        ) from None
    return text


def bands(text: str) -> str:
    """Read a choice of bands: a word, or numbers such as 4,3,2."""
    try:
        check_bands(text)
    except InvalidInputError:
        raise click.BadParameter(
            f"{text!r} is neither auto, all nor different numbers from 1 on, such as 4,3,2"
        ) from None
    return text


def memory_size(text: str) -> float | str:
    """Read a size of memory such as 700MB or 4GB in bytes, or the word none."""
    units = {"KB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12}
    try:
        if text == "none":
            return text
        unit = text[-2:].upper()
        size = float(text[:-2]) * units[unit]
        if 0 < size < math.inf:
            return size
    except (ValueError, KeyError):
        pass
    raise click.BadParameter(f"{text!r} is neither a size such as 700MB or 4GB nor 'none'")


MAX_NUMBER = 10**6
"""Largest dimension."""

MAX_COUNT = 1000
"""Of the numbers of one option."""


def numbers(text: str) -> tuple[int, ...]:
    """Read whole numbers: 5:25 (both ends included), 5:25:5 (in steps), 5,8,11, or a mixture."""
    found: list[int] = []
    try:
        for part in text.split(","):
            ends = [int(number) for number in part.split(":")]
            first, last, step = (*ends, ends[0], 1)[:3] if len(ends) == 1 else (*ends, 1)[:3]
            if len(ends) > 3 or first < 1 or step < 1 or last < first or last > MAX_NUMBER:
                raise ValueError
            found += range(first, last + 1, step)
            if len(found) > MAX_COUNT:
                raise click.BadParameter(f"{text!r} are more than {MAX_COUNT} numbers")
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is not a range such as 5:25 or 5:25:5, nor a list such as 5,8,11"
        ) from None
    return tuple(dict.fromkeys(found))


LEVEL_STEP = 0.05
"""Between the levels of a range that names no step."""


def levels(text: str) -> tuple[float, ...]:
    """Read numbers from 0 to 1: 0.3:0.7 (both ends included), 0.3:0.7:0.1 (in steps), 0.4,0.5."""
    found: list[float] = []
    try:
        for part in text.split(","):
            ends = [float(number) for number in part.split(":")]
            first, last, step = (
                (*ends, ends[0], 1.0)[:3] if len(ends) == 1 else (*ends, LEVEL_STEP)[:3]
            )
            if len(ends) > 3 or not (0 <= first <= last <= 1 and step > 0):
                raise ValueError
            count = math.floor((last - first) / step + 1e-9) + 1
            if len(found) + count > MAX_COUNT:
                raise click.BadParameter(f"{text!r} are more than {MAX_COUNT} levels")
            found += [round(first + k * step, 10) for k in range(count)]
    except ValueError:
        raise click.BadParameter(
            f"{text!r} is neither a range from 0 to 1, such as 0.3:0.7 or 0.3:0.7:0.1, nor a list "
            "such as 0.4,0.5"
        ) from None
    return tuple(dict.fromkeys(found))


def words(allowed: Collection[str]) -> Callable[[str], tuple[str, ...]]:
    """Make a reader of comma-separated words, each of which must be one of those allowed."""

    def read(text: str) -> tuple[str, ...]:
        found = tuple(dict.fromkeys(text.split(",")))
        for word in found:
            if word not in allowed:
                raise click.BadParameter(f"{word!r} is not one of {', '.join(allowed)}")
        return found

    return read
