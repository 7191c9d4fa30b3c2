"""Search for the weights of the hierarchy on training images, one weight at a time.

python benchmarks/tune.py BSDS500

Everything up to the region graphs is computed once, for several seeds, so that the weights do
not lean on the accidents of one; a trial only merges and scores. Goes through all weights,
tries each a step larger and smaller, halves the step after each round, and keeps what raises

    covering + PRI - VI / 4  (all at one level, the best)  +  half of the same of OIS
    +  the mean of the F of boundaries with one level for all and with the best for each image.

F is estimated: a boundary between two regions is right as far as it lies near human ones, and finds
those that lie nearest to it. A weight of 0 stays 0.
"""

from __future__ import annotations

import argparse
import dataclasses
from multiprocessing import get_context
from multiprocessing.pool import Pool
from pathlib import Path
from typing import Any

import numpy as np
from evaluation import every, load, map_items

from pfeseg import Hierarchy, PreparedImage, Settings, enlarge_labels, refine_labels
from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.levels import compare_merges
from pfeseg.files.matlab import UCM_THRESHOLDS, read_true_boundaries
from pfeseg.labels.boundaries import TOLERANCE, BoundaryCounts, summarise_boundaries
from pfeseg.labels.maps import boundary_edges, find_boundaries
from pfeseg.labels.metrics import Measured, contingency_tables
from pfeseg.regions import merging
from pfeseg.regions.appearance import describe
from pfeseg.regions.cues import CUES, EdgeMaps, contrasts
from pfeseg.regions.merging import RegionGraph, find_base, merge_basins, region_graph, unit_rows

FIRST_STEP = 1.6
CUE_NAMES = tuple(f"contrast of {'fine ' * cue.fine}{cue.what} at {cue.reach}" for cue in CUES)
STEP_NAME, AREA_NAME = "step of the embedding", "area exponent"
REGION_NAMES = {f"regions' {name}": name for name in merging.REGION_WEIGHTS}

Weights = dict[str, float]

IMAGES: list[Prepared] = []
"""All images; the processes that score them are forked once it is filled, and so inherit it."""


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """One image up to its region graph; `parts` are the contrasts that weights add up.

    `tables` are the contingency tables of its finest regions at full size. `drawn` and `right` are
    the pixels of each boundary between two of them, and those of these that lie near human ones;
    `found` are the human ones that lie nearest to it, of `human` in all.
    """

    base: np.ndarray
    graph: RegionGraph
    parts: np.ndarray
    tables: list[np.ndarray]
    drawn: np.ndarray
    right: np.ndarray
    found: np.ndarray
    human: int


def shipped_weights() -> Weights:
    """Return the weights of the package."""
    found = {name: cue.weight for name, cue in zip(CUE_NAMES, CUES, strict=True)}
    found[STEP_NAME] = merging.EMBEDDING_STEP_WEIGHT
    found |= {long: merging.REGION_WEIGHTS[short] for long, short in REGION_NAMES.items()}
    found[AREA_NAME] = merging.AREA_EXPONENT
    return found


def prepare(item: Item, seed: int) -> Prepared:
    """Compute the region graph of one image, each contrast by itself."""
    image, truths = load(item)
    prepared = PreparedImage(image, Settings(seed=seed), once=True, threads=1)
    d = int(prepared.settings.n_dims)
    embedded = prepared.place("pfe", d, d).coordinates.rows
    Y = unit_rows(embedded, prepared.graph.degrees).reshape(*prepared.small.shape, -1)
    appearance = describe(prepared.detail, prepared.small.shape, prepared.rgb.shape, seed)
    found = contrasts(appearance)
    base = find_base(found, appearance)

    def contrast_of(maps: EdgeMaps) -> tuple[RegionGraph, np.ndarray]:
        graph = region_graph(base, appearance, maps, Y)
        return graph, graph.contrasts

    nothing = tuple(np.zeros_like(m) for m in found[0][1])
    graph, with_step = contrast_of((nothing[0], nothing[1]))
    parts = [contrast_of(maps)[1] - with_step for _, maps in found]
    parts.append(with_step / merging.EMBEDDING_STEP_WEIGHT)
    full = refine_labels(base, prepared.rgb)
    tables = all_columns(full, base, truths)
    near = boundaries_near(base, graph.pairs, read_true_boundaries(item.ground_truth))
    return Prepared(base, graph, np.stack(parts, axis=1), tables, *near)


def boundaries_near(
    base: np.ndarray, pairs: np.ndarray, truths: list[np.ndarray]
) -> tuple[np.ndarray, np.ndarray, np.ndarray, int]:
    """Count, for each pair of regions, the boundary pixels that are right and those they find."""
    from scipy.ndimage import distance_transform_edt

    truths = [enlarge_labels(truth.astype(np.int32), base.shape) > 0 for truth in truths]
    tolerance = TOLERANCE * np.hypot(*base.shape)
    marks = find_boundaries(base)
    pair_at = np.full(base.shape, -1)
    edge = boundary_edges(base)[1]
    n_right = base.shape[0] * (base.shape[1] - 1)
    pair_at[:-1] = edge[n_right:].reshape(base.shape[0] - 1, base.shape[1])
    to_the_right = edge[:n_right].reshape(base.shape[0], base.shape[1] - 1)
    pair_at[:, :-1] = np.where(to_the_right >= 0, to_the_right, pair_at[:, :-1])
    right = np.zeros(base.shape, dtype=bool)
    found = np.zeros(len(pairs))
    distance, (y, x) = distance_transform_edt(~marks, return_indices=True)
    for truth in truths:
        right |= distance_transform_edt(~truth) <= tolerance
        reached = truth & (distance <= tolerance)
        found += np.bincount(pair_at[y[reached], x[reached]], minlength=len(pairs))
    of = pair_at[marks]
    drawn = np.bincount(of, minlength=len(pairs)).astype(float)
    return drawn, np.bincount(of, right[marks], len(pairs)), found, sum(map(np.sum, truths))


