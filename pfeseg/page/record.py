"""What a page shows of one image: a line of the table, a thumbnail, and the large view."""

from __future__ import annotations

import os
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError, failure
from pfeseg.image.arrays import Raster
from pfeseg.image.resize import enlarge_labels, shrink_to, small_size
from pfeseg.labels.maps import count_pixels
from pfeseg.page.packing import pack_array, pack_labels, script_json, smallest_type
from pfeseg.page.results import Result, read_result
from pfeseg.pictures.colours import nested_colours, region_colours
from pfeseg.pictures.overlay import OUTSIDE, draw_overlay
from pfeseg.pictures.uri import jpeg, jpeg_uri
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.segmentation.settings import Settings

THUMBNAIL_SIDE, VIEW_SIDE = 320, 1200
"""Longer side of a thumbnail, and of the original in the large view, in pixels."""

MOST_PIXELS = 100_000_000
"""Of a label map that travels in a page."""


@dataclass(frozen=True)
class Record:
    """What a page shows of one image.

    Attributes
    ----------
    summary : dict
        Its line of the table.
    thumbnail : bytes
        A JPEG file; empty where there is no result.
    detail : dict
        Its large view; empty likewise.
    """

    summary: dict[str, Any]
    thumbnail: bytes = b""
    detail: dict[str, Any] | None = None


def make_record(path: Path, name: str) -> Record:
    """Read what belongs to a report and turn it into a record; what is damaged is a failure."""
    try:
        record = _record_of(read_result(path), name)
        script_json(record.detail)  # what does not fit into a page must not cost the page
        return record
    except Exception as error:  # one of many must not cost the others
        return failed_record(name, str(InvalidInputError(failure(error, str(path)))))


def failed_record(name: str, reason: str) -> Record:
    """Make the record of an image that has no result."""
    return Record({"name": name, "status": "failed", "reason": reason})


def _record_of(result: Result, name: str) -> Record:
    report, labels = result.report, result.labels
    if labels.size > MOST_PIXELS:
        raise InvalidInputError(
            f"{result.path}: its {labels.size} pixels are more than a page holds ({MOST_PIXELS})"
        )
    warned = [str(warning) for warning in report.get("warnings", ())]
    summary = {
        "name": name,
        "status": "warned" if warned else "done",
        "size": report["image_size"],
        "regions": report["regions"],
        "seconds": round(sum(report["timings"].values()), 3),
    }
    shape = fitted(labels.shape, THUMBNAIL_SIDE)
    image = (
        result.image.picture() if result.image is not None else blank(labels, result.first_label)
    )
    thumbnail = draw_overlay(shrink_to(image, shape), enlarge_labels(labels, shape))
    data = result.data
    detail = {
        "name": name,
        "stem": result.path.stem,
        "size": report["image_size"],
        "firstLabel": result.first_label,
        "original": None if result.image is None else view_of(image),
        "maps": _maps(result, image),
        "command": command_of(result),
        "facts": _facts(report),
        "settings": _settings(report),
        "timings": report["timings"],
        "warnings": warned,
        "channels": pack_array(data.channels) if data.channels.size else None,
        "history": {
            "objective": data.objective.tolist(),
            "orthogonality": [
                None if np.isnan(e) else float(e) for e in data.orthogonality_error
            ],
            "stage": data.stage.tolist(),
        },
    }  # fmt: skip
    return Record(summary, jpeg(thumbnail), detail)


def fitted(shape: tuple[int, ...], longest: int) -> tuple[int, int]:
    """Return the size of a picture whose longer side is `longest`, or what it is if shorter."""
    return small_size(shape, max(1.0, max(shape) / longest))


def blank(labels: NDArray[np.integer[Any]], first_label: int = 0) -> Raster:
    """Make a grey image, in the place of an original that is gone."""
    grey = np.full((*labels.shape, 1), 128, np.uint8)
    return Raster(grey, 0.0, 255.0, "none", mask=labels > 0 if first_label else None)


def view_of(image: Raster) -> str:
    """Return the original of a large view as the address of a picture; white where masked."""
    small = shrink_to(image, fitted(image.shape, VIEW_SIDE))
    picture = np.rint(small.rgb() * 255).astype(np.uint8)
    if small.mask is not None:
        picture[~small.mask] = OUTSIDE
    return jpeg_uri(picture)


def _maps(result: Result, image: Raster) -> list[dict[str, Any]]:
    """List the label maps to look at: all levels of the hierarchy, or the labels as written."""
    tree, labels = result.data.hierarchy, result.labels
    colours = image if result.image is not None else None
    if tree is None:
        return [map_of_labels(labels, colours, result.first_label)]
    n_regions = int(result.report["regions"])
    levels = _map_of_levels(tree, colours, n_regions)
    if np.array_equal(tree.with_regions(n_regions), labels):
        return [levels]
    return [map_of_labels(labels, colours, result.first_label), levels]


