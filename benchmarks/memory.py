"""Print the estimates of `pfeseg.segmentation.memory` beside the peaks of runs of the command.

Its constants were chosen so that no estimate is below the peak, nor far above it.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

from measuring import peak_memory, write_photograph

from pfeseg import Settings
from pfeseg.segmentation.memory import estimate_memory

PAPER = ("--preset", "paper")
RUNS: list[tuple[tuple[int, int], tuple[str, ...], Settings]] = [
    ((481, 321), (), Settings()),
    ((2000, 1500), (), Settings()),
    ((4000, 3000), (), Settings()),
    ((4000, 3000), ("--hierarchy",), Settings()),
    ((4000, 3000), ("--min-region", "0.5%"), Settings(min_region=0.005)),
    ((10_000, 8000), (), Settings()),
    ((3840, 2560), ("--max-size", "480"), Settings(max_size=480)),
    ((3840, 2560), ("--max-size", "960"), Settings(max_size=960)),
    ((3840, 2560), ("--max-size", "960", "-d", "24"), Settings(max_size=960, n_dims=24)),
    ((481, 321), PAPER, Settings.preset("paper")),
    ((1000, 1000), (*PAPER, "--downsample", "1"), Settings.preset("paper", downsample=1)),
    (
        (1000, 1000),
        (*PAPER, "--downsample", "1", "--neighbours", "8"),
        Settings.preset("paper", downsample=1, neighbours=8),
    ),
    (
        (1000, 1000),
        (*PAPER, "--downsample", "1", "--precision", "double", "-d", "5"),
        Settings.preset("paper", downsample=1, precision="double", n_dims=5),
    ),
    (
        (1000, 1000),
        (*PAPER, "--downsample", "2", "--neighbours", "3.0"),
        Settings.preset("paper", downsample=2, neighbours=3.0),
    ),
]
"""Size of the photograph, options, and the settings that they make."""


def main() -> None:
    """Print a table as Markdown."""
    print("| image | options | peak, MB | estimate, MB |\n|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "photograph.jpg"
        for (width, height), options, settings in RUNS:
            write_photograph(path, width, height)
            words = ("-m", "pfeseg", "segment", path, "-o", folder, "--overwrite", "-q", *options)
            peak = peak_memory(*words, "--memory-limit", "none") / 1e6
            contours = "--hierarchy" in options
            estimate = estimate_memory((height, width), settings, contours) / 1e6
            print(
                f"| {width} x {height} | {' '.join(options)} | {peak:.0f} | {estimate:.0f} |",
                flush=True,
            )


if __name__ == "__main__":
    main()
