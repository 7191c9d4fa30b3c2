"""Make scene.png, flat coloured regions with noise, and its true label map.

Run from anywhere: python sample_images/make_scene.py
"""

from pathlib import Path

import imageio.v3 as iio
import numpy as np

HEIGHT, WIDTH = 240, 320
NOISE = 0.03  # standard deviation, with colours in [0, 1]

COLOURS = np.array(
    [
        [0.55, 0.75, 0.95],  # sky
        [0.98, 0.85, 0.30],  # sun
        [0.45, 0.42, 0.55],  # mountain
        [0.20, 0.50, 0.25],  # meadow
        [0.80, 0.30, 0.25],  # house
        [0.25, 0.15, 0.12],  # roof
    ]
)


def draw_labels() -> np.ndarray:
    """Draw the regions, (HEIGHT, WIDTH), later ones over earlier ones."""
    y, x = np.mgrid[:HEIGHT, :WIDTH]
    labels = np.zeros((HEIGHT, WIDTH), dtype=np.uint16)
    labels[(y - 52) ** 2 + (x - 252) ** 2 < 30**2] = 1
    labels[y > 60 + np.abs(x - 110) * 0.9] = 2
    labels[y > 170 - 12 * np.sin(x / 45)] = 3
    labels[(y >= 140) & (y < 204) & (x >= 200) & (x < 280)] = 4
    labels[(y >= 108) & (y < 140) & (np.abs(x - 240) < (y - 104) * 1.5)] = 5
    return labels


def main() -> None:
    """Write both files beside this script."""
    labels = draw_labels()
    noise = np.random.default_rng(2016).normal(0, NOISE, (HEIGHT, WIDTH, 3))
    scene = np.clip(COLOURS[labels] + noise, 0, 1)
    folder = Path(__file__).parent
    iio.imwrite(folder / "scene.png", np.rint(scene * 255).astype(np.uint8))
    iio.imwrite(folder / "scene_labels.png", labels)


if __name__ == "__main__":
    main()
