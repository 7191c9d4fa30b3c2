"""Print how long imports take, each in a fresh process: why heavy ones wait until they are needed.

Milliseconds of processor time beyond the start of Python itself, the least of several runs that
take turns. Processor time is nearly the same on a machine that is busy with other work.
"""

from __future__ import annotations

import resource
from collections.abc import Callable

from measuring import python

REPEATS = 3

STATEMENTS = (
    "import pfeseg",
    "import click",
    "import numpy",
    "import scipy.sparse",
    "import scipy.ndimage",
    "from skimage.segmentation import watershed",
    "from sklearn.cluster import KMeans",
    "from sklearn.mixture import GaussianMixture",
    "import matplotlib.pyplot",
    "import distributed",
)


def processor_time(action: Callable[[], object]) -> float:
    """Run an action that starts a process, and return the milliseconds that this one worked."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    action()
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return 1000 * (after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime)


def main() -> None:
    """Measure and print a table."""
    bare = python("-c", "pass")
    actions = {f"`{statement}`": python("-c", statement) for statement in STATEMENTS}
    actions["`pfeseg --help`, all of it"] = python("-m", "pfeseg", "--help")
    best = dict.fromkeys(["", *actions], float("inf"))
    for _ in range(REPEATS):
        for name, action in {"": bare, **actions}.items():
            best[name] = min(best[name], processor_time(action))
    print("| in a fresh process | ms |\n|---|---|")
    for name in actions:
        print(f"| {name} | {best[name] - best['']:.0f} |")


if __name__ == "__main__":
    main()
