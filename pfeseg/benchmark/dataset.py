"""A data set laid out as BSDS500 is, segmented by several methods and scored; resumable.

One image is one task, which writes, for each method,

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
import itertools
import json
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pfeseg import __version__
from pfeseg.benchmark.evaluation import Pair, compare_contours
from pfeseg.benchmark.levels import compare_levels
from pfeseg.benchmark.rows import COLUMNS, STAGES, Row, rows_text
from pfeseg.engines.engine import Call, Engine, Work
from pfeseg.errors import InvalidInputError, failure, given_up
from pfeseg.files.matlab import (
    UCM_THRESHOLDS,
    check_size,
    read_ground_truths,
    write_contour_map,
    write_segmentations,
)
from pfeseg.files.opening import read_file, read_json
from pfeseg.files.raster import read_raster
from pfeseg.files.temporaries import clear_strays
from pfeseg.files.writing import write_text
from pfeseg.labels.boundaries import BoundaryCounts
from pfeseg.labels.metrics import Comparison, compare
from pfeseg.segmentation.cuts import AUTOMATIC, Clusters
from pfeseg.segmentation.methods import METHOD_VERSION, MethodName
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.result import Segmentation
from pfeseg.segmentation.segment import segment
from pfeseg.segmentation.settings import Settings
from pfeseg.segmentation.walk import segment_prepared

AUTO = "auto"
"""Name of the method "pfe" with d and k chosen by `sweep`."""

HIERARCHY = "hierarchy"
"""Name of the hierarchy of regions among the methods; its d is that of the settings."""

CLEAN_SHARE = 0.005
"""Share of the image below which a region is absorbed in the cleaned segmentations."""

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff")


@dataclass(frozen=True)
class Item:
    """An image of the data set and its ground truth."""

    name: str
    image: Path
    ground_truth: Path


@dataclass(frozen=True)
class Outcome:
    """What became of one image: a line for each thing that failed, arguments marked in it."""

    image: str
    errors: tuple[str, ...]
    seconds: float


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
        folder = f"{method}-clean" if cleaned else method
        return self.output / "segs" / folder / f"{item.name}.mat"

    def ucm_path(self, item: Item) -> Path:
        """Where the contour map of one image's hierarchy goes."""
        return self.output / "ucm" / f"{item.name}.mat"

    def missing(self, item: Item) -> tuple[str, ...]:
        """Return the methods that are yet to be run on an image."""
        return tuple(m for m in self.methods if not self._has_rows(m, item))

    def _has_rows(self, method: str, item: Item) -> bool:
        """Tell whether there are all rows of one method and image, below their header."""
        per_image = {HIERARCHY: len(UCM_THRESHOLDS), AUTO: 2}.get(method, 2 * len(self.dims))
        path = self.rows_path(method, item)
        return path.is_file() and path.read_bytes().count(b"\n") == 1 + per_image


def find_items(root: Path, split: str, limit: int | None = None) -> list[Item]:
    """List the images of a split and the ground truths that belong to them."""
    places = [root, root / "data", root / "BSDS500" / "data", root / "BSR" / "BSDS500" / "data"]
    data = next((place for place in places if (place / "images").is_dir()), None)
    if data is None or not (data / "groundTruth").is_dir():
        raise InvalidInputError(
            f"{root}: expected the folders 'images' and 'groundTruth' of BSDS500 in it"
        )
    folder = data / "images" / split
    if not folder.is_dir():
        splits = ", ".join(sorted(p.name for p in (data / "images").iterdir() if p.is_dir()))
        raise InvalidInputError(f"{folder}: there is no such split; there are: {splits or 'none'}")
    images = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_ENDINGS)
    if not images:
        raise InvalidInputError(f"{folder}: this folder holds no images")
    for one, other in itertools.pairwise(images):
        if one.stem == other.stem:
            raise InvalidInputError(f"{one} and {other} have the same name; remove one of them")
    truths = data / "groundTruth" / split
    return [Item(p.stem, p, truths / f"{p.stem}.mat") for p in images[:limit]]


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
    stored = _read_json(plan.output / "run.json") or present
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
    write_text(plan.output / "run.json", json.dumps(present | place, indent=2) + "\n")
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


def run_items(plan: Plan, items: Sequence[Item], engine: Engine) -> Generator[Outcome, None, None]:
    """Work on the images that are not done, and yield what became of each, as it is done."""
    calls = [(plan, item) for item in items if plan.missing(item)]
    return engine.run(Work(run_item, shared=plan), calls, _give_up)


