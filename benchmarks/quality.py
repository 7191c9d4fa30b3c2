"""Compare the default with what else can be installed: tuned on train, judged on val of BSDS500.

Run it with ``make bench-quality``, which needs BSDS500_ROOT; it takes about half an hour on two
processors. Every rival has a grid of settings. The one with the best covering on the training
images is taken for all of val; OIS lets each val image and metric have its best of the grid.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from evaluation import compare_contours, every, figures, load, map_items
from numpy.typing import NDArray
from scores import Table
from threadpoolctl import threadpool_limits

from pfeseg import Clusters, Settings, clean_regions, downsample, enlarge_labels, segment
from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.levels import compare_levels
from pfeseg.image.arrays import as_raster
from pfeseg.image.colour import to_lab
from pfeseg.labels.boundaries import BoundaryCounts, summarise_boundaries
from pfeseg.labels.metrics import Comparison, compare, summarise

Labels = NDArray[np.integer[Any]]
Grid = Iterator[tuple[str, Labels]]

CLEAN_SHARE = 0.005


def felzenszwalb_grid(image: NDArray[np.uint8]) -> Grid:
    """Felzenszwalb and Huttenlocher's method in scikit-image."""
    from skimage.segmentation import felzenszwalb

    for sigma in (0.8, 1.5):
        for scale in (200, 400, 700, 1000, 1500):
            labels = felzenszwalb(image, scale=scale, sigma=sigma, min_size=image.shape[0] * 4)
            yield f"scale={scale}, sigma={sigma}", labels


def slic_grid(image: NDArray[np.uint8]) -> Grid:
    """SLIC superpixels merged by mean CIELAB colour, both in scikit-image."""
    from skimage.graph import merge_hierarchical, rag_mean_color
    from skimage.segmentation import slic

    lab = as_raster(image).lab()
    superpixels = slic(image, n_segments=300, compactness=10, start_label=0)
    for threshold in (6, 9, 12, 15, 18, 22, 26):
        graph = rag_mean_color(lab, superpixels)
        yield (
            f"threshold={threshold}",
            merge_hierarchical(
                superpixels, graph, thresh=threshold, rag_copy=False, in_place_merge=True,
                merge_func=_merge_means, weight_func=_mean_distance,
            ),
        )  # fmt: skip


def _merge_means(graph: Any, source: int, target: int) -> None:
    for name in ("total color", "pixel count"):
        graph.nodes[target][name] = graph.nodes[target][name] + graph.nodes[source][name]
    graph.nodes[target]["mean color"] = (
        graph.nodes[target]["total color"] / graph.nodes[target]["pixel count"]
    )


def _mean_distance(graph: Any, source: int, target: int, neighbour: int) -> dict[str, float]:
    difference = graph.nodes[target]["mean color"] - graph.nodes[neighbour]["mean color"]
    return {"weight": float(np.linalg.norm(difference))}


def spectral_grid(image: NDArray[np.uint8]) -> Grid:
    """Spectral clustering of scikit-learn on its own pixel graph, at a quarter of the size."""
    from sklearn.cluster import spectral_clustering
    from sklearn.feature_extraction.image import img_to_graph

    small = downsample(image, 4).mean(axis=2)
    graph = img_to_graph(small)
    graph.data = np.exp(-graph.data / graph.data.std()) + 1e-6
    for k in (3, 5, 7, 10, 14):
        flat = spectral_clustering(graph, n_clusters=k, eigen_solver="arpack", random_state=0)
        yield f"k={k}", enlarge_labels(flat.reshape(small.shape), _size(image))


def mixture_grid(image: NDArray[np.uint8]) -> Grid:
    """Gaussian mixture of CIELAB colours in scikit-learn, made connected, small pieces absorbed."""
    from sklearn.mixture import GaussianMixture

    lab = to_lab(downsample(image, 4))
    for k in (2, 3, 4, 6, 8):
        model = GaussianMixture(k, random_state=0).fit(lab.reshape(-1, 3))
        flat = model.predict(lab.reshape(-1, 3)).reshape(lab.shape[:2])
        labels = enlarge_labels(flat, _size(image))
        yield f"k={k}", clean_regions(labels, image, CLEAN_SHARE * labels.size)


def paper_grid(image: NDArray[np.uint8]) -> Grid:
    """Run the paper preset with k = d."""
    for d in (5, 6, 8, 10, 15):
        yield f"d={d}", segment(image, Settings.preset("paper", n_dims=d), threads=1).labels


def clusters_grid(image: NDArray[np.uint8]) -> Grid:
    """Give numbers of clusters, as on the command line."""
    yield "d=15, k=8", segment(image, Settings(n_dims=15, cut=Clusters(8)), threads=1).labels
    yield "d=8, k=5", segment(image, Settings(n_dims=8, cut=Clusters(5)), threads=1).labels


def automatic_grid(image: NDArray[np.uint8]) -> Grid:
    """Let the number of clusters be chosen, or the dimension too."""
    yield "k=auto", segment(image, Settings(cut=Clusters("auto")), threads=1).labels
    yield (
        "d=auto, k=auto",
        segment(image, Settings(n_dims="auto", cut=Clusters("auto")), threads=1).labels,
    )


