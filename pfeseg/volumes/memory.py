"""How much memory a volume needs; fitted to peaks of whole runs, as that of images."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, argument
from pfeseg.segmentation.memory import PROGRAM, in_words
from pfeseg.volumes.settings import VolumeSettings

PER_NODE, PER_DIMENSION = 400, 55
"""Bytes for each voxel that is solved for, and for each dimension of it."""

PER_VOXEL, PER_CONNECTED_VOXEL = 8, 30
"""Bytes for each voxel beside two copies of itself: labels; and where they are split."""


def refuse_too_large_volume(
    volume: NDArray[Any], settings: VolumeSettings, limit: float | None
) -> None:
    """Refuse a volume, (Z, Y, X) or (Z, Y, X, c), that would take more than a limit in bytes."""
    needed = estimate_volume_memory(volume, settings)
    if limit is not None and needed > limit:
        raise InvalidInputError(
            f"{' x '.join(map(str, volume.shape[2::-1]))} voxels need about {in_words(needed)} of "
            f"memory, but {in_words(limit)} are allowed; lower {argument('max_voxels')} or raise "
            f"{argument('memory_limit')}"
        )


def estimate_volume_memory(volume: NDArray[Any], settings: VolumeSettings) -> float:
    """Return about how many bytes the segmentation of a volume takes at most."""
    voxels = int(np.prod(volume.shape[:3]))
    solved = min(voxels, settings.max_voxels)
    per_voxel = PER_VOXEL + (PER_CONNECTED_VOXEL if settings.min_region else 0)
    node = PER_NODE + PER_DIMENSION * settings.dims
    return float(PROGRAM + node * solved + per_voxel * voxels + 2 * volume.nbytes)
