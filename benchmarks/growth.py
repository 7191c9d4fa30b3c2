"""Draw how time grows with pixels, for the solver and for the whole segmentation, beside rivals.

Run it with ``make bench-growth``; it takes minutes and writes docs/growth.png. One thread each,
in a process that is warm.
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
from measuring import ROOT, best_of, describe_machine, photograph
from threadpoolctl import threadpool_limits

from pfeseg import Settings, build_pixel_graph, embed, gmm_initial_embedding, segment

LONGEST = 15.0
"""Seconds; a method that took longer is not tried on more pixels."""

BRIEF = 1.0
"""Seconds; a method that took longer is timed once on more pixels, others four times."""

SOLVED = ((60, 40), (120, 80), (240, 160), (480, 320), (960, 640))
"""Sizes of the images that are embedded, in pixels."""
SEGMENTED = ((240, 160), (480, 320), (960, 640), (1920, 1280), (3840, 2560), (6000, 4000))
N_DIMS = 15

Times = dict[str, list[tuple[int, float]]]
Run = Callable[[], object]


def solver_runs(width: int, height: int) -> dict[str, Run]:
    """Return runs on the same pixel graph: 15 channels, eigenvectors or labels."""
    from skimage.segmentation import random_walker
    from sklearn.manifold import spectral_embedding

    image = photograph(width, height) / 255.0
    graph, Y0 = build_pixel_graph(image), gmm_initial_embedding(image, N_DIMS)
    settings = Settings.preset("paper").solver
    rng = np.random.default_rng(0)
    seeds = np.zeros((height, width), dtype=int)
    places = rng.choice(seeds.size, 20 * N_DIMS, replace=False)
    seeds.flat[places] = np.arange(len(places)) % N_DIMS + 1
    eigenvectors = {"n_components": N_DIMS, "eigen_solver": "arpack", "random_state": 0}
    incomplete = Settings.preset("paper", preconditioner="ic0").solver
    return {
        "pfeseg, solver": lambda: embed(graph, Y0, settings, threads=1),
        "pfeseg, solver with ic0": lambda: embed(graph, Y0, incomplete, threads=1),
        "spectral embedding (scikit-learn)": lambda: spectral_embedding(graph.W, **eigenvectors),
        "random walker, cg_mg (scikit-image)": lambda: random_walker(
            image, seeds, mode="cg_mg", channel_axis=2
        ),
    }


def segmentation_runs(width: int, height: int) -> dict[str, Run]:
    """Return runs from an image to its labels at full size."""
    from skimage.segmentation import felzenszwalb, slic

    image = photograph(width, height)
    return {
        "pfeseg, segment": lambda: segment(image, threads=1),
        "felzenszwalb (scikit-image)": lambda: felzenszwalb(image, scale=400, sigma=1.5),
        "SLIC, 100 segments (scikit-image)": lambda: slic(image, n_segments=100),
    }


def measure(sizes: Sequence[tuple[int, int]], runs: Callable[[int, int], dict[str, Run]]) -> Times:
    """Time each method on each size until it takes too long."""
    times: Times = {}
    for width, height in sizes:
        for name, run in runs(width, height).items():
            taken = times.setdefault(name, [])
            if taken and taken[-1][1] > LONGEST:
                continue
            (seconds,) = best_of(4 if not taken or taken[-1][1] < BRIEF else 1, run)
            taken.append((width * height, seconds))
            print(f"{name:40} {width * height:>9} pixels {seconds:8.3f} s", flush=True)
    return times


def draw(panels: dict[str, Times], path: Path) -> None:
    """Draw both panels with logarithmic axes."""
    import matplotlib as mpl

    mpl.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 2, figsize=(10, 4.2), sharey=True, constrained_layout=True)
    for axis, (title, times) in zip(axes, panels.items(), strict=True):
        for name, taken in times.items():
            pixels, seconds = zip(*taken, strict=True)
            own = name.startswith("pfeseg")
            style = "o-" if own else "s--"
            axis.loglog(
                pixels, seconds, style, label=name, linewidth=2.2 if own else 1.2, markersize=4
            )
        axis.set(title=title, xlabel="pixels")
        axis.grid(which="major", alpha=0.3)
        axis.legend(fontsize=8)
    axes[0].set_ylabel("seconds, one thread")
    figure.savefig(path, dpi=110)


def main() -> None:
    """Measure and draw."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--plot", type=Path, default=ROOT / "docs" / "growth.png")
    parser.add_argument("--json", type=Path, help="file to write the times to")
    chosen = parser.parse_args()
    with threadpool_limits(1):
        panels = {
            "Embedding of pixels": measure(SOLVED, solver_runs),
            "Image to labels": measure(SEGMENTED, segmentation_runs),
        }
    if chosen.json:
        chosen.json.write_text(
            json.dumps({"machine": describe_machine(), **panels}, indent=1) + "\n"
        )
    draw(panels, chosen.plot)


if __name__ == "__main__":
    main()
