"""The size at which a volume is solved, and the way there and back."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.arrays import Raster
from pfeseg.image.resize import interpolate, shrink_to
from pfeseg.volumes.settings import Spacing

Shape = tuple[int, int, int]
Labels = NDArray[np.int32]


def working_shape(shape: Shape, spacing: Spacing, max_voxels: int) -> Shape:
    """Return the shape to which a volume is shrunk, of at most so many voxels.

    Axes that are sampled finely are shrunk first: the voxels become as long as they are wide
    before all of them grow.
    """

    def sampled(step: float) -> Shape:
        z, y, x = (
            max(1, int(n * min(1.0, own / step) + 1e-9))
            for n, own in zip(shape, spacing, strict=True)
        )
        return z, y, x

    if np.prod(shape) <= max_voxels:
        return shape
    fine, coarse = 0.0, max(n * own for n, own in zip(shape, spacing, strict=True))
    for _ in range(60):  # by halves
        middle = (fine + coarse) / 2
        if middle > 0 and np.prod(sampled(middle)) <= max_voxels:
            coarse = middle
        else:
            fine = middle
    return sampled(coarse)


def shrink_volume(tall: Raster, shape: Shape, small: Shape) -> NDArray[np.float32]:
    """Shrink a volume by averaging, (z, y, x, c); `tall` has its slices below each other."""
    slices = tall.values.reshape(*shape, -1)
    result = np.zeros((*small, slices.shape[3]), dtype=np.float32)
    factor = shape[0] / small[0]
    for z, one in enumerate(slices):
        flat = Raster(np.ascontiguousarray(one), tall.black, tall.white, tall.stretch)
        average = np.asarray(shrink_to(flat, small[1:]).values, dtype=np.float32)
        for target in range(int(z / factor), small[0]):
            share = min(z + 1, (target + 1) * factor) - max(z, target * factor)
            if share <= 1e-9:
                break
            result[target] += np.float32(share / factor) * average
    return result


def enlarge_volume(labels: Labels, shape: Shape) -> Labels:
    """Bring labels to the size of the volume: the one with the largest share near each voxel.

    Shares are interpolated linearly along all three axes.
    """
    if labels.shape == shape:
        return labels
    count, result = int(labels.max()) + 1, np.empty(shape, dtype=np.int32)
    ones = np.eye(count, dtype=np.float32)
    for z in range(shape[0]):
        place = float(np.clip((z + 0.5) * len(labels) / shape[0] - 0.5, 0, len(labels) - 1))
        before = min(int(place), max(len(labels) - 2, 0))
        after, share = min(before + 1, len(labels) - 1), np.float32(place - before)
        shares = (1 - share) * ones[labels[before]] + share * ones[labels[after]]
        result[z] = interpolate(shares, shape[1:]).argmax(axis=2)
    return result


def voxel_sizes(shape: Shape, small: Shape, spacing: Spacing) -> Spacing:
    """Return the spacing of a volume that was shrunk."""
    z, y, x = (step * n / m for step, n, m in zip(spacing, shape, small, strict=True))
    return z, y, x


def noise_of(features: NDArray[np.floating[Any]]) -> float:
    """Estimate the noise of a volume, (z, y, x, c), as a share of the spread of its values.

    It follows from the typical difference of neighbours, which few boundaries change, and is 0
    where most of the volume is flat.
    """
    noise = 0.0
    for channel in np.moveaxis(features, 3, 0):
        steps = [np.diff(channel, axis=axis) for axis in range(3) if channel.shape[axis] > 1]
        # Half of the differences of normal noise are below 0.6745 times their deviation.
        typical = min((float(np.median(np.abs(step))) for step in steps), default=0.0)
        noise += (typical / (0.6745 * 2**0.5)) ** 2
    spread = float(features.var(axis=(0, 1, 2), dtype=np.float64).sum())
    return float(np.sqrt(noise / spread)) if spread > 0 else 0.0


def smooth_volume(features: NDArray[np.float32], spacing: Spacing) -> NDArray[np.float32]:
    """Smooth a volume, (z, y, x, c), by a Gaussian as wide as its noise is strong.

    Its deviation is that share of the finest spacing, at most one: next to nothing is smoothed
    where there is hardly any noise, so that boundaries stay where they are.
    """
    from scipy.ndimage import gaussian_filter

    width = min(noise_of(features), 1.0) * min(spacing)
    if width == 0:
        return features
    deviations = [width / step for step in spacing]
    return np.asarray(gaussian_filter(features, (*deviations, 0.0)), dtype=np.float32)
