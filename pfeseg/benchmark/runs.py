"""A run over a data set on disk: what is to be done of it, and what is; resumable.

For each method and image there are

    OUT/segs/METHOD/NAME.mat        the segmentations of all d, as the benchmark's own format
    OUT/segs/METHOD-clean/NAME.mat  the same with connected regions, small ones absorbed
    OUT/rows/METHOD/NAME.csv        their scores and times; written last, so it marks what is done

and for the hierarchy of regions

    OUT/ucm/NAME.mat                its contour map, in the benchmark's own format as well
    OUT/segs/hierarchy/NAME.mat     the one segmentation that 'segment' writes
    OUT/rows/hierarchy/NAME.csv     scores of the levels at which the benchmark cuts it
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from pfeseg import __version__
from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.rows import COLUMNS
from pfeseg.errors import InvalidInputError
from pfeseg.files.matlab import UCM_THRESHOLDS
from pfeseg.files.opening import read_file, read_json
from pfeseg.files.temporaries import clear_strays
from pfeseg.files.writing import write_text
from pfeseg.segmentation.methods import METHOD_VERSION
from pfeseg.segmentation.settings import Settings

AUTO = "auto"
"""Name of the method "pfe" with d and k chosen by `sweep`."""

HIERARCHY = "hierarchy"
"""Name of the hierarchy of regions among the methods; its d is that of the settings."""

CLEAN_SHARE = 0.005
"""Share of the image below which a region is absorbed in the cleaned segmentations."""

RUN, SCORES, TABLE = "run.json", "scores.csv", "table.md"
"""Files of a run: what was asked for, all rows, and the figures of the data set."""


def segs_path(output: Path, method: str, name: str) -> Path:
    """Where the segmentations of an image are; cleaned ones are those of METHOD-clean."""
    return output / "segs" / method / f"{name}.mat"


def ucm_path(output: Path, name: str) -> Path:
    """Where the contour map of an image's hierarchy is."""
    return output / "ucm" / f"{name}.mat"


@dataclass(frozen=True)
class Plan:
    """What is to be run on every image."""

    output: Path
    split: str
    methods: tuple[str, ...]
    dims: tuple[int, ...]
    settings: Settings

    def rows_path(self, method: str, item: Item) -> Path:
        """Where the rows of one method and image go."""
        return self.output / "rows" / method / f"{item.name}.csv"

    def segs_path(self, method: str, item: Item, cleaned: bool) -> Path:
        """Where the segmentations of one method and image go."""
        return segs_path(self.output, f"{method}-clean" if cleaned else method, item.name)

    def ucm_path(self, item: Item) -> Path:
        """Where the contour map of one image's hierarchy goes."""
        return ucm_path(self.output, item.name)

    def missing(self, item: Item) -> tuple[str, ...]:
        """Return the methods that are yet to be run on an image."""
        return tuple(m for m in self.methods if not self._has_rows(m, item))

    def _has_rows(self, method: str, item: Item) -> bool:
        """Tell whether there are all rows of one method and image, below their header."""
        per_image = {HIERARCHY: len(UCM_THRESHOLDS), AUTO: 2}.get(method, 2 * len(self.dims))
        path = self.rows_path(method, item)
        return path.is_file() and path.read_bytes().count(b"\n") == 1 + per_image


def start_run(plan: Plan, items: Sequence[Item]) -> None:
    """Make the folder of a run, or check that the one there is of the same settings and files."""
    present = {
        "pfeseg_version": __version__,
        "method_version": METHOD_VERSION,
        "split": plan.split,
        "dims": list(plan.dims),
        "clean_share": CLEAN_SHARE,
        "score_columns": list(COLUMNS),
        "settings": plan.settings.to_dict(),
    }
    stored = _read_json(plan.output / RUN) or present
    different = [name for name in present if not _same(stored.get(name), present[name])]
    if different:
        raise InvalidInputError(
            f"{plan.output} holds a run with other {', '.join(different)}; "
            "choose another folder, or delete this one"
        )
    digests = {item.name: _digest(item) for item in items}
    known = _read_json(plan.output / "inputs.json")
    changed = [name for name in digests if known.get(name, digests[name]) != digests[name]]
    if changed:
        raise InvalidInputError(
            f"{plan.output} holds results of another {changed[0]}, or of another ground truth of "
            "it; choose another folder, or delete this one"
        )
    clear_strays([plan.output, *(path for path in plan.output.rglob("*") if path.is_dir())])
    # For the page; they may have moved when a run goes on.
    place = {"images": str(items[0].image.parent.absolute())} if items else {}
    write_text(plan.output / RUN, json.dumps(present | place, indent=2) + "\n")
    write_text(plan.output / "inputs.json", json.dumps(known | digests, indent=2) + "\n")


def _read_json(path: Path) -> dict[str, Any]:
    """Read an object, an empty one where there is no file."""
    value = read_json(path) if path.exists() else {}
    if not isinstance(value, dict):
        raise InvalidInputError(f"{path}: cannot be read (not an object)")
    return value


def _same(a: Any, b: Any) -> bool:
    return json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)  # 4 is not 4.0


def _digest(item: Item) -> str:
    """Tell files by their content; a missing one is reported when its turn comes."""
    digest = hashlib.sha256()
    for path in (item.image, item.ground_truth):
        digest.update(read_file(path) if path.is_file() else b"")
    return digest.hexdigest()
