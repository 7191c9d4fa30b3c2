"""Which dimensions d and numbers of clusters k are tried, where these are open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from pfeseg.checks import shown, whole_number
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.resize import small_size
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.methods import METHODS
from pfeseg.segmentation.settings import Settings

AUTO_DIMS = range(5, 11)
AUTO_CLUSTERS = range(3, 9)
"""What "auto" chooses among; chosen on images of BSDS train."""

Pair = tuple[int, int | None]


def check_numbers(name: str, numbers: Any) -> list[int] | None:
    """Return dimensions or numbers of clusters, which need not be given, as plain ints."""
    if numbers is None:
        return None
    try:
        values = list(numbers) if not isinstance(numbers, str | bytes | dict) else []
    except TypeError:
        values = []
    if not values:
        raise InvalidInputError(
            f"{argument(name)} must be at least one whole number, such as range(5, 11), got "
            f"{shown(numbers)}"
        )
    return [whole_number(name, value, 1, 10**6) for value in values]


def check_pairs(name: str, pairs: Any) -> list[Pair] | None:
    """Return pairs (d, k), which need not be given, as plain ints; a k of None stays."""
    if pairs is None:
        return None
    try:
        found = [(d, k) for d, k in pairs] if not isinstance(pairs, str | bytes | dict) else []
    except (TypeError, ValueError):
        found = []
    if not found:
        raise InvalidInputError(
            f"{argument(name)} must be at least one pair (d, k), such as [(8, 5), (8, 6)], got "
            f"{shown(pairs)}"
        )
    return [
        (whole_number(name, d, 1, 10**6), None if k is None else whole_number(name, k, 1, 10**6))
        for d, k in found
    ]


def sweep_pairs(
    settings: Settings,
    dims: Sequence[int],
    n_clusters: Sequence[int] | None,
    shape: tuple[int, ...],
) -> tuple[list[Pair], list[Pair]]:
    """List the pairs (d, k) to show, and those to choose among.

    Without numbers of clusters, k = d is shown and k is chosen from `AUTO_CLUSTERS`.
    """
    if n_clusters:
        asked: list[Pair] = [(d, k) for d in dims for k in n_clusters]
        return asked, asked
    return [(d, d) for d in dims], candidate_pairs(settings, dims, shape)


def candidate_pairs(settings: Settings, dims: Sequence[int], shape: tuple[int, ...]) -> list[Pair]:
    """List the pairs (d, k) to choose among where k is open, for an image of shape (H, W, ...).

    A method without a dimension has d = k.
    """
    if not METHODS[settings.method].has_dims:
        return _fitting([(k, k) for k in AUTO_CLUSTERS], settings, shape)
    return _fitting([(d, k) for d in dims for k in AUTO_CLUSTERS], settings, shape)


def auto_pairs(settings: Settings, shape: tuple[int, ...]) -> list[Pair]:
    """List what "auto" in the settings chooses among for an image of shape (H, W, ...)."""
    small_shape = small_size(shape, settings.shrinking(shape))
    dims = AUTO_DIMS if settings.n_dims == "auto" else (settings.dims_for(small_shape),)
    cut = settings.cut
    if cut == Clusters("auto"):
        return candidate_pairs(settings, dims, shape)
    k = cut.n_clusters if isinstance(cut, Clusters) and isinstance(cut.n_clusters, int) else None
    return _fitting([(d, k) for d in dims], settings, shape)


def _fitting(pairs: list[Pair], settings: Settings, shape: tuple[int, ...]) -> list[Pair]:
    """Leave out what is more than the pixels; one is left, if only to be refused with a reason."""
    height, width = small_size(shape, settings.shrinking(shape))
    return [(d, k) for d, k in pairs if max(d, k or d) <= height * width] or pairs[:1]
