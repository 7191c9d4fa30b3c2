"""All settings of a segmentation, as one value."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from pfeseg.checks import one_of, to_positive, to_whole
from pfeseg.errors import InvalidInputError
from pfeseg.graph import Features, check_graph_options
from pfeseg.initial import Assignment
from pfeseg.methods import CUTS, METHODS, Method
from pfeseg.solver_settings import SolverSettings

_SOLVER = SolverSettings(r_relaxed=15.0, soc_iterations=1, relaxed_iterations=15)


@dataclass(frozen=True)
class Settings:
    """Settings of `segment`; the defaults are the preset "default".

    Attributes
    ----------
    method : str
        One of `pfeseg.methods.METHODS`.
    n_dims : int or "auto"
        Dimension d of the embedding; "auto" chooses it as `sweep` recommends.
    n_segments : int, "auto", "dims" or None
        Cut by k-means into this number k of clusters; "auto" chooses it as
        `sweep` recommends, "dims" takes k = d. Better done from the preset
        "clusters", whose embedding is made for it.
    n_regions : int or None
        Cut the hierarchy of regions where it has so many.
    level : float or None
        Cut the hierarchy at this level in [0, 1]. At most one of these three
        may be given. With none, the method "pfe" cuts at `DEFAULT_LEVEL`,
        and the others take k = d.
    min_region : float
        0 keeps the clusters as they are. Else they are split into connected
        regions, and those of fewer pixels than this, or of less than this
        share of the image where it is below 1, are absorbed.
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
    """

    method: Method = "pfe"
    n_dims: int | Literal["auto"] = 12
    n_segments: int | Literal["auto", "dims"] | None = None
    n_regions: int | None = None
    level: float | None = None
    min_region: float = 0.0
    refine: bool = True
    downsample: float = 1
    max_size: int | None = 120
    neighbours: float = 2.0
    features: Features = "pmi"
    sigma: str | float = "0.8rms"
    texture: float = 2.5
    assignment: Assignment = "hard"
    seed: int = 0
    solver: SolverSettings = _SOLVER

    def __post_init__(self) -> None:
        one_of(self, "method", METHODS)
        if self.n_dims != "auto":
            to_whole(self, "n_dims", 1, 10**6)
        if self.n_segments not in (None, "auto", "dims"):
            to_whole(self, "n_segments", 1, 10**9)
        if self.n_regions is not None:
            to_whole(self, "n_regions", 1, 10**9)
        if self.level is not None:
            to_positive(self, "level", or_zero=True)
            if self.level > 1:
                raise InvalidInputError(f"level must lie between 0 and 1, got {self.level:g}")
        self._check_cut()
        if not isinstance(self.refine, bool):
            raise InvalidInputError(f"refine must be true or false, got {self.refine!r}")
        to_positive(self, "texture", or_zero=True)
        to_positive(self, "min_region", or_zero=True)
        to_positive(self, "downsample")
        if self.downsample < 1:
            raise InvalidInputError(f"downsample must be at least 1, got {self.downsample:g}")
        if self.max_size is not None:
            to_whole(self, "max_size", 1, 10**9)
        check_graph_options(self.neighbours, self.features, self.sigma)
        # Plain numbers, for JSON; neighbours may be whole or not, which are different things.
        if not isinstance(self.sigma, str):
            to_positive(self, "sigma")
        kind = int if isinstance(self.neighbours, int | np.integer) else float
        object.__setattr__(self, "neighbours", kind(self.neighbours))
        one_of(self, "assignment", ("hard", "soft"))
        to_whole(self, "seed", 0, 2**32 - 1)
        if not isinstance(self.solver, SolverSettings):
            raise InvalidInputError(f"solver must be SolverSettings, got {self.solver!r}")

    def _check_cut(self) -> None:
        given = [name for name in CUTS if getattr(self, name) is not None]
        if len(given) > 1:
            raise InvalidInputError(
                f"a segmentation is cut in one way only, but {' and '.join(given)} are given"
            )
        if self.method != "pfe" and given and given != ["n_segments"]:
            raise InvalidInputError(
                f"{given[0]} needs the hierarchy of the method pfe; with {self.method}, "
                "give n_segments"
            )

    @property
    def by_kmeans(self) -> bool:
        """Whether labels come from k-means, else from the hierarchy."""
        return self.method != "pfe" or self.n_segments is not None

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Settings:
        """Return a named preset, with some settings changed."""
        if name not in PRESETS:
            raise InvalidInputError(
                f"there is no preset {name!r}; the presets are: {', '.join(PRESETS)}"
            )
        return PRESETS[name].changed(**changes)

    def changed(self, **changes: Any) -> Settings:
        """Return these settings with some changed, those of the solver among them.

        A new way to cut, such as `n_regions`, takes the place of the old one.
        """
        if any(changes.get(name) is not None for name in CUTS):
            changes = {**dict.fromkeys(CUTS), **changes}
        solver = changes.pop("solver", self.solver)
        names = {f.name for f in dataclasses.fields(SolverSettings)} & set(changes)
        solver = dataclasses.replace(solver, **{name: changes.pop(name) for name in names})
        return dataclasses.replace(self, **{"solver": solver, **changes})

    def shrinking(self, shape: tuple[int, ...]) -> float:
        """Return the factor by which an image of shape (h, w, ...) is shrunk."""
        if self.max_size is None:
            return self.downsample
        return max(self.downsample, max(shape[:2]) / self.max_size)

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Settings:
        """Make settings of what `to_dict` returned; settings left out keep their defaults."""
        if not isinstance(values, dict) or not isinstance(values.get("solver", {}), dict):
            raise InvalidInputError("settings must be an object of names and values")
        solver = _known(SolverSettings, values.get("solver", {}))
        return cls(**{**_known(cls, values), "solver": dataclasses.replace(_SOLVER, **solver)})

    def to_json(self) -> str:
        """Return the settings as JSON text."""
        return json.dumps(self.to_dict())

    @classmethod
    def from_json(cls, text: str) -> Settings:
        """Make settings of what `to_json` returned."""
        return cls.from_dict(json.loads(text))


def _known(kind: type[Any], values: dict[str, Any]) -> dict[str, Any]:
    unknown = set(values) - {f.name for f in dataclasses.fields(kind)}
    if unknown:
        raise InvalidInputError(f"unknown settings: {', '.join(sorted(unknown))}")
    return values


PRESETS: dict[str, Settings] = {
    "default": Settings(),
    "clusters": Settings(
        n_dims=8,
        n_segments="dims",
        neighbours=4,
        features="lab",
        solver=SolverSettings(r_relaxed=1.5, soc_iterations=1, relaxed_iterations=30),
    ),
    "paper": Settings(
        n_dims=15,
        n_segments="dims",
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
"""What to start from: for the hierarchy of regions; for k-means, which needs a flatter embedding
than merging does; and as in the paper."""
