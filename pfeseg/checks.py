"""Checks of arguments and of settings; numbers become plain ones, as JSON has them."""

from __future__ import annotations

import dataclasses
import difflib
import math
import numbers
import operator
from collections.abc import Collection, Iterable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfeseg.errors import InvalidInputError, argument

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_SEED = 2**32 - 1
MAX_THREADS = 1024

MAX_SIDE = 10**9
"""The longest side of an image, in pixels."""

MAX_DIMS = 10**6
"""Dimensions of an embedding."""

MAX_REGIONS = 10**9
"""Regions or clusters that may be asked for."""

MANY = 10**5
"""Upper bounds this large are named only where a value exceeds them."""

LONGEST_SHOWN = 60
"""Characters of a value inside a message."""


def whole_number(name: str, value: Any, least: int, most: int) -> int:
    """Return an argument as a plain int, if it is a whole number within bounds."""
    try:
        whole = int(value) if isinstance(value, float) and value == int(value) else value
        number = operator.index(whole)
    except (TypeError, ValueError, OverflowError):
        number = least - 1
    if isinstance(value, bool) or not least <= number <= most:
        wanted = (
            f"from {least} to {most}" if number > most or most < MANY else f"of at least {least}"
        )
        raise InvalidInputError(
            f"{argument(name)} must be a whole number {wanted}, got {shown(value)}"
        )
    return number


def is_whole(value: Any, least: float = -math.inf) -> bool:
    """Tell whether a value is a whole number of at least `least`; truth values are none."""
    whole = isinstance(value, numbers.Integral) and not isinstance(value, bool)
    return whole and int(value) >= least


def check_seed(seed: Any) -> int:
    """Return a seed as a plain int."""
    return whole_number("seed", seed, 0, MAX_SEED)


def check_threads(threads: Any) -> int | None:
    """Return a number of threads as a plain int; None stands for all processors."""
    return None if threads is None else whole_number("threads", threads, 1, MAX_THREADS)


def positive_number(name: str, value: Any, *, or_zero: bool = False) -> float:
    """Return an argument as a plain float, if it is finite and positive."""
    number = real_number(value)
    if not (math.isfinite(number) and (number > 0 or (or_zero and number == 0))):
        wanted = "0 or a positive number" if or_zero else "a positive number"
        raise InvalidInputError(f"{argument(name)} must be {wanted}, got {shown(value)}")
    return number


def real_number(value: Any) -> float:
    """Return what is a number as a plain float, and NaN for all else."""
    if isinstance(value, str | bytes | bool):
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def two_sides(name: str, value: Any) -> tuple[int, int]:
    """Return the height and the width, at least 1 each, that a size begins with."""
    try:
        height, width = (operator.index(side) for side in tuple(value)[:2])
        if 1 <= height <= MAX_SIDE and 1 <= width <= MAX_SIDE:
            return height, width
    except (TypeError, ValueError):
        pass
    raise InvalidInputError(
        f"{argument(name)} must be a height and a width of at least 1 pixel, such as (80, 120), "
        f"got {shown(value)}"
    )


def check_path(name: str, path: Any) -> Path:
    """Return the name of a file as a path."""
    if not isinstance(path, str | Path) or not str(path):
        raise InvalidInputError(f"{argument(name)} must be the name of a file, got {shown(path)}")
    return Path(path)


def check_truth(name: str, value: Any) -> bool:
    """Return an argument as a plain truth value, if it is one."""
    if type(value).__name__ not in ("bool", "bool_"):  # Python's and NumPy's
        raise InvalidInputError(f"{argument(name)} must be true or false, got {shown(value)}")
    return bool(value)