RIVALS: dict[str, Callable[[NDArray[np.uint8]], Grid]] = {
    "felzenszwalb (scikit-image)": felzenszwalb_grid,
    "SLIC + merging (scikit-image)": slic_grid,
    "spectral clustering (scikit-learn)": spectral_grid,
    "GMM, cleaned (scikit-learn)": mixture_grid,
    "pfeseg, paper preset": paper_grid,
}

GIVEN: dict[str, Callable[[NDArray[np.uint8]], Grid]] = {
    "pfeseg, clusters": clusters_grid,
    "pfeseg, automatic clusters": automatic_grid,
}
"""What has no setting to be tuned; every setting has a row."""

DEFAULT = "pfeseg, default"


def _size(image: NDArray[Any]) -> tuple[int, int]:
    return image.shape[0], image.shape[1]


def run_rival(item: Item, rival: str) -> tuple[list[str], list[Comparison], float]:
    """Score one image with every setting of a rival; seconds are processor time of one setting."""
    image, truths = load(item)
    started = time.process_time()
    with threadpool_limits(1):  # threads that wait for each other would count
        grid = list((RIVALS | GIVEN)[rival](image))
    seconds = (time.process_time() - started) / len(grid)
    return [name for name, _ in grid], [compare(labels, truths) for _, labels in grid], seconds


def run_default(
    item: Item, seed: int
) -> tuple[list[Comparison], Comparison, float, list[BoundaryCounts], list[Comparison]]:
    """Score all levels, the labels as written, the contours, and as many regions as each person."""
    image, truths = load(item)
    started = time.process_time()
    result = segment(image, Settings(seed=seed), threads=1)
    seconds = time.process_time() - started
    assert result.hierarchy is not None
    levels = compare_levels(result.hierarchy, truths)
    contours = compare_contours(result.hierarchy, item)
    as_many = [
        compare(result.hierarchy.with_regions(len(np.unique(truth))), [truth]) for truth in truths
    ]
    return levels, compare(result.labels, truths), seconds, contours, as_many


def main() -> None:
    """Print the table as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    root = os.environ.get("BSDS500_ROOT")
    parser.add_argument("root", type=Path, nargs="?", default=root, help="folder of BSDS500")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--tune-step", type=int, default=4, help="tune on every so many of train")
    parser.add_argument("--step", type=int, default=1, help="judge on every so many of val")
    parser.add_argument("--seeds", type=int, default=1, help="runs of the default")
    parser.add_argument("--only", default="", help="part of the names of the rows to compute")
    parser.add_argument("--json", type=Path, help="file whose rows are replaced by those computed")
    parser.add_argument(
        "--pages", type=Path, nargs="+", default=[], help="files whose tables get the figures"
    )
    chosen = parser.parse_args()
    if chosen.root is None:
        sys.exit("set BSDS500_ROOT to the folder of BSDS500, or give it as argument")
    train = every(Path(chosen.root), "train", chosen.tune_step)
    val = every(Path(chosen.root), "val", chosen.step)
    table = Table(len(train), len(val), chosen.json, chosen.pages)
    print(f"covering / PRI / VI on {len(val)} images of val; tuned on {len(train)} of train\n")
    print("| method | one setting for all | setting | best per image (OIS) | s/image |")
    print("|---|---|---|---|---|")
    for rival in [name for name in RIVALS if chosen.only in name]:
        tuning = map_items(run_rival, train, [rival], chosen.jobs)
        best = summarise([r[1] for r in tuning]).ods_settings[0]
        results = map_items(run_rival, val, [rival], chosen.jobs)
        one = summarise([[r[1][best]] for r in results]).ods
        ois = summarise([r[1] for r in results]).ois
        seconds = float(np.mean([r[2] for r in results]))
        table.add(rival, results[0][0][best], one, ois, seconds)
    for given in [name for name in GIVEN if chosen.only in name]:
        results = map_items(run_rival, val, [given], chosen.jobs)
        for k, name in enumerate(results[0][0]):
            table.add(given, name, summarise([[r[1][k]] for r in results]).ods)
    if chosen.only in DEFAULT:
        for seed in range(chosen.seeds):
            judge_default(table, val, seed, chosen.jobs)


def judge_default(table: Table, val: list[Item], seed: int, jobs: int) -> None:
    """Add the row of the default, and print what there is to say of its hierarchy."""
    results = map_items(run_default, val, [seed], jobs)
    levels = summarise([r[0] for r in results])
    written = summarise([[r[1]] for r in results]).ods
    seconds = float(np.mean([r[2] for r in results]))
    name = DEFAULT if seed == 0 else f"{DEFAULT}, seed {seed}"
    table.add(name, "level=0.5", written, levels.ois, seconds)
    contours = summarise_boundaries([r[3] for r in results])
    as_many = summarise([[compared] for r in results for compared in r[4]]).ods
    print(
        f"\nHierarchy, official protocol of 99 thresholds: ODS {figures(levels.ods)}, OIS "
        f"{figures(levels.ois)}; boundaries: F {contours.ods.f:.3f} (precision "
        f"{contours.ods.precision:.3f}, recall {contours.ods.recall:.3f}), OIS "
        f"{contours.ois.f:.3f}, average precision {contours.average_precision:.3f}; with as "
        f"many regions as each person: {figures(as_many)}.\n",
        flush=True,
    )


if __name__ == "__main__":
    main()
