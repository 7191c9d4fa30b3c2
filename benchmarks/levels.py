"""Count how many people draw the boundaries of each strength: what the levels of a hierarchy mean.

python benchmarks/levels.py BSDS500

Prints `KNOTS` of `pfeseg/regions/levels.py`, counted on every second training image, and how well
they hold there and on every second validation image. For each image, the boundaries of the
hierarchy are drawn from the strongest on. A pixel that comes with a strength counts as drawn by a
person if one more pixel can be matched with that person's boundaries, by the rules of the
benchmark.
"""

from __future__ import annotations

import argparse
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

import numpy as np
from evaluation import every, map_items
from numpy.typing import NDArray
from scipy.optimize import minimize

from pfeseg import Settings, segment
from pfeseg.benchmark.dataset import Item
from pfeseg.files.matlab import read_true_boundaries
from pfeseg.files.reading import read_image
from pfeseg.labels.boundaries import contours_at, count_boundaries
from pfeseg.regions.levels import KNOTS, to_levels

FloatArray = NDArray[np.float64]

EDGES = np.concatenate([[-10.0, -8, -6, -5, -4, -3], np.arange(-12, 13) / 5, [3, 3.5, 4]])
"""Log-odds between which strengths are counted together."""

KNOTS_AT = np.array([-8.0, -0.6, 0.0, 4.0])
"""More of them hardly make the counts likelier. Just below even odds few people draw: specks are
there, which `pfeseg.regions.merging.SPECK` keeps from better odds."""

GENTLEST = 0.2
"""Least slope between knots: stronger boundaries must have higher levels."""


class Counts(NamedTuple):
    """Pixels of the boundaries of each strength, and those that a person draws, (strengths,)."""

    pixels: FloatArray
    drawn: FloatArray


def count_image(item: Item) -> Counts:
    """Count the boundary pixels of one image, and how many a person draws, the mean of all."""
    tree = segment(read_image(item.image), Settings(), threads=1).hierarchy
    assert tree is not None
    contours = tree.contour_map().astype(np.float64)
    truths = read_true_boundaries(item.ground_truth)
    stronger = [
        count_boundaries(contours_at(contours, float(level)), truths)
        for level in to_levels(EDGES)
    ]  # fmt: skip
    pixels = np.array([counts.drawn for counts in stronger], dtype=float)
    drawn = np.array([counts.found for counts in stronger]) / len(truths)
    return Counts(-np.diff(pixels, append=0), -np.diff(drawn, append=0))


def count_split(items: list[Item], jobs: int) -> Counts:
    """Add the counts of some images."""
    return Counts(*np.sum(map_items(count_image, items, [], jobs), axis=0))


def strengths() -> FloatArray:
    """Return the middle of each range of strengths; the last one is open."""
    return np.append((EDGES[:-1] + EDGES[1:]) / 2, EDGES[-1] + 0.5)


def fit(counts: Counts) -> FloatArray:
    """Return the log-odds of the shares at the knots that make the counts likeliest.

    Where merging has even odds, the share is 1/2 by definition: there the default is cut.
    """
    zero = int(np.searchsorted(KNOTS_AT, 0))
    gaps = np.diff(KNOTS_AT)

    def values(slopes: FloatArray) -> FloatArray:
        heights = np.concatenate([[0.0], np.cumsum(slopes * gaps)])
        return np.asarray(heights - heights[zero])

    def loss(slopes: FloatArray) -> float:
        odds = np.interp(strengths(), KNOTS_AT, values(slopes))
        return float((counts.pixels * np.logaddexp(0, odds) - counts.drawn * odds).sum() / 1e6)

    found = minimize(
        loss, np.ones(len(gaps)), method="L-BFGS-B", bounds=[(GENTLEST, None)] * len(gaps)
    )
    return values(found.x).round(2)


def show(title: str, counts: Counts) -> None:
    """Print how many people draw what lies between two levels, from the finest up."""
    levels = to_levels(strengths())
    print(f"\n{title}\n\n| level | boundary pixels, % | drawn by a person, % |\n|---|---|---|")
    ends = np.arange(0, 1.01, 0.1)
    for low, high in pairwise(ends):
        here = (levels > low) & (levels <= high)
        pixels, drawn = counts.pixels[here].sum(), counts.drawn[here].sum()
        share = f"{100 * drawn / pixels:.0f}" if pixels else "-"
        print(f"| {low:.1f} to {high:.1f} | {100 * pixels / counts.pixels.sum():.1f} | {share} |")
    near = np.abs(strengths()) <= 0.5
    share = counts.drawn[near].sum() / counts.pixels[near].sum()
    print(f"\nWhere merging has about even odds, a person draws {100 * share:.0f} %.", flush=True)


def main() -> None:
    """Count, print the knots, and check them on the validation images."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of BSDS500")
    parser.add_argument("--step", type=int, default=2, help="take every so many images")
    parser.add_argument("--jobs", type=int, default=2)
    chosen = parser.parse_args()
    train = count_split(every(chosen.root, "train", chosen.step), chosen.jobs)
    knots = tuple(zip(KNOTS_AT.tolist(), fit(train).tolist(), strict=True))
    print(f"KNOTS = {knots}")
    print("as shipped" if knots == KNOTS else f"shipped are {KNOTS}", flush=True)
    show("Training images, by the levels as shipped", train)
    val = count_split(every(chosen.root, "val", chosen.step), chosen.jobs)
    show("Validation images, by the levels as shipped", val)


if __name__ == "__main__":
    main()
