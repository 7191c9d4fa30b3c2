"""All settings of a segmentation, as one value."""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from typing import Any, Literal

import numpy as np

from pfeseg.checks import one_of, to_positive, to_whole
from pfeseg.errors import InvalidInputError
from pfeseg.graph import Features, check_graph_options
from pfeseg.initial import Assignment
from pfeseg.methods import METHODS, Method
from pfeseg.solver_settings import SolverSettings


@dataclass(frozen=True)
class Settings:
    """Settings of `segment`; the defaults are the preset "paper".

    Attributes
    ----------
    method : str
        One of `pfeseg.methods.METHODS`.
    n_dims : int or "auto"
        Dimension d of the embedding; "auto" chooses it as `sweep` recommends.
    n_segments : int, "auto" or None
        Number k of k-means clusters; None takes k = d.
    min_region : float
        0 keeps the clusters as they are. Else they are split into connected
        regions, and those of fewer pixels than this, or of less than this
        share of the image where it is below 1, are absorbed.
    downsample : float
        Factor by which each side is shrunk before the solve.
    max_size : int or None
        Shrink further where the longer side would still exceed this.
    neighbours, features, sigma
        Of the pixel graph, see `build_pixel_graph`.
    assignment : {"hard", "soft"}
        Of the initial embedding, see `gmm_initial_embedding`.
    seed : int
        For the mixture and for k-means.
    solver : SolverSettings
    """

    method: Method = "pfe"
    n_dims: int | Literal["auto"] = 15
    n_segments: int | Literal["auto"] | None = None
    min_region: float = 0.0
    downsample: float = 4
    max_size: int | None = None
    neighbours: float = 4
    features: Features = "rgb"
    sigma: Literal["rms"] | float = "rms"
    assignment: Assignment = "hard"
    seed: int = 0
    solver: SolverSettings = field(default_factory=SolverSettings)

    def __post_init__(self) -> None:
        one_of(self, "method", METHODS)
        if self.n_dims != "auto":
            to_whole(self, "n_dims", 1, 10**6)
        if self.n_segments is not None and self.n_segments != "auto":
            to_whole(self, "n_segments", 1, 10**9)
        to_positive(self, "min_region", or_zero=True)
        to_positive(self, "downsample")
        if self.downsample < 1:
            raise InvalidInputError(f"downsample must be at least 1, got {self.downsample:g}")
        if self.max_size is not None:
            to_whole(self, "max_size", 1, 10**9)
        check_graph_options(self.neighbours, self.features, self.sigma)
        # Plain numbers, for JSON; neighbours may be whole or not, which are different things.
        if self.sigma != "rms":
            to_positive(self, "sigma")
        kind = int if isinstance(self.neighbours, int | np.integer) else float
        object.__setattr__(self, "neighbours", kind(self.neighbours))
        one_of(self, "assignment", ("hard", "soft"))
        to_whole(self, "seed", 0, 2**32 - 1)
        if not isinstance(self.solver, SolverSettings):
            raise InvalidInputError(f"solver must be SolverSettings, got {self.solver!r}")

    @classmethod
    def preset(cls, name: str, **changes: Any) -> Settings:
        """Return a named preset, with some settings changed."""
        if name not in PRESETS:
            raise InvalidInputError(
                f"there is no preset {name!r}; the presets are: {', '.join(PRESETS)}"
            )
        return PRESETS[name].changed(**changes)

    def changed(self, **changes: Any) -> Settings:
        """Return these settings with some changed, those of the solver among them."""
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
        return cls(**{**_known(cls, values), "solver": SolverSettings(**solver)})

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


PRESETS: dict[str, Settings] = {"paper": Settings()}
