"""Print how long imports take, each in a fresh process: why heavy ones wait until they are needed.

Milliseconds beyond the start of Python itself, the least of several runs that take turns.
"""

from __future__ import annotations

from measuring import best_of, python

REPEATS = 8

IMPORTS = (
    "pfeseg",
    "click",
    "numpy",
    "PIL.Image",
    "imageio.v3",
    "tifffile",
    "scipy.sparse",
    "scipy.ndimage",
    "skimage.segmentation",
    "sklearn.cluster",
    "sklearn.mixture",
    "matplotlib.pyplot",
    "distributed",
    "rasterio",
)


def main() -> None:
    """Measure and print a table."""
    actions = [python("-c", f"import {name}") for name in IMPORTS]
    command = python("-m", "pfeseg", "--help")
    bare, helped, *times = best_of(REPEATS, python("-c", "pass"), command, *actions)
    print(f"Python alone: {1000 * bare:.0f} ms\n")
    print("| import | ms |\n|---|---|")
    for name, seconds in zip(IMPORTS, times, strict=True):
        print(f"| `{name}` | {1000 * (seconds - bare):.0f} |")
    print(f"| `pfeseg --help`, all of it | {1000 * (helped - bare):.0f} |")


if __name__ == "__main__":
    main()