def map_of_labels(
    labels: NDArray[np.integer[Any]], image: Raster | None, first_label: int
) -> dict[str, Any]:
    """Pack a label map for `Regions` of labels.js; with `first_label` 1, 0 is no region."""
    outside = 0 if first_label else None
    return {"kind": "labels", "outside": outside} | _measured(labels, image, region_colours(labels))


def _map_of_levels(tree: Hierarchy, image: Raster | None, n_regions: int) -> dict[str, Any]:
    return {
        "kind": "levels",
        "outside": tree.outside,
        "merges": pack_array(smallest_type(tree.merges)),
        "levels": pack_array(tree.levels.astype(np.float32)),
        "fewest": tree.n_apart,
        "regions": n_regions,
    } | _measured(tree.base, image, nested_colours(tree))


def _measured(
    regions: NDArray[np.integer[Any]], image: Raster | None, colours: NDArray[np.float64]
) -> dict[str, Any]:
    """Pack regions with their colours, areas, and means as 16-bit shares of the image's range."""
    areas = count_pixels(regions.astype(np.int32, copy=False))
    measured: dict[str, Any] = {
        "labels": pack_labels(regions),
        "areas": pack_array(smallest_type(areas)),
        "colours": pack_array(np.rint(colours * 255).astype(np.uint8)),
    }
    if image is not None:
        means = np.array(
            [
                np.bincount(regions.ravel(), channel.ravel()) / np.maximum(areas, 1)
                for channel in np.moveaxis(image.values, 2, 0)
            ]
        )
        shares = np.clip((means - image.black) / (image.white - image.black), 0, 1)
        measured["means"] = pack_array(np.rint(shares * 65535).astype(np.uint16))
        measured["range"] = [float(image.black), float(image.white)]
    return measured


def command_of(result: Result) -> str:
    """Return the command line that made a result, up to what says how it is cut."""
    report = result.report
    source = str(result.source or report["input"])
    source = f"./{source}" if source.startswith("-") and source != "-" else source
    words = ["pfeseg", "segment", source, "--config", str(result.path)]
    words += ["--page", str(report["page"])] if report.get("page") else []
    words += ["--mask", str(report["mask"])] if report.get("mask") else []
    words += [word for value in report.get("nodata", ()) for word in ("--nodata", str(value))]
    if report["settings"].get("n_dims") == "auto":
        words += ["-d", str(report["dims"])]
    if report["settings"].get("min_region"):
        words += ["--min-region", "0"]
    return " ".join(map(_shell_word, words))


def _shell_word(word: str) -> str:
    """Quote a word for a shell, with escapes in the place of what cannot be seen or copied."""
    if word.isprintable():
        return shlex.quote(word)
    escapes = {"\\": "\\\\", "'": "\\'"}
    letters = (
        escapes.get(letter, letter)
        if letter.isprintable()
        else "".join(f"\\x{byte:02x}" for byte in os.fsencode(letter))
        for letter in word
    )
    return f"$'{''.join(letters)}'"


def _facts(report: dict[str, Any]) -> dict[str, Any]:
    """List what a reader wants to know first."""
    size, solved = report["image_size"], report["solved_size"]
    facts = {
        "file": report["input"],
        "size": f"{size[0]} × {size[1]}",
        "solved at": f"{solved[0]} × {solved[1]}",
        "regions": report["regions"],
        "clusters": report.get("segments"),
        "level": report.get("level"),
        "dimensions": report["dims"],
        "bands": None
        if report.get("bands_in_image", 0) in (1, 3)
        else f"{', '.join(map(str, report.get('bands', ())))} of {report.get('bands_in_image')}",
        "masked pixels": report.get("masked_pixels"),
        "solver stopped": str(report.get("stop_reason", "")).replace("_", " ") or None,
        "preconditioner": report.get("preconditioner"),
        "pfeseg": report["pfeseg_version"],
    }
    return {name: value for name, value in facts.items() if value is not None}


def _settings(report: dict[str, Any]) -> list[list[Any]]:
    """List settings as name, value, and whether it differs from the default."""
    usual = _flat(Settings().to_dict())
    return [
        [name, value if isinstance(value, str | int | float) else str(value),
         name in usual and usual[name] != value]
        for name, value in _flat(report["settings"]).items()
    ]  # fmt: skip


def _flat(settings: dict[str, Any], prefix: str = "") -> dict[str, Any]:
    flat: dict[str, Any] = {}
    for name, value in settings.items():
        if isinstance(value, dict):
            flat |= _flat(value, f"{name}.")
        else:
            flat[prefix + name] = value
    return flat
