"""What lies in a folder of results, and what a page needs to know of each."""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, PfesegWarning
from pfeseg.files.kinds import KINDS, LABELS_FORMATS, PAGE, REPORT
from pfeseg.files.labels import read_labels
from pfeseg.files.opening import MAX_PIXELS
from pfeseg.files.page_data import PageData, read_page_data
from pfeseg.files.raster import read_raster
from pfeseg.files.report import read_report
from pfeseg.image.arrays import Raster
from pfeseg.labels.maps import consecutive

NO_DATA = PageData(
    None, np.zeros((0, 0, 0), np.int8), np.zeros(0), np.zeros(0), np.zeros(0, np.int8)
)
"""Of results that were written without `PAGE`."""


@dataclass(frozen=True)
class Failure:
    """An image without a result, and why."""

    name: str
    reason: str


@dataclass(frozen=True, eq=False)
class Result:
    """One segmented image as it lies on disk.

    Attributes
    ----------
    path : Path
        Of the report.
    report : dict
    labels : (H, W) int32 array
        0, 1, ..., none left out but the 0 of what a mask left out.
    source : Path or None
        The file of the original, if it is still where it was or lies beside the report.
    image : Raster or None
        What it holds.
    data : PageData
    """

    path: Path
    report: dict[str, Any]
    labels: NDArray[np.int32]
    source: Path | None
    image: Raster | None
    data: PageData

    @property
    def first_label(self) -> int:
        """Label of the first region: 1 where 0 is what a mask leaves out."""
        return int(self.report.get("first_label", 0))


def find_reports(folder: Path) -> list[Path]:
    """List the reports in a folder and its subfolders; other JSON files are none."""
    if not folder.is_dir():
        raise InvalidInputError(f"{folder}: expected a folder of results; there is none")
    return [path for path in sorted(folder.rglob("*.json")) if _is_report(path)]


def _is_report(path: Path) -> bool:
    if not path.is_file():
        return False
    try:
        return "image_size" in read_report(path)
    except InvalidInputError:
        return False


def read_result(path: Path) -> Result:
    """Read what belongs to one report."""
    report = read_report(path)
    _check(path, report)
    stem = str(path).removesuffix(KINDS[REPORT].suffix)
    endings = (KINDS["labels"].suffix.format(labels_format=ending) for ending in LABELS_FORMATS)
    written = _first_file(stem + ending for ending in endings)
    page_file = _first_file([stem + KINDS[PAGE].suffix])
    data = read_page_data(page_file) if page_file else NO_DATA
    labels: NDArray[np.integer[Any]]
    if written is not None:
        labels = read_labels(written)
    elif data.hierarchy is not None:
        labels = data.hierarchy.with_regions(report["regions"])
    else:
        raise InvalidInputError(f"{path}: no label map lies beside it")
    width, height = report["image_size"]
    if labels.shape != (height, width):
        raise InvalidInputError(
            f"{written or page_file}: expected labels of {width} x {height} pixels, as {path} "
            f"says, found {labels.shape[1]} x {labels.shape[0]}"
        )
    if report.get("first_label"):  # zero keeps its meaning, whatever comes first
        numbered = consecutive(np.append(0, labels))[1:].reshape(height, width)
    else:
        numbered = consecutive(labels)
    source, image = original_of(path, report)
    return Result(path, report, numbered, source, image, data)


def original_of(path: Path, report: dict[str, Any]) -> tuple[Path | None, Raster | None]:
    """Find and read the image of a report that lies at `path`, if it is still there."""
    source = _find_original(path, report)
    image = None if source is None else _read_original(source, report)
    return (None, None) if source is None or image is None else (source, image)


def _check(path: Path, report: dict[str, Any]) -> None:
    """Refuse a report whose fields are not of the kinds that a page relies on."""
    sizes, timings = [report["image_size"], report.get("solved_size")], report.get("timings")
    counts = (report.get("regions"), report.get("dims"))
    if not (
        all(isinstance(size, list) and len(size) == 2 for size in sizes)
        and all(type(count) is int and count >= 0 for count in chain(*sizes, counts))
        and isinstance(timings, dict)
        and all(type(seconds) in (int, float) for seconds in timings.values())
        and isinstance(report.get("settings"), dict)
        and isinstance(report.get("warnings", []), list)
    ):
        raise InvalidInputError(f"{path}: a damaged report, which does not say what pfeseg writes")


def _first_file(names: Iterable[str]) -> Path | None:
    return next((path for path in map(Path, names) if path.is_file()), None)


def _find_original(path: Path, report: dict[str, Any]) -> Path | None:
    """Find the image of a report where it was or beside the report; another of its name is none."""
    source = Path(str(report.get("input", "")))
    places = (source, path.parent / source.name)
    n_bytes = report.get("input_bytes")
    return next(
        (
            place for place in places
            if place.is_file() and n_bytes in (None, place.stat().st_size)
        ),
        None,
    )  # fmt: skip


def _read_original(original: Path, report: dict[str, Any]) -> Raster | None:
    """Read the image of a report as it was read before."""
    settings = report["settings"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", PfesegWarning)  # they were told when it was segmented
        try:
            image = read_raster(
                original,
                settings.get("stretch"),
                settings.get("bands"),
                page=int(report.get("page", 0)),
                allow_huge=math.prod(report["image_size"]) > MAX_PIXELS,  # as it was read before
                mask=report.get("mask"),
                nodata=[float(value) for value in report.get("nodata", ())],
            )
        except InvalidInputError:
            return None
    return image if list(image.shape[::-1]) == report["image_size"] else None
