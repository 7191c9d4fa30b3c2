"""One image of a data set is one task: segmented by several methods, and scored."""

from __future__ import annotations

import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.evaluation import Pair, compare_contours
from pfeseg.benchmark.levels import compare_levels
from pfeseg.benchmark.rows import STAGES, Row, rows_text
from pfeseg.benchmark.runs import AUTO, CLEAN_SHARE, HIERARCHY, Plan
from pfeseg.engines.engine import Call, Engine, Work
from pfeseg.errors import failure, given_up
from pfeseg.files.matlab import (
    UCM_THRESHOLDS,
    check_size,
    read_ground_truths,
    write_contour_map,
    write_segmentations,
)
from pfeseg.files.raster import read_raster
from pfeseg.files.writing import write_text
from pfeseg.labels.boundaries import BoundaryCounts
from pfeseg.labels.metrics import Comparison, compare
from pfeseg.segmentation.cuts import AUTOMATIC, Clusters
from pfeseg.segmentation.methods import MethodName
from pfeseg.segmentation.prepared import PreparedImage
from pfeseg.segmentation.result import Segmentation
from pfeseg.segmentation.segment import segment
from pfeseg.segmentation.walk import segment_prepared


@dataclass(frozen=True)
class Outcome:
    """What became of one image: a line for each thing that failed, arguments marked in it."""

    image: str
    errors: tuple[str, ...]
    seconds: float


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
