"""Show that the weight of the fidelity means the same at every size of the solved image.

One photograph is embedded at several resolutions. Printed is the share of the start's variance
that is left after Stage II, the mean over the channels: 1 where nothing was flattened, 0 where
the embedding collapsed to a constant.
"""

from __future__ import annotations

from pathlib import Path

import imageio.v3 as iio
import numpy as np

from pfeseg import Clusters, Settings, segment

SAMPLES = Path(__file__).parent.parent / "sample_images"
SIZES = (60, 120, 240, 480)
ANY_LABELS = Settings(cut=Clusters("dims"), cluster="pixels")
"""The labels are not looked at, so they may as well be those that take the least time."""

TRIED = {
    "CIELAB, 4 neighbours": (
        ANY_LABELS.changed(n_dims=8, neighbours=4, features="lab", relaxed_iterations=30),
        (0.3, 1.0, 1.5, 3.0, 10.0),
    ),
    "default": (ANY_LABELS, (0.5, 1.5, 5.0, 15.0)),
}
"""Settings, and weights of the fidelity to try with them."""


def variance_left(image: np.ndarray, settings: Settings) -> float:
    """Return the mean over the channels of the variance after Stage II by that of the start."""
    result = segment(image, settings)
    assert result.graph is not None
    assert result.embedding is not None
    assert result.Y0 is not None
    weights = result.graph.degrees / result.graph.degrees.sum()

    def variances(Y: np.ndarray) -> np.ndarray:
        centred = Y - weights @ Y
        return np.asarray(weights @ centred**2)

    start = result.Y0 / np.sqrt(result.graph.degrees @ result.Y0**2)
    return float(np.mean(variances(result.embedding.Y) / variances(start)))


def main() -> None:
    """Print a table as Markdown."""
    print("| graph | r_relaxed | " + " | ".join(f"{size} pixels" for size in SIZES) + " |")
    print("|---" * (len(SIZES) + 2) + "|")
    images = [iio.imread(SAMPLES / name) for name in ("coffee.jpg", "rocket.jpg")]
    for name, (settings, weights) in TRIED.items():
        for r in weights:
            left = [
                np.mean(
                    [
                        variance_left(image, settings.changed(max_size=size, r_relaxed=r))
                        for image in images
                    ]
                )
                for size in SIZES
            ]
            shares = " | ".join(f"{share:.2f}" for share in left)
            print(f"| {name} | {r:g} | {shares} |", flush=True)


if __name__ == "__main__":
    main()
