"""The page of a run over a data set: its tables, box plots, and the worst and best images."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.benchmark.dataset import IMAGE_ENDINGS
from pfeseg.benchmark.rows import Row, read_rows
from pfeseg.benchmark.runs import AUTO, HIERARCHY, RUN, SCORES, TABLE, segs_path, ucm_path
from pfeseg.benchmark.tables import Benchmark, gather
from pfeseg.errors import InvalidInputError
from pfeseg.files.matlab import UCM_THRESHOLDS, read_segmentations
from pfeseg.files.raster import read_raster
from pfeseg.image.arrays import Raster
from pfeseg.image.resize import enlarge_labels, shrink_to
from pfeseg.page.html import page_html, write_page
from pfeseg.page.record import THUMBNAIL_SIDE, blank, fitted
from pfeseg.pictures.overlay import draw_overlay
from pfeseg.pictures.uri import jpeg_uri
from pfeseg.segmentation.methods import METHODS

N_SHOWN = 6
"""Images shown of the worst, and of the best."""

FloatArray = NDArray[np.float64]


def is_bsds_run(folder: Path) -> bool:
    """Tell whether a folder holds a run that is done."""
    return all((folder / name).is_file() for name in (RUN, SCORES, TABLE))


def write_bsds_page(path: Path, folder: Path) -> None:
    """Write the page of the run in a folder."""
    rows = read_rows(folder / SCORES)
    benchmark, run = gather(rows), _read_run(folder / RUN)
    title, *blocks = markdown_blocks((folder / TABLE).read_text(encoding="utf-8"))
    chosen = HIERARCHY if (HIERARCHY, 0) in benchmark.measured else benchmark.methods()[0]
    data = {
        "blocks": blocks,
        "plots": _plots(benchmark, rows, chosen),
        "extremes": _extremes(benchmark, rows, chosen, folder, run),
    }
    write_page(path, page_html("bsds", title["text"], data))


def _read_run(path: Path) -> dict[str, Any]:
    try:
        run = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path}: cannot be read ({error})") from error
    if not isinstance(run, dict):
        raise InvalidInputError(f"{path}: expected an object, found {type(run).__name__}")
    return run


def markdown_blocks(text: str) -> list[dict[str, Any]]:
    """Take Markdown of headings, paragraphs and tables apart."""
    blocks: list[dict[str, Any]] = []
    for part in text.strip().split("\n\n"):
        if part.startswith("#"):
            blocks.append({"kind": "heading", "text": part.lstrip("# ")})
        elif part.startswith("|"):
            lines = [_cells(line) for line in part.splitlines()]
            blocks.append({"kind": "table", "head": lines[0], "rows": lines[2:]})
        else:
            blocks.append({"kind": "text", "text": part})
    return blocks


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


def _title(method: str) -> str:
    titles = {HIERARCHY: "hierarchy", AUTO: "PFE, automatic"}
    return titles.get(method) or METHODS[method].title  # type: ignore[index]


def _coverings(benchmark: Benchmark, method: str) -> FloatArray:
    """Return the covering of each image with each setting, (images, settings)."""
    measured = benchmark.measured[method, 0]
    return np.asarray(measured.covered / measured.pixels[:, None])


def _best_for_all(benchmark: Benchmark, method: str) -> int:
    """Return the index of the setting with the largest covering over all images."""
    return int(benchmark.measured[method, 0].covered.sum(axis=0).argmax())


def _settings(rows: Iterable[Row], method: str) -> list[float]:
    """List the dimensions of a method, or the levels of the hierarchy, in order."""
    own = [row for row in rows if row.method == method and not row.cleaned]
    return sorted({float(row.d if row.level is None else row.level) for row in own})


def _plots(benchmark: Benchmark, rows: Sequence[Row], chosen: str) -> list[dict[str, Any]]:
    methods = [method for method, cleaned in benchmark.measured if not cleaned]
    by_method = [
        _box(_title(m), _coverings(benchmark, m)[:, _best_for_all(benchmark, m)]) for m in methods
    ]
    settings, coverings = _settings(rows, chosen), _coverings(benchmark, chosen)
    step = 10 if chosen == HIERARCHY else 1
    shown = range(step - 1, len(settings), step)
    label = "level" if chosen == HIERARCHY else "d = k"
    plots = [
        {
            "title": f"Covering of each image by {label}: {_title(chosen)}",
            "xLabel": label,
            "boxes": [_box(f"{settings[k]:g}", coverings[:, k]) for k in shown],
        },
        {
            "title": "Seconds an image, one thread",
            "xLabel": "method" if chosen == HIERARCHY else f"d = k: {_title(chosen)}",
            "boxes": _seconds(rows, methods if chosen == HIERARCHY else [chosen]),
        },
    ]
    if len(methods) > 1:
        title = "Covering of each image, with the setting that is best for all"
        plots.insert(0, {"title": title, "xLabel": "method", "boxes": by_method})
    return plots


def _seconds(rows: Sequence[Row], methods: Sequence[str]) -> list[dict[str, Any]]:
    """Make a box of each method, or of each dimension if there is one method only."""
    times: dict[str, dict[str, float]] = {}
    for row in rows:
        if row.method in methods and not row.cleaned:
            name = _title(row.method) if len(methods) > 1 or row.level else f"{row.d}"
            times.setdefault(name, {})[f"{row.image} {row.d}"] = row.seconds
    return [_box(name, np.array(list(seconds.values()))) for name, seconds in times.items()]


def _box(name: str, values: FloatArray) -> dict[str, Any]:
    """Return quartiles, whiskers of at most 1.5 times their distance, and what lies beyond."""
    q1, median, q3 = np.percentile(values, [25, 50, 75])
    reach = 1.5 * (q3 - q1)
    within = values[(values >= q1 - reach) & (values <= q3 + reach)]
    beyond = values[(values < q1 - reach) | (values > q3 + reach)]
    numbers = {"low": within.min(), "q1": q1, "median": median, "q3": q3, "high": within.max()}
    return {
        "name": name,
        **{key: round(float(value), 5) for key, value in numbers.items()},
        "beyond": [round(float(value), 5) for value in beyond],
    }


def _extremes(
    benchmark: Benchmark, rows: Sequence[Row], method: str, folder: Path, run: dict[str, Any]
) -> dict[str, Any]:
    """List the images with the smallest and the largest covering, the most telling first."""
    best = _best_for_all(benchmark, method)
    covering = _coverings(benchmark, method)[:, best]
    setting = _settings(rows, method)[best]
    order = [int(index) for index in np.argsort(covering, kind="stable")]
    n = min(N_SHOWN, max(1, len(order) // 2))

    def shown(index: int) -> dict[str, Any]:
        name = benchmark.images[index]
        labels = _labels(folder, method, name, setting, run)
        pictures = _pictures(labels, _original(run, name, labels))
        return {"name": name, "covering": round(float(covering[index]), 4), **pictures}

    label = "level" if method == HIERARCHY else "d ="
    return {
        "note": f"{_title(method)}, {label} {setting:g}, the best for all images",
        "worst": [shown(index) for index in order[:n]],
        "best": [shown(index) for index in order[: -n - 1 : -1]] if len(order) > 1 else [],
    }


def _labels(
    folder: Path, method: str, name: str, setting: float, run: dict[str, Any]
) -> NDArray[np.integer[Any]]:
    if method == HIERARCHY:
        maps = [*read_segmentations(ucm_path(folder, name))]
        return maps[int(np.searchsorted(UCM_THRESHOLDS, setting - 1e-9))]
    maps = [*read_segmentations(segs_path(folder, method, name))]
    return maps[0 if len(maps) == 1 else list(run["dims"]).index(int(setting))]


def _original(run: dict[str, Any], name: str, labels: NDArray[np.integer[Any]]) -> Raster | None:
    """Read the image, if it is still where the run found it."""
    place = Path(str(run.get("images", "")))
    for ending in IMAGE_ENDINGS:
        path = place / f"{name}{ending}"
        if run.get("images") and path.is_file():
            image = read_raster(path).picture()
            return image if image.shape == labels.shape else None
    return None


def _pictures(labels: NDArray[np.integer[Any]], image: Raster | None) -> dict[str, Any]:
    shape = fitted(labels.shape, THUMBNAIL_SIDE)
    small = shrink_to(image or blank(labels), shape)
    pictures = {"overlay": jpeg_uri(draw_overlay(small, enlarge_labels(labels, shape)))}
    if image is not None:
        pictures["original"] = jpeg_uri(np.rint(small.rgb() * 255).astype(np.uint8))
    return pictures
