"""How labels are cut: into clusters, or from the hierarchy of regions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from pfeseg.checks import MAX_DIMS, MAX_REGIONS, to_positive, to_whole, whole_number
from pfeseg.errors import InvalidInputError, argument

DEFAULT_LEVEL = 0.5

Clustered = Literal["regions", "pixels"]
CLUSTERED: tuple[Clustered, ...] = get_args(Clustered)
"""What k-means can put into clusters."""


@dataclass(frozen=True)
class Automatic:
    """The level `DEFAULT_LEVEL`; for a method without a hierarchy, as many clusters as dimensions.

    Merging is fitted so that this level is the best on the training images of BSDS500, see
    `pfeseg.regions.chance.CHANCE`.

    Examples
    --------
    >>> from pfeseg import Automatic, Settings
    >>> Settings(cut=Automatic()).resolved_cut
    Level(level=0.5)
    >>> Settings(method="kmeans").resolved_cut
    Clusters(n_clusters='dims')
    """


AUTOMATIC = Automatic()


@dataclass(frozen=True)
class Clusters:
    """Clusters, each of which may lie in several places.

    Attributes
    ----------
    n_clusters : int, "auto" or "dims"
        Their number k; "auto" chooses it as `sweep` recommends, "dims" takes the dimension d.

    Raises
    ------
    InvalidInputError
        For another number or word.

    Examples
    --------
    >>> from pfeseg import Clusters
    >>> Clusters(5).count(8), Clusters("dims").count(8)
    (5, 8)
    """

    n_clusters: int | Literal["auto", "dims"]

    def __post_init__(self) -> None:
        if not is_word(self.n_clusters, "auto", "dims"):
            to_whole(self, "n_clusters", 1, MAX_REGIONS)

    def count(self, n_dims: int) -> int:
        """Return k for an embedding of d dimensions.

        Parameters
        ----------
        n_dims : int
            Dimension d.

        Returns
        -------
        int

        Raises
        ------
        InvalidInputError
            If k is "auto", for which a sweep is needed.
        """
        if self.n_clusters == "auto":
            raise needs_sweep("n_clusters")
        if self.n_clusters == "dims":
            return whole_number("n_dims", n_dims, 1, MAX_DIMS)
        return self.n_clusters


@dataclass(frozen=True)
class Regions:
    """The hierarchy where it has so many regions, or all it has if they are fewer.

    Attributes
    ----------
    n_regions : int
        At least 1.

    Raises
    ------
    InvalidInputError
        For another number.

    Examples
    --------
    >>> from pfeseg import Regions, Settings
    >>> Settings(cut=Regions(12)).resolved_cut
    Regions(n_regions=12)
    """

    n_regions: int

    def __post_init__(self) -> None:
        to_whole(self, "n_regions", 1, MAX_REGIONS)


@dataclass(frozen=True)
class Level:
    """The hierarchy at a level: 0 keeps its finest regions, 1 merges all.

    A level is the share of people who draw such boundaries, see `pfeseg.regions.levels`.

    Attributes
    ----------
    level : float

    Raises
    ------
    InvalidInputError
        For a level that does not lie between 0 and 1.

    Examples
    --------
    >>> from pfeseg import Level
    >>> Level(1.5)
    Traceback (most recent call last):
        ...
    pfeseg.errors.InvalidInputError: level must lie between 0 and 1, got 1.5
    """

    level: float

    def __post_init__(self) -> None:
        to_positive(self, "level", or_zero=True)
        if self.level > 1:
            raise InvalidInputError(
                f"{argument('level')} must lie between 0 and 1, got {self.level:g}"
            )


Cut = Automatic | Clusters | Regions | Level


def is_word(value: object, *words: str) -> bool:
    """Tell whether a value is one of some words."""
    return isinstance(value, str) and value in words


def needs_sweep(name: str) -> InvalidInputError:
    """Make the error of a single stage that is to choose a number."""
    return InvalidInputError(
        f"{argument(name, 'auto')} needs all stages at once, as in 'segment' and 'sweep'; "
        "give a number"
    )


def make_cut(
    n_clusters: int | str | None = None,
    n_regions: int | None = None,
    level: float | None = None,
) -> Cut:
    """Make the cut that is asked for by at most one number; without any it is automatic."""
    given: dict[str, Any] = {"n_clusters": n_clusters, "n_regions": n_regions, "level": level}
    names = [name for name, value in given.items() if value is not None]
    if len(names) > 1:
        raise InvalidInputError(
            f"labels are cut in one way only; give one of {' and '.join(map(argument, names))}"
        )
    if not names:
        return AUTOMATIC
    kinds: dict[str, Callable[[Any], Cut]]
    kinds = {"n_clusters": Clusters, "n_regions": Regions, "level": Level}
    return kinds[names[0]](given[names[0]])
