"""Search for the weights of the hierarchy on training images, one weight at a time.

python benchmarks/tune.py BSDS500 --step 2

Everything up to the region graphs is computed once; a trial only merges and scores. Goes
through all weights, tries each a step larger and smaller, and keeps what raises

    covering + PRI - VI / 4  (all at one level, the best)  +  half of the same of OIS.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
from evaluation import compare_levels, every, load, map_items

from pfeseg import PreparedImage, Settings, enlarge_labels, hierarchy
from pfeseg.contours import CUES, EdgeMaps, contrasts, ridges
from pfeseg.dataset import Item
from pfeseg.hierarchy import Hierarchy, RegionGraph, basins, region_graph, unit_rows
from pfeseg.metrics import Comparison, Measured

STEP = 1.3
CUE_NAMES = tuple(f"contrast of {cue.what} at {cue.reach}" for cue in CUES)
STEP_NAME, AREA_NAME = "step of the embedding", "area exponent"
REGION_NAMES = {f"regions' {name}": name for name in hierarchy.REGION_WEIGHTS}

Weights = dict[str, float]


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """One image up to its region graph; `parts` are the contrasts that weights add up."""

    base: np.ndarray
    graph: RegionGraph
    parts: np.ndarray
    truths: list[np.ndarray]


def shipped_weights() -> Weights:
    """Return the weights of the package."""
    found = {name: cue.weight for name, cue in zip(CUE_NAMES, CUES, strict=True)}
    found[STEP_NAME] = hierarchy.EMBEDDING_STEP_WEIGHT
    found |= {long: hierarchy.REGION_WEIGHTS[short] for long, short in REGION_NAMES.items()}
    found[AREA_NAME] = hierarchy.AREA_EXPONENT
    return found


def prepare(item: Item) -> Prepared:
    """Compute the region graph of one image, each contrast by itself."""
    image, truths = load(item)
    prepared = PreparedImage(image, Settings().changed(threads=1), once=True)
    result = prepared.cut(8)
    assert result.embedding is not None
    assert result.graph is not None
    height, width = result.small_image.shape[:2]
    Y = unit_rows(result.embedding.Y, result.graph.degrees).reshape(height, width, -1)
    appearance = prepared.describe()
    found = contrasts(appearance)
    base = basins(ridges(found))

    def contrast_of(maps: EdgeMaps) -> tuple[RegionGraph, np.ndarray]:
        graph = region_graph(base, appearance, maps, Y)
        return graph, graph.contrasts

    nothing = tuple(np.zeros_like(m) for m in found[0][1])
    graph, with_step = contrast_of((nothing[0], nothing[1]))
    parts = [contrast_of(maps)[1] - with_step for _, maps in found]
    parts.append(with_step / hierarchy.EMBEDDING_STEP_WEIGHT)
    full = enlarge_labels(base, (image.shape[0], image.shape[1]))
    return Prepared(full, graph, np.stack(parts, axis=1), truths)


def score_image(prepared: Prepared, weights: Weights) -> list[Comparison]:
    """Merge one image by some weights and score its levels."""
    names = [*CUE_NAMES, STEP_NAME]
    contrast = prepared.parts @ np.array([weights[name] for name in names])
    graph = dataclasses.replace(prepared.graph, contrasts=contrast)
    hierarchy.REGION_WEIGHTS.update({short: weights[long] for long, short in REGION_NAMES.items()})
    before = hierarchy.AREA_EXPONENT
    hierarchy.AREA_EXPONENT = weights[AREA_NAME]
    try:
        tree: Hierarchy = hierarchy.merge_basins(prepared.base, graph)
    finally:
        hierarchy.AREA_EXPONENT = before
    return compare_levels(tree, prepared.truths)


def objective(images: list[Prepared], weights: Weights, jobs: int) -> tuple[float, str]:
    """Return the figure to be raised, and a line about it."""
    compared = map_items(score_image, images, [weights], jobs)
    measured = Measured(
        covered=np.array([[c.covered for c in levels] for levels in compared]),
        pixels=np.array([levels[0].region_sizes.sum() for levels in compared]),
        pri=np.array([[c.pri for c in levels] for levels in compared]),
        vi=np.array([[c.vi for c in levels] for levels in compared]),
    )
    once = np.ones((1, len(compared)))
    covering, pri, vi = (figure[0] for figure in measured.by_setting(once))
    together = covering + pri - vi / 4
    best = int(together.argmax())
    ois = measured.ois(once)[0]
    line = f"{covering[best]:.4f} / {pri[best]:.4f} / {vi[best]:.4f} at level {(best + 1) / 100}"
    return float(together[best] + (ois[0] + ois[1] - ois[2] / 4) / 2), line


def main() -> None:
    """Search, and print every improvement."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of BSDS500")
    parser.add_argument("--step", type=int, default=1, help="take every so many images")
    parser.add_argument("--rounds", type=int, default=2)
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    images = map_items(prepare, every(chosen.root, "train", chosen.step), [], chosen.jobs)
    weights = shipped_weights()
    best, line = objective(images, weights, chosen.jobs)
    print(f"{len(images)} training images; start: {best:.4f}, {line}", flush=True)
    for _ in range(chosen.rounds):
        for name in weights:
            for factor in (STEP, 1 / STEP):
                trial = {**weights, name: weights[name] * factor}
                value, line = objective(images, trial, chosen.jobs)
                if value > best:
                    best, weights = value, trial
                    print(f"{name} = {trial[name]:.4g}: {best:.4f}, {line}", flush=True)
                    break
    for name, weight in weights.items():
        print(f"{name}: {weight:.4g}")


if __name__ == "__main__":
    main()
