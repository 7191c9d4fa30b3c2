"""Render cubes of bands and volumes of known regions, and print how well these are found.

Adjusted Rand indices, beside those of k-means of the values themselves.
"""

from __future__ import annotations

import warnings

import numpy as np
from sklearn.cluster import KMeans
from sklearn.metrics import adjusted_rand_score

import pfeseg
from pfeseg import Clusters, Settings, VolumeSettings

N_REGIONS = 5

GREYS = np.array([0.25, 0.4, 0.7, 0.55, 0.85])


def render_volume(
    shape: tuple[int, int, int], noise: float, spacing: tuple[float, float, float] = (1, 1, 1)
) -> tuple[np.ndarray, np.ndarray]:
    """Render two wavy layers, a cylinder's ball and a helix, as they are in space.

    Returns
    -------
    truth : (Z, Y, X) array of 0 to 4
    volume : (Z, Y, X) float32 array
    """
    size = np.array(shape) * spacing / max(np.array(shape) * spacing)
    z, y, x = ((np.indices(shape)[axis] + 0.5) * size[axis] / shape[axis] for axis in range(3))
    truth = np.zeros(shape, dtype=np.int32)
    truth[y > size[1] * (0.55 + 0.08 * np.sin(6 * x))] = 1
    truth[y > size[1] * (0.8 + 0.05 * np.cos(5 * z))] = 2
    ball = (x - 0.3 * size[2]) ** 2 + (y - 0.3 * size[1]) ** 2 + (z - 0.5 * size[0]) ** 2
    truth[ball < 0.03] = 3
    turn = 3 * np.pi * z / size[0]
    helix = (x - 0.72 * size[2] - 0.12 * np.cos(turn)) ** 2
    helix += (y - 0.3 * size[1] - 0.12 * np.sin(turn)) ** 2
    truth[helix < 0.006] = 4
    values = GREYS[truth] + np.random.default_rng(0).normal(0, noise, shape)
    return truth, values.astype(np.float32)


def render_cube(n_bands: int, noise: float) -> tuple[np.ndarray, np.ndarray]:
    """Render five regions of random spectra, two pairs of which are alike in the first bands.

    Returns
    -------
    truth : (150, 200) array of 0 to 4
    cube : (150, 200, n_bands) float32 array
    """
    rng = np.random.default_rng(3)
    y, x = np.indices((150, 200)) / 200
    truth = np.zeros((150, 200), dtype=np.int32)
    truth[y > 0.35 + 0.1 * np.sin(5 * x)] = 1
    truth[(x > 0.55) & (y > 0.2)] = 2
    truth[(x - 0.25) ** 2 + (y - 0.5) ** 2 < 0.02] = 3
    truth[(x - 0.78) ** 2 + (y - 0.5) ** 2 < 0.02] = 4
    spectra = rng.random((N_REGIONS, n_bands))
    spectra[4, :3], spectra[3, :3] = spectra[2, :3], spectra[1, :3]
    return truth, (spectra[truth] + rng.normal(0, noise, (150, 200, n_bands))).astype(np.float32)


def agreement(truth: np.ndarray, labels: np.ndarray) -> float:
    """Return the adjusted Rand index."""
    return float(adjusted_rand_score(truth.ravel(), labels.ravel()))


def by_kmeans(truth: np.ndarray, values: np.ndarray) -> float:
    """Return that of k-means of the values."""
    rows = values.reshape(truth.size, -1)
    return agreement(truth, KMeans(N_REGIONS, n_init=3, random_state=0).fit_predict(rows))


def main() -> None:
    """Print two tables as Markdown."""
    warnings.simplefilter("ignore", pfeseg.ImageWarning)
    print("| bands | noise | k-means | first three | all | all, -k 5 |\n|---|---|---|---|---|---|")
    for n_bands, noise in ((8, 0.05), (8, 0.3), (50, 0.3), (50, 0.6)):
        truth, cube = render_cube(n_bands, noise)
        ways = (Settings(), Settings(bands="all"), Settings(bands="all", cut=Clusters(5)))
        found = [agreement(truth, pfeseg.segment(cube, way).labels) for way in ways]
        figures = " | ".join(f"{figure:.3f}" for figure in (by_kmeans(truth, cube), *found))
        print(f"| {n_bands} | {noise} | {figures} |", flush=True)
    print("\n| volume | spacing | noise | k-means | as if 1,1,1 | PFE |\n|---|---|---|---|---|---|")
    for shape, spacing in (((40, 56, 56), (1, 1, 1)), ((20, 64, 64), (2, 1, 1))):
        for noise in (0.0, 0.05, 0.1, 0.2):
            truth, volume = render_volume(shape, noise, spacing)
            figures = [by_kmeans(truth, volume)]
            for told in ((1, 1, 1), spacing):
                found = pfeseg.segment_volume(volume, VolumeSettings(N_REGIONS), spacing=told)
                figures.append(agreement(truth, found.labels))
            sizes = " x ".join(map(str, shape))
            row = " | ".join(f"{figure:.3f}" for figure in figures)
            print(f"| {sizes} | {spacing} | {noise} | {row} |", flush=True)


if __name__ == "__main__":
    main()