def all_columns(full: np.ndarray, base: np.ndarray, truths: list[np.ndarray]) -> list[np.ndarray]:
    """Count pixels, with a column for the regions too that full size has lost."""
    present = np.unique(full)
    tables = []
    for found in contingency_tables(full, truths):
        table = np.zeros((len(found), int(base.max()) + 1))
        table[:, present] = found
        tables.append(table)
    return tables


def score_image(index: int, weights: Weights) -> tuple[Any, ...]:
    """Merge one image by some weights; returns covered, PRI, VI and counts at each level."""
    prepared = IMAGES[index]
    names = [*CUE_NAMES, STEP_NAME]
    contrast = prepared.parts @ np.array([weights[name] for name in names])
    graph = dataclasses.replace(prepared.graph, contrasts=contrast)
    merging.REGION_WEIGHTS.update({short: weights[long] for long, short in REGION_NAMES.items()})
    merging.AREA_EXPONENT = weights[AREA_NAME]
    tree = merge_basins(prepared.base, graph)
    levels = compare_merges(prepared.tables, tree.merges, tree.levels)
    figures = [c.covered for c in levels], [c.pri for c in levels], [c.vi for c in levels]
    return *figures, boundary_counts(prepared, tree)


def boundary_counts(prepared: Prepared, tree: Hierarchy) -> list[list[float]]:
    """Estimate what is drawn, right, human and found at each level."""
    level = tree.boundary_levels(prepared.graph.pairs)
    last = np.searchsorted(UCM_THRESHOLDS, level, side="right")  # thresholds it survives

    def surviving(values: np.ndarray) -> np.ndarray:
        counts = np.bincount(last, values, len(UCM_THRESHOLDS) + 1)
        return counts[::-1].cumsum()[::-1][1:]

    human = np.full(len(UCM_THRESHOLDS), float(prepared.human))
    drawn, right = surviving(prepared.drawn), surviving(prepared.right)
    return np.stack([drawn, right, human, surviving(prepared.found)], axis=1).tolist()


def objective(pool: Pool, weights: Weights) -> tuple[float, str]:
    """Return the figure to be raised, and a line about it."""
    scored = pool.starmap(score_image, [(k, weights) for k in range(len(IMAGES))], chunksize=5)
    covered, pri, vi, counts = map(np.array, zip(*scored, strict=True))
    contours = summarise_boundaries([[BoundaryCounts(*c) for c in image] for image in counts])
    f = contours.ods.f, contours.ois.f
    pixels = np.array([sum(table.sum() for table in image.tables) for image in IMAGES])
    measured = Measured(covered, pixels, pri, vi)
    once = np.ones((1, len(IMAGES)))
    covering, pri, vi = (figure[0] for figure in measured.by_setting(once))
    together = covering + pri - vi / 4
    best = int(together.argmax())
    ois = measured.ois(once)[0]
    line = f"{covering[best]:.4f} / {pri[best]:.4f} / {vi[best]:.4f}"
    line += f" at level {UCM_THRESHOLDS[best]:.2f}, OIS " + " / ".join(f"{x:.4f}" for x in ois)
    line += f", F {f[0]:.4f}, {f[1]:.4f}"
    return float(together[best] + (ois[0] + ois[1] - ois[2] / 4) / 2 + sum(f) / 2), line


def main() -> None:
    """Prepare the images and search."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of BSDS500")
    parser.add_argument("--step", type=int, default=1, help="take every so many images")
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    items = every(chosen.root, "train", chosen.step)
    for seed in range(chosen.seeds):
        IMAGES.extend(map_items(prepare, items, [seed], chosen.jobs))
    with get_context("fork").Pool(chosen.jobs) as pool:
        print(f"{len(items)} images, {chosen.seeds} seeds", flush=True)
        search(pool, chosen.rounds)


def search(pool: Pool, rounds: int) -> None:
    """Go through the weights, and print every improvement and the outcome."""
    weights = shipped_weights()
    best, line = objective(pool, weights)
    print(f"start: {best:.4f}, {line}", flush=True)
    for k in range(rounds):
        for name in weights:
            for factor in (FIRST_STEP ** (0.5**k), FIRST_STEP ** -(0.5**k)):
                trial = {**weights, name: weights[name] * factor}
                if trial == weights:
                    break
                value, line = objective(pool, trial)
                if value > best:
                    best, weights = value, trial
                    print(f"{name} = {trial[name]:.4g}: {best:.4f}, {line}", flush=True)
                    break
    for name, weight in weights.items():
        print(f"{name}: {weight:.4g}")


if __name__ == "__main__":
    main()
