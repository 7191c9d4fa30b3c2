"""Which dimensions d, and which cuts of each, are tried, where these are open."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from pfeseg.checks import MAX_DIMS, real_number, shown, whole_number
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.resize import small_size
from pfeseg.segmentation.cuts import DEFAULT_LEVEL, Clusters, Level, Regions
from pfeseg.segmentation.methods import METHODS
from pfeseg.segmentation.settings import Settings

T = TypeVar("T")

AUTO_DIMS = range(5, 11)
AUTO_CLUSTERS = range(3, 9)
"""The numbers among which "auto" chooses; found on training images of BSDS500."""

OneCut = Clusters | Regions | Level
"""A cut that leaves nothing open."""

Pair = tuple[int, OneCut]
"""A dimension, and how its labels are cut."""

PairLike = tuple[int, OneCut | int | None]
"""The same where k stands for `Clusters(k)`, and None for k = d."""


def check_numbers(name: str, numbers: Any) -> list[int] | None:
    """Return dimensions or numbers of clusters, which need not be given, as plain ints."""
    example = "one whole number, such as range(5, 11)"
    return _check_each(name, numbers, example, lambda n: whole_number(name, n, 1, MAX_DIMS))


def check_levels(levels: Any) -> list[float] | None:
    """Return levels, which need not be given, as plain floats."""
    example = "one number from 0 to 1, such as [0.4, 0.5]"
    return _check_each("levels", levels, example, lambda level: Level(real_number(level)).level)


def _check_each(name: str, values: Any, example: str, check: Callable[[Any], T]) -> list[T] | None:
    if values is None:
        return None
    try:
        found = list(values) if not isinstance(values, str | bytes | dict) else []
    except TypeError:
        found = []
    if not found:
        raise InvalidInputError(f"{argument(name)} must be at least {example}, got {shown(values)}")
    return [check(value) for value in found]


def check_pairs(name: str, pairs: Any) -> list[Pair] | None:
    """Return pairs (d, cut), which need not be given, with a cut for each k and None."""
    if pairs is None:
        return None
    try:
        found = [(d, cut) for d, cut in pairs] if not isinstance(pairs, str | bytes | dict) else []
    except (TypeError, ValueError):
        found = []
    if not found:
        raise InvalidInputError(
            f"{argument(name)} must be at least one pair (d, k), such as [(8, 5), (8, 6)], got "
            f"{shown(pairs)}"
        )
    return [_pair(name, d, cut) for d, cut in found]


def _pair(name: str, d: Any, cut: Any) -> Pair:
    n_dims = whole_number(name, d, 1, MAX_DIMS)
    if isinstance(cut, Regions | Level):
        return n_dims, cut
    if isinstance(cut, Clusters):
        return n_dims, Clusters(cut.count(n_dims))
    return n_dims, Clusters(n_dims if cut is None else whole_number(name, cut, 1, MAX_DIMS))


def sweep_pairs(
    settings: Settings,
    shape: tuple[int, ...],
    dims: Sequence[int] | None = None,
    *,
    n_clusters: Sequence[int] | None = None,
    levels: Sequence[float] | None = None,
    n_regions: Sequence[int] | None = None,
) -> tuple[list[Pair], list[Pair]]:
    """List the pairs to show, and those to choose among, for an image of shape (H, W, ...).

    Clusters are tried with `AUTO_DIMS` unless `dims` are given; without numbers of them, k = d is
    shown and k is chosen from `AUTO_CLUSTERS`. Cuts of the hierarchy are tried with the one
    dimension of the settings unless `dims` are given; what is recommended of them is the default
    level.
    """
    given = {"n_clusters": n_clusters, "levels": levels, "n_regions": n_regions}
    names = [name for name, numbers in given.items() if numbers]
    if len(names) > 1:
        raise InvalidInputError(
            f"labels are cut in one way only; give one of {' and '.join(map(argument, names))}"
        )
    if not (levels or n_regions):
        dims = dims or AUTO_DIMS
        if not n_clusters:
            return [(d, Clusters(d)) for d in dims], candidate_pairs(settings, dims, shape)
        asked: list[Pair] = [(d, Clusters(k)) for d in dims for k in n_clusters]
        return asked, asked
    dims = dims or (_usual_dims(settings, shape),)
    cuts: list[OneCut] = [*map(Level, levels or ()), *map(Regions, n_regions or ())]
    return [(d, cut) for d in dims for cut in cuts], [(d, Level(DEFAULT_LEVEL)) for d in dims]


def candidate_pairs(settings: Settings, dims: Sequence[int], shape: tuple[int, ...]) -> list[Pair]:
    """List the pairs to choose among where k is open, for an image of shape (H, W, ...).

    A method without a dimension has d = k.
    """
    if not METHODS[settings.method].has_dims:
        return _fitting([(k, Clusters(k)) for k in AUTO_CLUSTERS], settings, shape)
    return _fitting([(d, Clusters(k)) for d in dims for k in AUTO_CLUSTERS], settings, shape)


def auto_pairs(settings: Settings, shape: tuple[int, ...]) -> list[Pair]:
    """List what "auto" in the settings chooses among for an image of shape (H, W, ...)."""
    dims = AUTO_DIMS if settings.n_dims == "auto" else (_usual_dims(settings, shape),)
    cut = settings.resolved_cut
    if cut == Clusters("auto"):
        return candidate_pairs(settings, dims, shape)
    cuts = [(d, Clusters(cut.count(d)) if isinstance(cut, Clusters) else cut) for d in dims]
    return _fitting(cuts, settings, shape)


def _usual_dims(settings: Settings, shape: tuple[int, ...]) -> int:
    """Return the dimension of the settings, for an image of shape (H, W, ...)."""
    return settings.dims_for(small_size(shape, settings.shrinking(shape)))


def _fitting(pairs: list[Pair], settings: Settings, shape: tuple[int, ...]) -> list[Pair]:
    """Leave out what is more than the pixels; one is left, if only to be refused with a reason."""
    height, width = small_size(shape, settings.shrinking(shape))
    return [(d, cut) for d, cut in pairs if _largest(d, cut) <= height * width] or pairs[:1]


def _largest(d: int, cut: OneCut) -> int:
    return max(d, cut.count(d)) if isinstance(cut, Clusters) else d
