"""Regions in the formats of other tools: table and COCO run lengths."""

from __future__ import annotations

import csv
import io
import json
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.labels.maps import find_boxes

Labels = NDArray[np.integer[Any]]
Means = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class RegionSums:
    """What is summed up over the regions of an image, or of a part of it.

    Attributes
    ----------
    labels : (n,) int array
        Those that are there, in order.
    sums : (n, 3 + c) array
        Pixels, and the sums of x, of y and of each band.
    boxes : (n, 4) int array
        First row and column, and those after the last.
    """

    labels: NDArray[np.int64]
    sums: NDArray[np.float64]
    boxes: NDArray[np.int64]

    @classmethod
    def of(cls, image: Raster, labels: Labels, origin: tuple[int, int] = (0, 0)) -> RegionSums:
        """Sum over an image; `origin` is the row and column at which it begins in a larger one."""
        found = np.flatnonzero(np.bincount(labels.ravel()))
        number = np.zeros(int(labels.max()) + 1, dtype=np.int32)
        number[found] = np.arange(len(found))
        local = number[labels]
        flat, down, right = local.ravel(), *origin
        y, x = np.indices(labels.shape, dtype=np.int32).reshape(2, -1)
        channels = image.measured.reshape(-1, image.measured.shape[2]).T
        areas = np.bincount(flat).astype(float)
        sums = [np.bincount(flat, values) for values in (x, y, *channels)]
        sums[0] += right * areas
        sums[1] += down * areas
        boxes = [
            (rows.start + down, columns.start + right, rows.stop + down, columns.stop + right)
            for rows, columns in filter(None, find_boxes(local))
        ]
        return cls(found, np.stack([areas, *sums], axis=1), np.array(boxes, dtype=np.int64))

    @classmethod
    def joined(cls, parts: Iterable[RegionSums]) -> RegionSums:
        """Sum over the parts of an image, which do not overlap."""
        labels, sums, boxes = (
            np.concatenate(arrays)
            for arrays in zip(*((p.labels, p.sums, p.boxes) for p in parts), strict=True)
        )
        found, places = np.unique(labels, return_inverse=True)
        total = np.zeros((len(found), sums.shape[1]))
        np.add.at(total, places, sums)
        first = np.full((len(found), 2), np.iinfo(np.int64).max)
        last = np.zeros((len(found), 2), dtype=np.int64)
        np.minimum.at(first, places, boxes[:, :2])
        np.maximum.at(last, places, boxes[:, 2:])
        return cls(found, total, np.concatenate([first, last], axis=1))

    def rows(self, image: Raster, first: int = 0) -> list[dict[str, Any]]:
        """Return the table of regions as `region_rows`; of the image, any part will do."""
        means = self.sums[:, 1:] / self.sums[:, :1]
        if image.kind == "colours":
            names = ["mean_red", "mean_green", "mean_blue"]
            means = np.concatenate(
                [means[:, :2], np.broadcast_to(means[:, 2:], (len(means), 3))], axis=1
            )
        else:
            names = [f"mean_band_{band}" for band in image.bands]
        of_floats = image.measured.dtype.kind == "f"

        def shown(mean: float) -> float:
            return float(f"{mean:.6g}") if of_floats else round(mean, 1)

        return [
            {
                "label": label,
                "area": int(area),
                "centroid_x": round(mean[0], 2),
                "centroid_y": round(mean[1], 2),
                "box_x": left,
                "box_y": top,
                "box_width": right - left,
                "box_height": bottom - top,
                **{name: shown(value) for name, value in zip(names, mean[2:], strict=True)},
            }
            for label, area, mean, (top, left, bottom, right) in zip(
                self.labels.tolist(),
                self.sums[:, 0].tolist(),
                means.tolist(),
                self.boxes.tolist(),
                strict=True,
            )
            if label >= first
        ]


def region_rows(image: ImageLike, labels: Labels, first: int = 0) -> list[dict[str, Any]]:
    """Measure each region: area, centroid and box in pixels, and mean colour or bands.

    The means are in the image's own numbers, 0 to 255 where it has 8 bits, whatever was made
    black and white of them. `first` is the first label that counts.
    """
    raster = as_raster(image)
    return RegionSums.of(raster, labels).rows(raster, first)


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
        from pfeseg.files.map_units import map_areas, map_columns

        columns = map_columns(rows, map_areas(labels, place), place)
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