def _give_up(call: Call, reason: str) -> Outcome:
    item: Item = call[1]
    return Outcome(item.name, (given_up(str(item.image), reason),), 0.0)


def run_item(plan: Plan, item: Item) -> Outcome:
    """Run the missing methods on one image, and write their files; never raises."""
    started = time.perf_counter()
    errors = []
    try:
        truths = read_ground_truths(item.ground_truth)
        image = read_raster(item.image, plan.settings.stretch, plan.settings.bands)
        check_size(item.ground_truth, truths, image.shape)
        # One thread: the images run side by side, and times are comparable between methods.
        prepared = PreparedImage(image, plan.settings, threads=1)
    except Exception as error:
        errors.append(failure(error, str(item.image)))
    else:
        for method in plan.missing(item):
            try:
                if method == HIERARCHY:
                    _run_hierarchy(plan, item, prepared, truths)
                else:
                    _run_clusters(plan, item, method, prepared, truths)
            except Exception as error:
                errors.append(failure(error, f"{item.image}: {method}"))
    return Outcome(item.name, tuple(errors), time.perf_counter() - started)


def _run_clusters(
    plan: Plan, item: Item, method: str, prepared: PreparedImage, truths: Sequence[NDArray[Any]]
) -> None:
    raw: list[NDArray[np.integer[Any]]] = []
    clean: list[NDArray[np.integer[Any]]] = []
    rows: list[Row] = []
    for result in _results(prepared, method, plan.dims):
        for is_clean, labels, kept in (
            (0, result.labels, raw),
            (1, prepared.clean(result.labels, CLEAN_SHARE), clean),
        ):
            compared, n_regions = compare(labels, truths), int(labels.max()) + 1
            rows.append(_row(item, method, is_clean, n_regions, compared, result))
            kept.append(labels.astype(np.uint16) if labels.max() < 65535 else labels)
    write_segmentations(plan.segs_path(method, item, cleaned=False), raw)
    write_segmentations(plan.segs_path(method, item, cleaned=True), clean)
    write_text(plan.rows_path(method, item), rows_text(rows))


def _results(prepared: PreparedImage, method: str, dims: tuple[int, ...]) -> Iterator[Segmentation]:
    if method == AUTO:
        chosen = prepared.settings.changed(n_dims="auto", cut=Clusters("auto"))
        yield segment(prepared.image, chosen, threads=prepared.threads)
        return
    for d in dims:
        yield segment_prepared(prepared, d, Clusters("dims"), cast(MethodName, method))


def _run_hierarchy(
    plan: Plan, item: Item, prepared: PreparedImage, truths: Sequence[NDArray[Any]]
) -> None:
    # By itself, as a user has it: what other methods share with it would not be in its time.
    settings = plan.settings.changed(cut=AUTOMATIC)
    result = segment(prepared.image, settings, threads=prepared.threads)
    tree = result.hierarchy
    assert tree is not None
    write_segmentations(plan.segs_path(HIERARCHY, item, cleaned=False), [result.labels])
    write_contour_map(plan.ucm_path(item), tree.contour_map())
    contours = compare_contours(Pair(item.name, plan.ucm_path(item), item.ground_truth))
    rows = []
    for level, compared, counts in zip(
        UCM_THRESHOLDS, compare_levels(tree, truths), contours, strict=True
    ):
        n_regions = 1 + int((tree.levels > level).sum())
        rows.append(_row(item, HIERARCHY, 0, n_regions, compared, result, float(level), counts))
    write_text(plan.rows_path(HIERARCHY, item), rows_text(rows))


def _row(
    item: Item,
    method: str,
    cleaned: int,
    n_regions: int,
    compared: Comparison,
    result: Segmentation,
    level: float | None = None,
    contours: BoundaryCounts | None = None,
) -> Row:
    measured: dict[str, Any] = asdict(contours) if contours else {}
    for stage in STAGES:
        measured[f"seconds_{stage}"] = round(result.timings.get(stage, 0.0), 4)
    return Row(
        image=item.name,
        method=method,
        cleaned=cleaned,
        d=result.n_dims,
        k=result.n_clusters,
        level=level,
        regions=n_regions,
        covered=round(compared.covered, 3),
        pixels=float(compared.region_sizes.sum()),
        pri=round(compared.pri, 6),
        vi=round(compared.vi, 6),
        **measured,
    )
