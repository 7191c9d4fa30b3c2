"""Settings of the segmentation of volumes, fewer than those of images."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from pfeseg.checks import (
    MAX_DIMS,
    MAX_SEED,
    check_kind,
    known_fields,
    real_number,
    shown,
    to_positive,
    to_whole,
)
from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.options import check_bands, check_stretch
from pfeseg.pixels.options import check_graph_options
from pfeseg.segmentation.settings import USUAL_DIMS, Settings
from pfeseg.solver.settings import SolverSettings

Spacing = tuple[float, float, float]

MAX_VOXELS = 200_000
"""Larger volumes are shrunk to about so many voxels before the solve, unless told otherwise."""


@dataclass(frozen=True)
class VolumeSettings:
    """Settings of `segment_volume`.

    Attributes
    ----------
    n_clusters : int
        Number k of clusters of voxels.
    n_dims : int or None
        Dimension d of the embedding; k unless given, which serves clusters best.
    min_region : float
        0 keeps the clusters as they are. Else they are split into connected regions, and those of
        fewer voxels than this, or of less than this share of the volume where it is below 1,
        are absorbed.
    stretch, bands : str
        As for images, see `as_raster`.
    sigma : str or float
        Width of the edge weights, see `build_pixel_graph`.
    max_voxels : int
        To how many voxels the volume is shrunk before the solve, if it has more.
    seed : int
        For the mixture and k-means.
    solver : SolverSettings

    Raises
    ------
    InvalidInputError
        For values that are not of these; the message names the setting.

    Examples
    --------
    >>> from pfeseg import VolumeSettings
    >>> settings = VolumeSettings(n_clusters=3)
    >>> settings.dims
    3
    >>> VolumeSettings.from_dict(settings.to_dict()) == settings
    True
    """

    n_clusters: int = USUAL_DIMS
    n_dims: int | None = None
    min_region: float = 0.0
    stretch: str = "auto"
    bands: str = "auto"
    sigma: str | float = "0.8rms"
    max_voxels: int = MAX_VOXELS
    seed: int = 0
    solver: SolverSettings = Settings().solver

    def __post_init__(self) -> None:
        to_whole(self, "n_clusters", 1, MAX_DIMS)
        if self.n_dims is not None:
            to_whole(self, "n_dims", 1, MAX_DIMS)
        to_positive(self, "min_region", or_zero=True)
        check_stretch(self.stretch)
        check_bands(self.bands)
        check_graph_options(4, "rgb", self.sigma)
        to_whole(self, "max_voxels", 8, 10**9)
        to_whole(self, "seed", 0, MAX_SEED)
        check_kind("solver", self.solver, SolverSettings)

    @property
    def dims(self) -> int:
        """Dimension d."""
        return self.n_clusters if self.n_dims is None else self.n_dims

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values.

        Returns
        -------
        dict
            Of what JSON can hold.
        """
        return dataclasses.asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> VolumeSettings:
        """Make settings of what `to_dict` returned.

        Parameters
        ----------
        values : dict
            Settings left out keep their defaults.

        Returns
        -------
        VolumeSettings

        Raises
        ------
        InvalidInputError
            For names and values that are no settings.
        """
        if not isinstance(values, dict) or not isinstance(values.get("solver", {}), dict):
            raise InvalidInputError("settings must be an object of names and values")
        solver = known_fields(SolverSettings, values.get("solver", {}))
        changed = dataclasses.replace(cls.solver, **solver)
        return cls(**known_fields(cls, values) | {"solver": changed})


def check_settings(settings: VolumeSettings | None) -> VolumeSettings:
    """Return the settings that were given, or the usual ones."""
    if settings is None:
        return VolumeSettings()
    check_kind("settings", settings, VolumeSettings)
    return settings


def check_spacing(spacing: Sequence[float]) -> Spacing:
    """Check the distances of voxels along z, y and x."""
    try:
        z, y, x = (real_number(step) for step in spacing)
        if all(0 < step < math.inf for step in (z, y, x)):
            return z, y, x
    except (TypeError, ValueError):
        pass
    raise InvalidInputError(
        f"{argument('spacing')} must be three positive numbers, along z, y and x, such as 2,1,1; "
        f"got {shown(spacing)}"
    )
