"""The tools of the lab book."""

from __future__ import annotations

import sys
from pathlib import Path

from pfeseg import segment
from pfeseg.regions import merging

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from variants import VARIANTS, constants_changed


def test_changed_constants_come_back(chelsea):
    before = merging.CHANCE
    variant = next(v for v in VARIANTS if v.name == "no textons")
    with constants_changed(variant.constants):
        assert merging.CHANCE.regions["textons"][:2] == (0, 0)
        changed = segment(chelsea).hierarchy.levels
    assert before is merging.CHANCE
    assert (changed[-5:] != segment(chelsea).hierarchy.levels[-5:]).any()
