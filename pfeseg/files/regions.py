"""Regions in the formats of other tools: table and COCO run lengths."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.arrays import ImageLike, as_raster
from pfeseg.labels.maps import find_boxes

Labels = NDArray[np.integer[Any]]
Means = NDArray[np.float64]


def region_rows(image: ImageLike, labels: Labels, first: int = 0) -> list[dict[str, Any]]:
    """Measure each region: area, centroid and box in pixels, and mean colour or bands.

    The means are in the image's own numbers, 0 to 255 where it has 8 bits, whatever was made
    black and white of them. `first` is the first label that counts.
    """
    flat = labels.ravel()
    areas = np.bincount(flat)
    raster = as_raster(image)
    y, x = np.indices(labels.shape, dtype=np.int32).reshape(2, -1)
    channels = raster.measured.reshape(-1, raster.measured.shape[2]).T
    mean_x, mean_y, *means = (
        np.bincount(flat, values) / np.maximum(areas, 1) for values in (x, y, *channels)
    )
    if raster.kind == "colours":
        colours = np.broadcast_to(np.array(means), (3, len(areas)))
        means_by_name = dict(zip(("mean_red", "mean_green", "mean_blue"), colours, strict=True))
    else:
        names = (f"mean_band_{band}" for band in raster.bands)
        means_by_name = dict(zip(names, means, strict=True))
    of_floats = raster.measured.dtype.kind == "f"

    def shown(mean: float) -> float:
        return float(f"{mean:.6g}") if of_floats else round(float(mean), 1)

    return [
        {
            "label": label,
            "area": int(areas[label]),
            "centroid_x": round(float(mean_x[label]), 2),
            "centroid_y": round(float(mean_y[label]), 2),
            "box_x": box[1].start,
            "box_y": box[0].start,
            "box_width": box[1].stop - box[1].start,
            "box_height": box[0].stop - box[0].start,
            **{name: shown(means[label]) for name, means in means_by_name.items()},
        }
        for label, box in enumerate(find_boxes(labels))
        if box is not None and label >= first
    ]


def table_rows(
    image: ImageLike, labels: Labels, first: int = 0, band_means: Iterable[Means] = ()
) -> list[dict[str, Any]]:
    """Return the rows of the table of regions: those of `region_rows`, and what a map adds.

    That is the area and the centroid of each region in the units of the map. `band_means` are the
    means by label of all bands of the file, if not all were used; NaN becomes None.
    """
    rows = region_rows(image, labels, first)
    place = as_raster(image).georeference
    if place is not None:
        from pfeseg.files.map_units import map_columns

        columns = map_columns(rows, labels, place)
        rows = [row | added for row, added in zip(rows, columns, strict=True)]
    for band, means in enumerate(band_means, 1):
        for row in rows:
            mean = float(means[row["label"]])
            row[f"mean_band_{band}"] = None if math.isnan(mean) else float(f"{mean:.6g}")
    return rows


def regions_csv(rows: Sequence[dict[str, Any]]) -> str:
    """Return the table of regions as CSV text."""
    text = io.StringIO()
    writer = csv.DictWriter(text, fieldnames=list(rows[0]), lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    return text.getvalue()


def run_lengths(labels: Labels) -> dict[int, list[int]]:
    """Return COCO's uncompressed run lengths of each label: gap, run, gap, ... column by column."""
    flat = labels.ravel(order="F")
    starts = np.flatnonzero(np.diff(flat, prepend=flat[0] - 1))
    ends = np.append(starts[1:], flat.size)
    counts: dict[int, list[int]] = {}
    reached: dict[int, int] = {}
    for label, start, end in zip(
        flat[starts].tolist(), starts.tolist(), ends.tolist(), strict=True
    ):
        counts.setdefault(label, []).extend((start - reached.get(label, 0), end - start))
        reached[label] = end
    for label, end in reached.items():
        if end < flat.size:
            counts[label].append(flat.size - end)
    return counts


def coco_json(image: ImageLike, labels: Labels, file_name: str, first: int = 0) -> str:
    """Return the regions as a COCO data set of one image, the first label as annotation 1.

    The score of a region is the share of the image that it covers.
    """
    height, width = labels.shape
    counts = run_lengths(labels)
    annotations = [
        {
            "id": row["label"] + 1 - first,
            "image_id": 1,
            "category_id": 1,
            "iscrowd": 1,
            "area": row["area"],
            "score": row["area"] / labels.size,
            "bbox": [row["box_x"], row["box_y"], row["box_width"], row["box_height"]],
            "segmentation": {"size": [height, width], "counts": counts[row["label"]]},
        }
        for row in region_rows(image, labels, first)
    ]
    return json.dumps(
        {
            "images": [{"id": 1, "file_name": file_name, "width": width, "height": height}],
            "categories": [{"id": 1, "name": "region"}],
            "annotations": annotations,
        }
    )
