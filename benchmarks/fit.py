"""Fit the weights by which regions are merged to training images, by logistic regression.

python benchmarks/fit.py BSDS500

Every image is merged by some weights, at first by a few simple ones. Wherever its regions number
one of `COUNTS`, each pair of touching ones is a sample: its features, and the chance that a pixel
of the one and a pixel of the other are in different regions for the people who cut the image. The
fitted weights merge all images once more, and so on, so that the weights have seen what they lead
to. Prints them as `pfeseg/regions/chance.py` has them: the same ones each time.

Each image is prepared with several seeds, so that the weights do not follow the noise of one.

Some images are shown once more with every human region painted in its mean colour: else the weights
would know photographs only, in which no boundary is without texture, and merge what is drawn.
Others are shown shrunk, so that sharpness alone does not decide.

The odds that are even to people need not be the best to stop at: the bias is moved to where
covering + PRI - VI / 4 is largest at level 1/2.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path

import numpy as np
from evaluation import every, figures, load, map_items

from pfeseg import PreparedImage, Settings, downsample
from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.levels import compare_merges
from pfeseg.files.matlab import UCM_THRESHOLDS
from pfeseg.labels.metrics import contingency_tables, summarise
from pfeseg.regions.chance import CHANCE, Chance, Curve
from pfeseg.regions.graph import Comparison, RegionGraph, compared_by, region_graph
from pfeseg.regions.levels import to_log_odds
from pfeseg.regions.merging import merge_basins, unit_rows

COUNTS = (60, 45, 35, 27, 20, 15, 11, 8, 6, 4, 3)
"""Numbers of regions at which samples are taken."""

CAP_QUANTILE = 0.95
"""Features beyond those of this share of the samples count as no more."""

SHRINKAGE = 1e-3
"""Weight of the squares of the weights, of features of unit variance."""

ROUNDS = 3
"""Each merges by the weights of the last; the samples of the first, by `START`, are dropped."""

_NOTHING = Curve(0.0, 0.0, 1.0)
START = dataclasses.replace(
    CHANCE,
    contrasts=dict.fromkeys(CHANCE.contrasts, _NOTHING) | {"materials at 5": Curve(0.0, 3.0, 1.0)},
    regions=dict.fromkeys(CHANCE.regions, _NOTHING) | {"materials": Curve(3.0, 0.0, 1.0)},
    perimeter=_NOTHING,
    width=_NOTHING,
    smaller=0.5,
    larger=0.0,
    bias=-2.0,
)
"""Simple weights to begin with."""

PAINTED_STEP = 4
PAINTED_WEIGHT = 0.3
"""Every so many images are shown once more, painted in flat colours, and count so much."""

SHRUNK_STEP, FACTORS = 4, (2, 4)
"""Every so many images are shown once more, shrunk by each of these."""

AREA_EXPONENT = 0.5
"""Samples count by the area of the smaller region to this power."""


@dataclasses.dataclass(frozen=True, eq=False)
class Prepared:
    """One image up to its region graph, the tables of its finest regions, and how it counts."""

    base: np.ndarray
    graph: RegionGraph
    tables: list[np.ndarray]
    weight: float


@dataclasses.dataclass(frozen=True, eq=False)
class Samples:
    """Pairs of regions: features (n, f), chance to be apart (n,) and weight (n,)."""

    features: np.ndarray
    apart: np.ndarray
    weight: np.ndarray

    @classmethod
    def joined(cls, parts: list[Samples]) -> Samples:
        """Put samples together."""
        return cls(
            np.concatenate([p.features for p in parts]),
            np.concatenate([p.apart for p in parts]),
            np.concatenate([p.weight for p in parts]),
        )


def prepare(item: Item, seed: int, painted: bool = False, factor: int = 1) -> Prepared:
    """Compute the region graph of one image, painted or shrunk if asked for."""
    image, truths = load(item)
    if painted:
        image, truths = paint(image, truths[0]), truths[:1]
    if factor > 1:
        image, truths = shrink(image, truths, factor)
    prepared = PreparedImage(image, Settings(seed=seed), once=True, threads=1)
    d = prepared.settings.dims_for(prepared.small.shape)
    embedded = prepared.place("pfe", d, d).coordinates.rows
    Y = unit_rows(embedded, prepared.graph.degrees).reshape(*prepared.small.shape, -1)
    outlines = prepared.outlines
    graph = region_graph(outlines.base, outlines.appearance, outlines.found, Y)
    full = prepared.full_labels(outlines.base)
    tables = _tables(full, len(graph.areas), truths)
    return Prepared(outlines.base, graph, tables, PAINTED_WEIGHT if painted else 1.0)


def paint(image: np.ndarray, truth: np.ndarray) -> np.ndarray:
    """Give each human region the mean colour that it has in the image."""
    _, region = np.unique(truth, return_inverse=True)
    region = region.ravel()
    sums = [np.bincount(region, channel.ravel()) for channel in np.moveaxis(image, 2, 0)]
    means = np.stack(sums, axis=1) / np.bincount(region)[:, None]
    return means.round().astype(np.uint8)[region].reshape(image.shape)


def shrink(
    image: np.ndarray, truths: list[np.ndarray], factor: int
) -> tuple[np.ndarray, list[np.ndarray]]:
    """Shrink an image and its ground truths."""
    small = downsample(image, factor)
    rows, columns = (
        np.minimum(factor * np.arange(n) + factor // 2, m - 1)
        for n, m in zip(small.shape[:2], image.shape[:2], strict=True)
    )
    return small, [truth[np.ix_(rows, columns)] for truth in truths]


def _tables(full: np.ndarray, n: int, truths: list[np.ndarray]) -> list[np.ndarray]:
    """Count pixels, with a column for the regions too that full size has lost."""
    present = np.unique(full)
    tables = []
    for found in contingency_tables(full, truths):
        table = np.zeros((len(found), n))
        table[:, present] = found
        tables.append(table)
    return tables


def coarsened(graph: RegionGraph, owner: np.ndarray) -> RegionGraph:
    """Return the graph of groups of its regions."""
    n = int(owner.max()) + 1
    ends = np.sort(owner[graph.pairs], axis=1)
    apart = ends[:, 0] != ends[:, 1]
    keys, index = np.unique(ends[apart, 0] * n + ends[apart, 1], return_inverse=True)

    def over_regions(values: np.ndarray) -> np.ndarray:
        return np.stack([np.bincount(owner, column, n) for column in values.T], axis=1)

    def over_pairs(values: np.ndarray) -> np.ndarray:
        return np.bincount(index, values[apart], len(keys))

    return RegionGraph(
        np.bincount(owner, graph.areas, n),
        {name: over_regions(part) for name, part in graph.sums.items()},
        np.stack(np.divmod(keys, n), axis=1).astype(np.int32),
        over_pairs(graph.lengths),
        {name: over_pairs(part) for name, part in graph.contrasts.items()},
    )


def pair_features(graph: RegionGraph) -> np.ndarray:
    """Return what the merging looks at, for each pair, (m, f).

    Contrasts, differences of regions, share of the perimeter, width, and the logarithms of the
    smaller and the larger area.
    """
    a, b = graph.pairs.T
    perimeters = np.bincount(a, graph.lengths, len(graph.areas))
    perimeters += np.bincount(b, graph.lengths, len(graph.areas))
    found = [part / graph.lengths for part in graph.contrasts.values()]
    for name, part in graph.sums.items():
        means = part / graph.areas[:, None]
        x, y = means[a], means[b]
        if compared_by(name) == Comparison.SMALLER:
            found.append(np.minimum(x, y)[:, 0])
        elif compared_by(name) == Comparison.CHI_SQUARE:
            found.append(0.5 * ((x - y) ** 2 / np.maximum(x + y, 1e-300)).sum(axis=1))
        else:
            found.append(np.sqrt(((x - y) ** 2).sum(axis=1)))
    found.append(graph.lengths / np.minimum(perimeters[a], perimeters[b]))
    widths = graph.areas / perimeters / np.sqrt(graph.areas.sum())
    found.append(np.minimum(widths[a], widths[b]))
    shares = np.log(graph.areas / graph.areas.sum())
    areas = [np.minimum(shares[a], shares[b]), np.maximum(shares[a], shares[b])]
    return np.stack([*found, *areas], axis=1)


def take_samples(prepared: Prepared, chance: Chance) -> Samples:
    """Take the samples of one image, merged by some weights."""
    tree = merge_basins(prepared.base, prepared.graph, chance)
    parts = []
    for count in COUNTS:
        owner = tree.grouped(count)
        graph = coarsened(prepared.graph, owner)
        if not len(graph.pairs):
            continue
        a, b = graph.pairs.T
        apart = np.zeros(len(a))
        for table in prepared.tables:
            inside = np.stack([np.bincount(owner, row) for row in table], axis=1)
            inside /= np.maximum(inside.sum(axis=1, keepdims=True), 1)
            apart += 1 - (inside[a] * inside[b]).sum(axis=1)
        smaller = np.minimum(graph.areas[a], graph.areas[b]) / graph.areas.sum()
        weight = prepared.weight * smaller**AREA_EXPONENT
        parts.append(Samples(pair_features(graph), apart / len(prepared.tables), weight))
    return Samples.joined(parts)


def fit(samples: Samples) -> tuple[Chance, float]:
    """Return the weights of least loss, and the loss.

    What a contrast adds must never fall as it grows. So its curve is a sum of x and of
    ``2 sqrt(cap x) - x``, which is level at the cap, with weights that are not negative.
    """
    from scipy.optimize import minimize

    values, areas = samples.features[:, :-2], samples.features[:, -2:]
    cap = np.array([float(f"{c:.3g}") for c in np.quantile(values, CAP_QUANTILE, axis=0)])
    x = np.minimum(values, cap)
    rows = np.concatenate([x, 2 * np.sqrt(cap * x) - x, areas], axis=1)
    mean, width = rows.mean(axis=0), rows.std(axis=0) + 1e-12
    rows = (rows - mean) / width
    weight = samples.weight / samples.weight.sum()

    def loss(found: np.ndarray) -> tuple[float, np.ndarray]:
        odds = rows @ found[:-1] + found[-1]
        error = weight * (1 / (1 + np.exp(-odds)) - samples.apart)
        value = (weight * (np.logaddexp(0, odds) - samples.apart * odds)).sum()
        value += 0.5 * SHRINKAGE * (found[:-1] ** 2).sum()
        return float(value), np.append(rows.T @ error + SHRINKAGE * found[:-1], error.sum())

    rises = set(range(len(CHANCE.contrasts)))
    rises |= {k + len(cap) for k in rises}
    bounds = [(0, None) if k in rises else (None, None) for k in range(rows.shape[1] + 1)]
    best = minimize(
        loss, np.zeros(len(bounds)), jac=True, method="L-BFGS-B", bounds=bounds,
        options={"maxiter": 300},
    )  # fmt: skip
    weights = best.x[:-1] / width
    line, bend, (smaller, larger) = np.split(weights, [len(cap), 2 * len(cap)])
    curves = [
        Curve(float(p), float(r), float(c))
        for p, r, c in zip(line - bend, 2 * np.sqrt(cap) * bend, cap, strict=True)
    ]
    names = len(CHANCE.contrasts)
    chance = Chance(
        contrasts=dict(zip(CHANCE.contrasts, curves[:names], strict=True)),
        regions=dict(zip(CHANCE.regions, curves[names:-2], strict=True)),
        perimeter=curves[-2],
        width=curves[-1],
        smaller=float(smaller),
        larger=float(larger),
        bias=float(best.x[-1] - weights @ mean),
    )
    return chance, float(best.fun)


def judge(images: list[Prepared], chance: Chance) -> float:
    """Print how good some weights are; returns the best level of one setting for all."""
    compared = []
    for image in images:
        tree = merge_basins(image.base, image.graph, chance)
        compared.append(compare_merges(image.tables, tree.merges, tree.levels))
    by_level = [summarise([[c[k]] for c in compared]).ods for k in range(len(UCM_THRESHOLDS))]
    best = int(np.argmax([s.covering + s.pri - s.vi / 4 for s in by_level]))
    level = float(UCM_THRESHOLDS[best])
    print(
        f"{figures(by_level[best])} at level {level:.2f}, OIS {figures(summarise(compared).ois)}",
        flush=True,
    )
    return level


def learn(images: list[Prepared]) -> Chance:
    """Fit to the samples of the start, then to those of what came out."""
    chance, loss = fit(Samples.joined([take_samples(image, START) for image in images]))
    seen: list[Samples] = []
    for _ in range(ROUNDS - 1):
        seen += [take_samples(image, chance) for image in images]
        chance, loss = fit(Samples.joined(seen))
        print(f"{sum(len(s.apart) for s in seen)} samples, loss {loss:.4f}", flush=True)
    return chance


def shifted(chance: Chance, best: float) -> Chance:
    """Move the bias so that a level becomes 1/2."""
    return dataclasses.replace(chance, bias=chance.bias - float(to_log_odds(best)))


def main() -> None:
    """Prepare the images, fit, judge by folds if asked, and print the weights."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of BSDS500")
    parser.add_argument("--step", type=int, default=1, help="take every so many images")
    parser.add_argument("--seeds", type=int, default=3, help="how often each image is prepared")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--folds", type=int, default=0, help="judge by so many folds of train too")
    chosen = parser.parse_args()
    items = every(chosen.root, "train", chosen.step)

    def prepared(chosen_items: list[Item], *how: object) -> list[Prepared]:
        """Prepare images with each seed, the seeds of one image side by side."""
        by_seed = [
            map_items(prepare, chosen_items, [seed, *how], chosen.jobs)
            for seed in range(chosen.seeds)
        ]
        return [image for seeds in zip(*by_seed, strict=True) for image in seeds]

    images = prepared(items)
    painted = prepared(items[::PAINTED_STEP], True)
    shrunk = [
        image
        for first, factor in enumerate(FACTORS)
        for image in prepared(items[first::SHRUNK_STEP], False, factor)
    ]
    print(f"{len(items)} images, {chosen.seeds} seeds each; as shipped:", flush=True)
    judge(images, CHANCE)
    for k in range(chosen.folds):
        fold = [i // chosen.seeds % chosen.folds for i in range(len(images))]
        print(f"fold {k}, fitted to the others:")
        judge(
            [image for image, part in zip(images, fold, strict=True) if part == k],
            learn([image for image, part in zip(images, fold, strict=True) if part != k]),
        )
    chance = learn(images + painted + shrunk)
    chance = shifted(chance, judge(images, chance))
    judge(images, chance)
    for name, others in (("painted", painted), ("shrunk", shrunk)):
        print(f"{len(others)} {name} images:")
        judge(others, chance)
    show(chance)


def show(chance: Chance) -> None:
    """Print the weights as the package has them."""
    for name, curves in (("contrasts", chance.contrasts), ("regions", chance.regions)):
        print(f"{name}={{")
        for key, curve in curves.items():
            print(f'    "{key}": {_text(curve)},')
        print("},")
    print(f"perimeter={_text(chance.perimeter)},")
    print(f"width={_text(chance.width)},")
    print(f"smaller={chance.smaller:.3g},\nlarger={chance.larger:.3g},\nbias={chance.bias:.3g},")


def _text(curve: Curve) -> str:
    return "Curve(" + ", ".join(f"{value:.3g}" for value in curve) + ")"


if __name__ == "__main__":
    main()
