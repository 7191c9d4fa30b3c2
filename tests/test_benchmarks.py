"""The tools of the lab book count as the benchmark does."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

from pfeseg import segment
from pfeseg.files.matlab import UCM_THRESHOLDS
from pfeseg.labels.metrics import compare
from pfeseg.regions import merging

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from evaluation import compare_levels
from variants import VARIANTS, constants_changed


def test_levels_are_scored_as_their_label_maps_are(chelsea):
    tree = segment(chelsea).hierarchy
    rows, columns = np.indices(chelsea.shape[:2])
    truths = [(rows // 90) * 7 + columns // 100, (columns > 200).astype(int)]
    found = compare_levels(tree, truths)
    assert len(found) == len(UCM_THRESHOLDS) == 99
    for k in (0, 20, 45, 70, 98):
        exact = compare(tree.cut(UCM_THRESHOLDS[k]), truths)
        for mine, other in zip(
            (found[k].covered, found[k].pri, found[k].vi),
            (exact.covered, exact.pri, exact.vi),
            strict=True,
        ):
            assert mine == pytest.approx(other, rel=1e-12)


def test_changed_constants_come_back(chelsea):
    before = merging.AREA_EXPONENT
    variant = next(v for v in VARIANTS if v.name == "area exponent 0")
    with constants_changed(variant.constants):
        assert merging.AREA_EXPONENT == 0
        changed = segment(chelsea).hierarchy.levels
    assert before == merging.AREA_EXPONENT
    assert (changed[-5:] != segment(chelsea).hierarchy.levels[-5:]).any()
