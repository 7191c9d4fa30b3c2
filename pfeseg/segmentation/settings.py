"""All settings of a segmentation, as one value; can be read without importing NumPy."""

from __future__ import annotations

import dataclasses
import json
import math
import numbers
from dataclasses import dataclass
from typing import Any, Literal

from pfeseg.checks import (
    MAX_DIMS,
    MAX_SEED,
    MAX_SIDE,
    check_kind,
    known_fields,
    one_of,
    shown,
    to_positive,
    to_whole,
    true_or_false,
    two_sides,
    unknown_settings,
    whole_number,
)
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.options import check_bands, check_stretch
from pfeseg.pixels.options import ASSIGNMENTS, Assignment, Features, check_graph_options
from pfeseg.segmentation.cuts import (
    AUTOMATIC,
    CLUSTERED,
    DEFAULT_LEVEL,
    Automatic,
    Clustered,
    Clusters,
    Cut,
    Level,
    Regions,
    is_word,
    make_cut,
    needs_sweep,
)
from pfeseg.segmentation.earlier import of_this_version
from pfeseg.segmentation.methods import METHODS, MethodName
from pfeseg.solver.settings import SolverSettings

USUAL_DIMS = 8
"""Dimensions of an embedding unless told otherwise."""

_SOLVER = SolverSettings(r_relaxed=5.0, soc_iterations=1, relaxed_iterations=15)