def known_fields(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    """Return values if all are fields of a dataclass; else tell what may have been meant."""
    names = [field.name for field in dataclasses.fields(kind)]
    unknown = [name for name in values if name not in names]
    if unknown:
        raise InvalidInputError(unknown_settings(unknown, names))
    return values


def unknown_settings(unknown: Iterable[Any], names: Collection[str]) -> str:
    """Say which names are unknown, and what may have been meant."""
    told = []
    for name in sorted(map(str, unknown)):
        near = difflib.get_close_matches(name, names, 1)
        told.append(f"{name} (did you mean {near[0]}?)" if near else name)
    return f"unknown settings: {', '.join(told)}"


def check_kind(name: str, value: Any, kind: type[Any]) -> None:
    """Refuse an argument that is no value of a class."""
    if not isinstance(value, kind):
        article = "" if kind.__name__.endswith("Settings") else "a "
        article = "an " if kind.__name__[0] in "AEIOU" else article
        raise InvalidInputError(f"{name} must be {article}{kind.__name__}, got {shown(value)}")


def check_callback(name: str, function: Any) -> None:
    """Refuse a callback, which need not be given, that cannot be called."""
    if function is not None and not callable(function):
        raise InvalidInputError(f"{argument(name)} must be callable, got {shown(function)}")


def any_array(values: Any, what: str, *, masked: bool = False) -> NDArray[Any]:
    """Let NumPy make an array of what was given, or say in one line why it cannot.

    Masked values are refused, as their masks would be lost, unless the caller looks at these.
    """
    import numpy as np

    if not masked and np.ma.is_masked(values):
        raise InvalidInputError(f"{what} must not hold masked values; fill them first")
    try:
        return np.asarray(values)
    except MemoryError:
        raise
    except Exception as error:  # the values may come from any library, which may raise anything
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise InvalidInputError(
            f"{what} must be an array, and NumPy makes none of this {type(values).__name__}: "
            f"{reason}"
        ) from error


def number_array(values: Any, what: str) -> NDArray[Any]:
    """Return an array of integers, truth values or floats."""
    array = any_array(values, what)
    if array.dtype.kind not in "biuf":
        raise InvalidInputError(f"{what} must hold numbers, got {shown(values)}")
    return array


def label_map(labels: Any, what: str = "labels") -> NDArray[Any]:
    """Return a label map as an array of integers, (h, w)."""
    array = any_array(labels, what)
    if array.ndim != 2 or array.size == 0 or array.dtype.kind not in "biu":
        raise InvalidInputError(
            f"{what} must be an (h, w) integer array, got shape {array.shape} of {array.dtype}"
        )
    return array.astype("u1") if array.dtype == bool else array


def small_labels(labels: Any, what: str = "labels") -> NDArray[Any]:
    """Return a label map whose labels fit into 31 bits, none of them negative, as int32."""
    array = label_map(labels, what)
    least, most = int(array.min()), int(array.max())
    if least < 0 or most >= 2**31 - 1:
        raise InvalidInputError(
            f"{what} must lie between 0 and {2**31 - 2}, found {least} to {most}"
        )
    return array.astype("i4", copy=False)


def shown(value: Any) -> str:
    """Show a value that is refused, in one short line."""
    try:
        text = " ".join(repr(value).split())
    except Exception:  # such as of a whole number of thousands of digits
        text = f"a value of type {type(value).__name__}"
    return text if len(text) <= LONGEST_SHOWN else f"{text[: LONGEST_SHOWN - 3]}..."


def to_whole(settings: Any, name: str, least: int, most: int) -> None:
    """Make a field of a frozen dataclass a plain int within bounds."""
    number = whole_number(name, getattr(settings, name), least, most)
    object.__setattr__(settings, name, number)


def to_positive(settings: Any, name: str, *, or_zero: bool = False) -> None:
    """Make a field of a frozen dataclass a plain positive float."""
    number = positive_number(name, getattr(settings, name), or_zero=or_zero)
    object.__setattr__(settings, name, number)


def one_of(settings: Any, name: str, allowed: Collection[str]) -> None:
    """Refuse a field that is none of the words allowed."""
    value = getattr(settings, name)
    if not isinstance(value, str) or value not in allowed:
        raise InvalidInputError(
            f"{argument(name)} must be one of {', '.join(allowed)}; got {shown(value)}"
        )


def true_or_false(settings: Any, name: str) -> None:
    """Refuse a field that is not a truth value."""
    value = getattr(settings, name)
    if not isinstance(value, bool):
        raise InvalidInputError(f"{argument(name)} must be true or false, got {shown(value)}")
