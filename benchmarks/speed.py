"""Measure speed and memory, as ratios to rivals within one run, beside their targets.

Run it with ``make bench``; it takes about three minutes. Without further words it measures all;
``python benchmarks/speed.py solver default`` measures some.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from threading import Thread

import numpy as np
from measuring import (
    ROOT,
    SIZE_PARTS,
    Record,
    best_of,
    describe_machine,
    peak_memory,
    pfeseg,
    photograph,
    python,
    write_into_page,
    write_photograph,
)

from pfeseg import (
    Graph,
    Settings,
    build_pixel_graph,
    downsample,
    embed,
    gmm_initial_embedding,
    segment,
)
from pfeseg.solver.cholesky import CholeskyLoop, eliminate

sys.path.insert(0, str(ROOT / "tests"))
from reference import KroneckerForm

PAPER = Settings.preset("paper")
N_DIMS = 15
MILLION_PIXELS = """
import numpy as np, sys
sys.path.insert(0, sys.argv[1])
from measuring import photograph
from pfeseg import Settings, segment
segment(photograph(1000, 1000), Settings.preset("paper", downsample=1))
"""


def problem(factor: float) -> tuple[Graph, np.ndarray]:
    """Return the graph and the start of 480 x 320 pixels, shrunk."""
    small = downsample(photograph(480, 320), factor)
    return build_pixel_graph(small), gmm_initial_embedding(small, N_DIMS)


def start_up(record: Record) -> None:
    """Compare the command with what its libraries alone need."""
    ours, click = best_of(15, python("-m", "pfeseg", "--help"), python("-c", "import click"))
    record.add("pfeseg --help / import click", ours / click, at_most=1.5)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "photograph.jpg"
        write_photograph(path, 481, 321)
        command = ("segment", path, "-o", folder, "--overwrite")
        imports = "import sklearn.mixture, sklearn.cluster, skimage.transform"
        default, paper, libraries = best_of(
            8, pfeseg(*command), pfeseg(*command, "--preset", "paper"), python("-c", imports)
        )
    record.add("pfeseg segment, 481 x 321, start to finish", default, "s")
    record.add("pfeseg segment / importing scikit-learn", default / libraries, at_most=1)
    record.add(
        "pfeseg segment --preset paper / importing scikit-learn", paper / libraries, at_most=1
    )


def solver(record: Record) -> None:
    """Compare the solver with its rivals, and with itself on more pixels and threads."""
    from sklearn.manifold import spectral_embedding

    settings = PAPER.solver
    graph, Y0 = problem(4)
    eigenvectors = {"n_components": N_DIMS, "eigen_solver": "arpack", "random_state": 0}
    ours, one_thread, incomplete, direct, spectral = best_of(
        6,
        lambda: embed(graph, Y0, settings),
        lambda: embed(graph, Y0, settings, threads=1),
        lambda: embed(graph, Y0, replace(settings, preconditioner="ic0")),
        lambda: embed(graph, Y0, replace(settings, linear_solver="direct")),
        lambda: spectral_embedding(graph.W, **eigenvectors),
    )
    n = graph.n_nodes
    record.add(f"solver, n = {n}, d = {N_DIMS}, paper preset", ours, "s")
    record.add("SciPy, factorised once (direct) / solver", direct / ours, at_least=12)
    record.add("solver / scikit-learn's spectral embedding (ARPACK)", ours / spectral, at_most=1)
    record.add("incomplete Cholesky (ic0), as in the paper / solver", incomplete / ours)
    record.add(f"one thread / all threads, n = {n}", one_thread / ours, at_least=1.7)
    record.add(f"the same of the loop alone, 100 iterations, n = {n}", loop_speed_up(graph, Y0))

    large, large_Y0 = problem(1)
    large_ours, large_one, large_incomplete = best_of(
        3,
        lambda: embed(large, large_Y0, settings),
        lambda: embed(large, large_Y0, settings, threads=1),
        lambda: embed(large, large_Y0, replace(settings, preconditioner="ic0")),
    )
    record.add(f"solver, n = {large.n_nodes}", large_ours, "s")
    ratio = large_ours / large.n_nodes / (ours / n)
    record.add(f"time per pixel, n = {large.n_nodes} / n = {n}", ratio, at_most=1.6)
    record.add(f"ic0 / solver, n = {large.n_nodes}", large_incomplete / large_ours)
    record.add(
        f"one thread / all threads, n = {large.n_nodes}", large_one / large_ours, at_least=1.4
    )
    record.add("a memory stream alone: one thread / two threads", memory_stream())

    exact = embed(graph, Y0, replace(settings, linear_solver="direct")).Y
    scale = np.abs(exact).max()
    for name in ("cholesky", "ic0"):
        fast = embed(graph, Y0, replace(settings, preconditioner=name)).Y
        record.add(
            f"largest error with {name}, of the largest entry", np.abs(fast - exact).max() / scale
        )

    (kronecker,) = best_of(1, lambda: KroneckerForm(graph, N_DIMS, settings).embed(Y0))
    record.add(
        "Kronecker form, solved afresh each iteration / solver", kronecker / ours, at_least=150
    )

    here = str(Path(__file__).parent)
    peak = peak_memory("-c", MILLION_PIXELS, here) / 1e9
    record.add("peak memory, paper preset on 1000 x 1000 pixels", peak, "GB", at_most=1.2)


def loop_speed_up(graph: Graph, Y0: np.ndarray) -> float:
    """Return how much faster the split Bregman loop of Stage II is on all threads than on one."""
    order, settings = eliminate(graph, np.inf), PAPER.solver

    def iterate(threads: int | None) -> None:
        loops[threads].start(Y0)
        loops[threads].advance(100)

    loops = {
        threads: CholeskyLoop(
            graph, order, settings.lam, settings.r_relaxed, precision="single", threads=threads
        )
        for threads in (1, None)
    }
    one, all_threads = best_of(8, lambda: iterate(1), lambda: iterate(None))
    return one / all_threads


def memory_stream() -> float:
    """Return how much faster two threads stream through memory than one."""
    arrays = [np.ones(1 << 24, dtype=np.float32) for _ in range(2)]

    def stream(part: slice) -> None:
        for _ in range(4):
            np.multiply(arrays[0][part], np.float32(0.5), out=arrays[1][part])

    def run(*parts: slice) -> None:
        threads = [Thread(target=stream, args=(part,)) for part in parts]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()

    half = arrays[0].size // 2
    one, two = best_of(8, lambda: run(slice(None)), lambda: run(slice(0, half), slice(half, None)))
    return one / two


def default(record: Record) -> None:
    """Compare the default in a process that is warm with the quickest rival."""
    from skimage.segmentation import felzenszwalb

    image = photograph(481, 321)
    ours, both, rival = best_of(
        10,
        lambda: segment(image, threads=1),
        lambda: segment(image),
        lambda: felzenszwalb(image, scale=400, sigma=1.5),
    )
    record.add("segment(image), 481 x 321, warm, one thread", ours, "s")
    record.add(
        "segment(image) / felzenszwalb(image, scale=400, sigma=1.5)", ours / rival, at_most=1
    )
    record.add("segment(image) on all threads / felzenszwalb", both / rival)


def large(record: Record) -> None:
    """Compare the command on photographs as phones take them with SLIC alone."""
    from skimage.segmentation import slic

    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "photograph.jpg"
        image = write_photograph(path, 4000, 3000)
        command = ("segment", path, "-o", folder, "--overwrite")
        ours, auto, sweep = best_of(
            2,
            pfeseg(*command),
            pfeseg(*command, "-d", "auto", "-k", "auto"),
            pfeseg("sweep", path, "-o", folder, "--overwrite"),
        )
        (rival,) = best_of(1, lambda: slic(image, n_segments=100))
        record.add("pfeseg segment, 4000 x 3000, start to finish", ours, "s")
        record.add(
            "pfeseg segment / slic(image, n_segments=100) alone", ours / rival, at_most=1 / 3
        )
        record.add("segment -d auto -k auto / segment, 4000 x 3000", auto / ours, at_most=3)
        record.add("sweep / segment, 4000 x 3000", sweep / ours, at_most=3)
        words = ("-m", "pfeseg", *command, "-q")
        record.add("peak memory, 4000 x 3000", peak_memory(*words) / 1e6, "MB", at_most=700)
        write_photograph(path, 10_000, 8000)
        started = time.perf_counter()
        peak = peak_memory(*words) / 1e9
        record.add("pfeseg segment, 80 megapixels", time.perf_counter() - started, "s")
        record.add("peak memory, 80 megapixels", peak, "GB", at_most=4)


def working_size(record: Record) -> None:
    """Tell what a finer working size costs, through all stages."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "photograph.jpg"
        image = write_photograph(path, 3840, 2560)
        per_pixel = {}
        for size in (120, 240, 480, 960):
            settings = Settings(max_size=size)
            stages = min(
                (working_seconds(image, settings) for _ in range(3 if size < 500 else 2)),
            )
            words = ("segment", path, "-o", folder, "--overwrite", "--max-size", size)
            (command,) = best_of(1, pfeseg(*words))
            peak = peak_memory("-m", "pfeseg", *words, "-q")
            per_pixel[size] = stages / (size * size * 2 / 3)
            measured = ((stages, "s"), (command, "s"), (peak / 1e6, "MB"))
            for part, (value, unit) in zip(SIZE_PARTS, measured, strict=True):
                record.add(f"--max-size {size}: {part}", value, unit)
        record.add(
            "time per working pixel, 960 / 120", per_pixel[960] / per_pixel[120], at_most=1.5
        )


def working_seconds(image: np.ndarray, settings: Settings) -> float:
    """Return the time of the stages that depend on the working size."""
    timings = segment(image, settings).timings
    return sum(timings[stage] for stage in ("graph", "init", "embed", "hierarchy"))


PARTS: dict[str, Callable[[Record], None]] = {
    "start_up": start_up,
    "default": default,
    "solver": solver,
    "large": large,
    "working_size": working_size,
}


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("parts", nargs="*", choices=[*PARTS, []], help="all unless given")
    parser.add_argument("--json", type=Path, help="file to write the figures to")
    parser.add_argument(
        "--pages", type=Path, nargs="+", default=[], help="files whose tables get the figures"
    )
    chosen = parser.parse_args()
    record = Record(describe_machine())
    print(", ".join(f"{name} {value}" for name, value in record.machine.items()))
    for part in chosen.parts or PARTS:
        PARTS[part](record)
    if chosen.json:
        record.write(chosen.json)
    for page in chosen.pages:
        write_into_page(record, page)
    missed = [figure.what for figure in record.figures if figure.reached is False]
    print(f"{len(missed)} target(s) missed" + "".join(f"\n  {what}" for what in missed))


if __name__ == "__main__":
    main()