@dataclass(frozen=True)
class Settings:
    """Settings of `segment`; the defaults are the preset "default".

    Attributes
    ----------
    method : str
        A name in `pfeseg.segmentation.methods.METHODS`.
    n_dims : int, "auto" or "usual"
        Dimension d of the embedding; "auto" chooses it as `sweep` recommends, "usual" is
        `USUAL_DIMS`, or as many as there are pixels to solve for if these are fewer.
    cut : Cut
        How labels are cut: `Clusters`; `Regions` or `Level` of the hierarchy; or `Automatic`.
    cluster : {"regions", "pixels"}
        What `Clusters` are made of: regions of the hierarchy that look alike, or the pixels of
        the small image by their rows of the embedding, as in the paper. Methods that have no
        hierarchy always cluster pixels.
    min_region : float
        0 keeps the labels as they are. Else they are split into connected
        regions, and those of fewer pixels than this, or of less than this
        share of the image where it is below 1, are absorbed.
    stretch : str
        Which values of the image are black and white: "auto", "none", "minmax", or two
        percentiles such as "0.1:99.9"; see `as_raster`.
    bands : str
        Which bands of the image are used: "auto", "all", or numbers such as "4,3,2"; see
        `as_raster`.
    refine : bool
        Draw the boundaries along the edges of the image at full size.
    downsample : float
        Factor by which each side is shrunk before the solve.
    max_size : int or None
        Shrink further where the longer side would still exceed this.
    neighbours, features, sigma
        Of the pixel graph, see `build_pixel_graph`.
    texture : float
        Weight of the local contrast beside CIELAB colours in the initial
        embedding and in the mutual information of the graph; with 0, the
        former starts from RGB colours alone.
    assignment : {"hard", "soft"}
        Of the initial embedding, see `gmm_initial_embedding`.
    seed : int
        For the classes of colour, the mixture and k-means.
    solver : SolverSettings

    Raises
    ------
    InvalidInputError
        For values that are not of these; the message names the setting.

    Examples
    --------
    >>> from pfeseg import Level, Settings
    >>> settings = Settings(cut=Level(0.3)).changed(seed=1, r_relaxed=2)
    >>> settings.seed, settings.solver.r_relaxed, settings.resolved_cut
    (1, 2.0, Level(level=0.3))
    >>> settings.dims_for((90, 120)), settings.shrinking((900, 1200)), settings.is_open
    (8, 10.0, False)
    >>> Settings.preset("paper", n_dims=8).clusters_regions
    False
    >>> Settings.from_dict(settings.to_dict()) == settings
    True
    >>> Settings.from_json(settings.to_json()) == settings
    True
    """

    method: MethodName = "pfe"
    n_dims: int | Literal["auto", "usual"] = "usual"
    cut: Cut = AUTOMATIC
    cluster: Clustered = "regions"
    min_region: float = 0.0
    stretch: str = "auto"
    bands: str = "auto"
    refine: bool = True
    downsample: float = 1
    max_size: int | None = 120
    neighbours: float = 4
    features: Features = "pmi"
    sigma: str | float = "0.8rms"
    texture: float = 2.5
    assignment: Assignment = "hard"
    seed: int = 0
    solver: SolverSettings = _SOLVER

    def __post_init__(self) -> None:
        one_of(self, "method", METHODS)
        if not is_word(self.n_dims, "auto", "usual"):
            to_whole(self, "n_dims", 1, MAX_DIMS)
        self._check_cut()
        one_of(self, "cluster", CLUSTERED)
        check_stretch(self.stretch)
        check_bands(self.bands)
        true_or_false(self, "refine")
        to_positive(self, "texture", or_zero=True)
        to_positive(self, "min_region", or_zero=True)
        to_positive(self, "downsample")
        if self.downsample < 1:
            raise InvalidInputError(
                f"{argument('downsample')} must be at least 1, got {self.downsample:g}"
            )
        if self.max_size is not None:
            to_whole(self, "max_size", 1, MAX_SIDE)
        check_graph_options(self.neighbours, self.features, self.sigma)
        # Plain numbers, for JSON; neighbours may be whole or not, which are different things.
        if not isinstance(self.sigma, str):
            to_positive(self, "sigma")
        kind = int if isinstance(self.neighbours, numbers.Integral) else float
        object.__setattr__(self, "neighbours", kind(self.neighbours))
        one_of(self, "assignment", ASSIGNMENTS)
        to_whole(self, "seed", 0, MAX_SEED)
        check_kind("solver", self.solver, SolverSettings)

    def _check_cut(self) -> None:
        if not isinstance(self.cut, Cut):
            raise InvalidInputError(
                f"cut must be Clusters, Regions, Level or Automatic, got {shown(self.cut)}"
            )
        if isinstance(self.cut, Regions | Level) and not METHODS[self.method].has_hierarchy:
            (name,) = dataclasses.asdict(self.cut)
            raise InvalidInputError(
                f"{argument(name)} needs a hierarchy of regions, which "
                f"{argument('method', self.method)} has not; give {argument('n_clusters')}"
            )

    @property
    def resolved_cut(self) -> Clusters | Regions | Level:
        """The cut, with what `Automatic` means for this method."""
        if not isinstance(self.cut, Automatic):
            return self.cut
        has_hierarchy = METHODS[self.method].has_hierarchy
        return Level(DEFAULT_LEVEL) if has_hierarchy else Clusters("dims")

    @property
    def clusters_regions(self) -> bool:
        """Whether clusters are those of regions."""
        return self.cluster == "regions" and METHODS[self.method].has_hierarchy

    @property
    def is_open(self) -> bool:
        """Whether d or k is yet to be chosen."""
        return self.n_dims == "auto" or self.cut == Clusters("auto")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Settings:
        """Return a named preset, with some settings changed.

        Parameters
        ----------
        name : {"default", "paper"}
        **changes
            As for `changed`.

        Returns
        -------
        Settings

        Raises
        ------
        InvalidInputError
            For another name, and for names and values that are no settings.
        """
        if not isinstance(name, str) or name not in PRESETS:
            raise InvalidInputError(
                f"there is no preset {shown(name)}; the presets are: {', '.join(PRESETS)}"
            )
        return PRESETS[name].changed(**changes)

    def changed(self, **changes: Any) -> Settings:
        """Return these settings with some changed.

        Parameters
        ----------
        **changes
            Values by the names of settings, of these or of the solver's.

        Returns
        -------
        Settings

        Raises
        ------
        InvalidInputError
            For names and values that are no settings.
        """
        own, of_solver = _names(Settings), _names(SolverSettings)
        unknown = set(changes) - {*own, *of_solver}
        if unknown:
            raise InvalidInputError(unknown_settings(unknown, [*own, *of_solver]))
        solver = changes.pop("solver", self.solver)
        within = {name: changes.pop(name) for name in of_solver if name in changes}
        if within and isinstance(solver, SolverSettings):
            solver = dataclasses.replace(solver, **within)
        return dataclasses.replace(self, **{"solver": solver, **changes})

    def shrinking(self, shape: tuple[int, ...]) -> float:
        """Return the factor by which an image is shrunk.

        Parameters
        ----------
        shape : (h, w, ...)
            Of the image.

        Returns
        -------
        float
            At least 1.

        Raises
        ------
        InvalidInputError
            For what is no shape.
        """
        if self.max_size is None:
            return self.downsample
        return max(self.downsample, max(two_sides("shape", shape)) / self.max_size)

    def dims_for(self, small_shape: tuple[int, ...], n_pixels: int | None = None) -> int:
        """Return d for an image.

        Parameters
        ----------
        small_shape : (h, w, ...)
            Size at which it is solved.
        n_pixels : int, optional
            How many pixels are solved for, where a mask leaves some out.

        Returns
        -------
        int

        Raises
        ------
        InvalidInputError
            If d is "auto", for which a sweep is needed.
        """
        if self.n_dims == "auto":
            raise needs_sweep("n_dims")
        if self.n_dims != "usual":
            return self.n_dims
        if n_pixels is None:
            return min(USUAL_DIMS, math.prod(two_sides("small_shape", small_shape)))
        return min(USUAL_DIMS, whole_number("n_pixels", n_pixels, 1, 10**18))

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values.

        Returns
        -------
        dict
            Of what JSON can hold.
        """
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """Make settings of what `to_dict` returned.

        Clusters that do not say what they are made of come from an earlier version, which made
        them of pixels.

        Parameters
        ----------
        values : dict
            Settings left out keep their defaults.

        Returns
        -------
        Settings

        Raises
        ------
        InvalidInputError
            For names and values that are no settings.
        """
        if not isinstance(values, dict) or not isinstance(values.get("solver", {}), dict):
            raise InvalidInputError("settings must be an object of names and values")
        values = of_this_version(values)
        solver = known_fields(SolverSettings, values.get("solver", {}))
        try:
            cut = make_cut(**values.get("cut", {}))
        except TypeError as error:
            raise InvalidInputError(f"cut must name what it cuts by ({error})") from error
        known = known_fields(cls, values)
        return cls(**known | {"cut": cut, "solver": dataclasses.replace(_SOLVER, **solver)})

    def to_json(self) -> str:
        """Return the settings as JSON text.

        Returns
        -------
        str
            In one line.
        """
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Make settings of what `to_json` returned.

        Parameters
        ----------
        text : str
            JSON.

        Returns
        -------
        Settings

        Raises
        ------
        InvalidInputError
            For what is no JSON, and for names and values that are no settings.
        """
        try:
            values = json.loads(text)
        except (TypeError, ValueError, RecursionError) as error:
            raise InvalidInputError(f"settings must be JSON text ({error})") from error
        return cls.from_dict(values)


