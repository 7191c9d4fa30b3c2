"""The tools of the lab book."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from helpers import random_regions

from pfeseg import segment
from pfeseg.regions import merging
from pfeseg.regions.chance import CHANCE
from pfeseg.regions.merging import merge_basins, to_levels

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from fit import Samples, coarsened, fit, pair_features
from variants import VARIANTS, constants_changed


def log_odds(features, chance):
    """Weigh the features of pairs as the merging does."""
    curves = np.array([*chance.contrasts.values(), *chance.regions.values(),
                       chance.perimeter, chance.width])  # fmt: skip
    x = np.minimum(features[:, :-2], curves[:, 2])
    return (
        chance.bias + x @ curves[:, 0] + np.sqrt(x) @ curves[:, 1]
        + features[:, -2:] @ [chance.smaller, chance.larger]
    )  # fmt: skip


def test_weights_are_fitted_to_what_the_merging_looks_at():
    base, graph = random_regions(np.random.default_rng(0), n=14)  # no speck among them
    tree = merge_basins(base, graph, CHANCE)
    least = log_odds(pair_features(graph), CHANCE).min()
    np.testing.assert_allclose(tree.levels[0], to_levels(least))
    left = 6
    later = pair_features(coarsened(graph, tree.grouped(left)))
    height = tree.levels[len(tree.merges) + 1 - left]
    assert to_levels(log_odds(later, CHANCE).min()) <= height + 1e-12


def test_fitted_weights_tell_the_samples_chances():
    rng = np.random.default_rng(0)
    n = len(CHANCE.contrasts) + len(CHANCE.regions) + 2
    features = np.concatenate([rng.random((4000, n)), np.log(rng.random((4000, 2)))], axis=1)
    truth = 3 * features[:, 0] + 2 * np.sqrt(features[:, 2]) - 2 * features[:, n - 3] - 1
    apart = 1 / (1 + np.exp(-truth))
    found, _ = fit(Samples(features, apart, np.ones(4000)))
    chances = 1 / (1 + np.exp(-log_odds(features, found)))
    assert np.abs(chances - apart).mean() < 0.02
    for curve in found.contrasts.values():  # what a contrast adds never falls
        x = np.linspace(1e-6, curve.cap, 50)
        assert (np.diff(curve.plain * x + curve.root * np.sqrt(x)) >= -1e-9).all()


def test_changed_constants_come_back(chelsea):
    before = merging.CHANCE
    variant = next(v for v in VARIANTS if v.name == "no textons")
    with constants_changed(variant.constants):
        assert merging.CHANCE.regions["textons"][:2] == (0, 0)
        changed = segment(chelsea).hierarchy.levels
    assert before is merging.CHANCE
    assert (changed[-5:] != segment(chelsea).hierarchy.levels[-5:]).any()
