"""Measure speed and memory, as ratios within one run, beside their targets.

Run it with ``make bench``; it takes a few minutes. The image is a part of
sample_images/coffee.jpg of 481 x 321 pixels, the size of the BSDS images, and
the settings are the paper preset's with d = 15.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from PIL import Image

from pfeseg import Graph, Settings, build_pixel_graph, downsample, embed, gmm_initial_embedding
from pfeseg.kernels import available_threads, variant

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests"))
from reference import KroneckerForm  # noqa: E402

PAPER = Settings.preset("paper")
MEMORY_PROGRAM = """
import resource, sys
import imageio.v3 as iio, numpy as np
from pfeseg import Settings, segment
image = np.tile(iio.imread(sys.argv[1])[:400, :500], (3, 2, 1))[:1000]
assert image.shape[:2] == (1000, 1000)
segment(image, Settings.preset("paper", downsample=1))
print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9)
"""


PEAK_PROGRAM = """
import resource, subprocess, sys
subprocess.run([sys.executable, *sys.argv[1:]], check=True)
print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss * 1024 / 1e9)
"""


def best_of(repeats: int, *actions: Callable[[], object]) -> list[float]:
    """Return the shortest time of each action; they take turns, as machines are noisy."""
    times: list[list[float]] = [[] for _ in actions]
    for _ in range(repeats):
        for action, taken in zip(actions, times, strict=True):
            started = time.perf_counter()
            action()
            taken.append(time.perf_counter() - started)
    return [min(taken) for taken in times]


def python(*words: str) -> Callable[[], object]:
    """Return an action that runs Python with these words."""
    line = [sys.executable, *words]
    return lambda: subprocess.run(line, stdout=subprocess.DEVNULL, check=True)


def problem(factor: float) -> tuple[Graph, np.ndarray]:
    """Return the graph and the start at one working resolution."""
    image = iio.imread(ROOT / "sample_images" / "coffee.jpg")[:321, :481]
    small = downsample(image, factor)
    return build_pixel_graph(small), gmm_initial_embedding(small, 15)


def report(what: str, figure: str, target: str) -> None:
    """Print one row."""
    print(f"{what:62} {figure:>12}   {target}", flush=True)


def solver_ratios() -> None:
    """Compare the PCG path with its rivals and with itself on more pixels."""
    graph, Y0 = problem(4)
    solver = PAPER.solver
    pcg, one_thread, direct = best_of(
        4,
        lambda: embed(graph, Y0, solver),
        lambda: embed(graph, Y0, solver, threads=1),
        lambda: embed(graph, Y0, replace(solver, linear_solver="direct")),
    )
    report(
        f"PCG, n = {graph.n_nodes}, rtol 1e-3, {available_threads()} threads", f"{pcg:.3f} s", ""
    )
    report("PCG, one thread", f"{one_thread:.3f} s", "")
    report("direct (SuperLU, factorised once)", f"{direct:.2f} s", "")
    report("direct / PCG", f"{direct / pcg:.1f}", "at least 6")

    large, large_Y0 = problem(1)
    (large_pcg,) = best_of(2, lambda: embed(large, large_Y0, solver))
    per_pixel = large_pcg / large.n_nodes / (pcg / graph.n_nodes)
    report(f"PCG, n = {large.n_nodes}", f"{large_pcg:.2f} s", "")
    report("time per pixel, large / small", f"{per_pixel:.2f}", "at most 1.6")
    few, many = (
        sum(record.pcg_iterations for record in embed(g, start, solver).history)
        for g, start in ((graph, Y0), (large, large_Y0))
    )
    report("of that, PCG iterations, large / small", f"{many / few:.2f}", "")

    exact = embed(graph, Y0, replace(solver, linear_solver="direct")).Y
    error = np.abs(embed(graph, Y0, solver).Y - exact).max() / np.abs(exact).max()
    report("PCG's largest error, of the largest entry of Y", f"{error:.1e}", "")

    (kronecker,) = best_of(1, lambda: KroneckerForm(graph, 15, solver).embed(Y0))
    report("Kronecker form, solved afresh each iteration", f"{kronecker:.1f} s", "")
    report("Kronecker / PCG", f"{kronecker / pcg:.0f}", "at least 150")


def memory() -> None:
    """Measure the peak memory of a whole segmentation of a million pixels."""
    command = [sys.executable, "-c", MEMORY_PROGRAM, str(ROOT / "sample_images" / "coffee.jpg")]
    run = subprocess.run(command, capture_output=True, text=True, check=True)
    report("peak memory, 1000 x 1000 pixels, d = 15", f"{float(run.stdout):.2f} GB", "at most 1.2")


def whole_command() -> None:
    """Compare segmenting a photograph, start to finish, with the paper preset and an import."""
    imports = "import sklearn.mixture, sklearn.cluster, skimage.transform"
    picture = iio.imread(ROOT / "sample_images" / "coffee.jpg")
    for height, width in ((321, 481), (400, 600)):
        with tempfile.TemporaryDirectory() as folder:
            photograph = Path(folder) / "photograph.png"
            iio.imwrite(photograph, picture[:height, :width])
            command = ("-m", "pfeseg", "segment", str(photograph), "-q", "--overwrite")
            ours, paper, libraries = best_of(
                8, python(*command), python(*command, "--preset", "paper"), python("-c", imports)
            )
        report(f"pfeseg segment, {width} x {height}, start to finish", f"{ours:.2f} s", "")
        report("the same with --preset paper", f"{paper:.2f} s", "")
        report("default / paper preset", f"{ours / paper:.2f}", "at most 1")
        report("paper preset / importing scikit-learn", f"{paper / libraries:.2f}", "at most 2")


def large_photographs() -> None:
    """Compare segmenting a photograph of 12 megapixels with SLIC, and measure memory at 80."""
    from skimage.segmentation import slic

    with tempfile.TemporaryDirectory() as folder:
        photograph, vast = Path(folder) / "photograph.jpg", Path(folder) / "vast.jpg"
        for path, size in ((photograph, (4000, 3000)), (vast, (10000, 8000))):
            enlarge_photograph(size).save(path, quality=90)
        command = ("-m", "pfeseg", "segment", "-q", "--overwrite")
        image = iio.imread(photograph)
        ours, rival = best_of(
            3, python(*command, str(photograph)), lambda: slic(image, n_segments=100)
        )
        report("pfeseg segment, 4000 x 3000, start to finish", f"{ours:.2f} s", "")
        report("the same / slic(image, n_segments=100)", f"{ours / rival:.2f}", "at most 0.33")
        for path, size, target in (
            (photograph, "4000 x 3000", "at most 0.70"),
            (vast, "10000 x 8000", "at most 4"),
        ):
            run = subprocess.run(
                [sys.executable, "-c", PEAK_PROGRAM, *command, str(path)],
                capture_output=True,
                text=True,
                check=True,
            )
            report(f"peak memory of the same, {size}", f"{float(run.stdout):.2f} GB", target)


def enlarge_photograph(size: tuple[int, int]) -> Image.Image:
    """Make a photograph of a size (width, height), with the noise of a camera."""
    with Image.open(ROOT / "sample_images" / "coffee.jpg") as small:
        picture = np.asarray(small.resize(size, Image.Resampling.LANCZOS))
    noise = np.random.default_rng(0).integers(-5, 6, picture.shape, dtype=np.int8)
    return Image.fromarray(np.clip(picture + noise.astype(np.int16), 0, 255).astype(np.uint8))


def start_up() -> None:
    """Compare the help page with what its library alone needs."""
    ours, click = best_of(15, python("-m", "pfeseg", "--help"), python("-c", "import click"))
    report("pfeseg --help / import click", f"{ours / click:.2f}", "at most 1.5")


if __name__ == "__main__":
    print(f"kernels: {variant()}; {available_threads()} processors")
    start_up()
    whole_command()
    large_photographs()
    memory()
    solver_ratios()