def _names(kind: type[Any]) -> list[str]:
    return [field.name for field in dataclasses.fields(kind)]


PRESETS: dict[str, Settings] = {
    "default": Settings(),
    "paper": Settings(
        n_dims=15,
        cut=Clusters("dims"),
        cluster="pixels",
        refine=False,
        downsample=4,
        max_size=None,
        neighbours=4,
        features="rgb",
        sigma="rms",
        texture=0.0,
        solver=SolverSettings(),
    ),
}
"""What to start from."""


def choose_settings(
    base: Settings | None = None,
    preset: str | None = None,
    *,
    n_clusters: int | str | None = None,
    n_regions: int | None = None,
    level: float | None = None,
    **changes: Any,
) -> Settings:
    """Make settings of a base or a preset and single values; those that are None change nothing.

    At most one of `n_clusters`, `n_regions` and `level` says how labels are cut.
    """
    if base is not None and preset is not None:
        raise InvalidInputError(
            f"settings and {argument('preset')} are both given; change the settings, or give "
            f"{argument('preset')} alone"
        )
    given = {name: value for name, value in changes.items() if value is not None}
    cut = make_cut(n_clusters, n_regions, level)
    if cut != AUTOMATIC:
        given["cut"] = cut
    chosen = Settings.preset("default" if preset is None else preset) if base is None else base
    check_kind("settings", chosen, Settings)
    return chosen.changed(**given)
