from __future__ import annotations

import csv
import io
import json
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from skimage.measure import label as components
from skimage.measure import regionprops

from pfeseg.files.geojson import geojson
from pfeseg.files.polygons import signed_area
from pfeseg.files.regions import coco_json, region_rows, regions_csv, run_lengths
from pfeseg.image.arrays import as_raster

label_maps = st.tuples(
    st.integers(1, 9), st.integers(1, 9), st.integers(1, 4), st.integers(0, 2**31)
).map(lambda t: np.random.default_rng(t[3]).integers(0, t[2], t[:2]))


def test_region_table_agrees_with_scikit_image(chelsea):
    y, x = np.mgrid[: chelsea.shape[0], : chelsea.shape[1]]
    labels = (y // 100) * 3 + x // 200
    for row, props in zip(
        region_rows(chelsea, labels), regionprops(labels + 1, chelsea), strict=True
    ):
        assert row["area"] == props.area
        np.testing.assert_allclose(
            (row["centroid_y"], row["centroid_x"]), props.centroid, atol=0.01
        )
        top, left, bottom, right = props.bbox
        assert (row["box_x"], row["box_y"]) == (left, top)
        assert (row["box_width"], row["box_height"]) == (right - left, bottom - top)
        colour = [row[f"mean_{name}"] for name in ("red", "green", "blue")]
        np.testing.assert_allclose(colour, props.intensity_mean, atol=0.06)


def test_grey_images_have_grey_means(chelsea):
    labels = np.indices(chelsea.shape[:2]).sum(axis=0) // 200
    grey = chelsea[..., 1]
    assert region_rows(grey, labels) == region_rows(np.stack([grey] * 3, axis=2), labels)


def test_mean_colours_are_in_the_numbers_of_the_image(chelsea):
    labels = np.indices(chelsea.shape[:2]).sum(axis=0) // 200
    means = [row["mean_green"] for row in region_rows(chelsea, labels)]
    for image, of_one in ((chelsea.astype(np.uint16) * 16, 16), (chelsea / 255, 1 / 255)):
        for stretch in ("auto", "minmax", "5:95"):
            rows = region_rows(as_raster(image, stretch), labels)
            found = [row["mean_green"] / of_one for row in rows]
            np.testing.assert_allclose(found, means, atol=0.06)


def test_csv_can_be_read_again():
    labels = np.array([[0, 0, 1], [2, 2, 1]])
    rows = list(csv.DictReader(io.StringIO(regions_csv(region_rows(np.zeros((2, 3)), labels)))))
    assert [row["area"] for row in rows] == ["2", "2", "2"]


@settings(max_examples=80, deadline=None)
@given(labels=label_maps)
def test_run_lengths_decode_to_the_regions(labels):
    for label, counts in run_lengths(labels).items():
        mask = np.repeat(np.arange(len(counts)) % 2, counts)
        assert (mask.reshape(labels.shape, order="F") == (labels == label)).all()


def test_coco_structure():
    labels = np.array([[0, 0, 1], [2, 2, 1]])
    data = json.loads(coco_json(np.zeros((2, 3)), labels, "a.png"))
    assert data["images"] == [{"id": 1, "file_name": "a.png", "width": 3, "height": 2}]
    assert [a["id"] for a in data["annotations"]] == [1, 2, 3]
    assert data["annotations"][1]["bbox"] == [2, 0, 1, 2]
    assert sum(data["annotations"][1]["segmentation"]["counts"]) == 6


@settings(max_examples=80, deadline=None)
@given(labels=label_maps)
def test_polygons_cover_exactly_their_regions(labels):
    data = json.loads(geojson(labels))
    assert [f["properties"]["label"] for f in data["features"]] == np.unique(labels).tolist()
    for feature in data["features"]:
        mask = labels == feature["properties"]["label"]
        polygons = feature["geometry"]["coordinates"]
        assert len(polygons) == components(mask, connectivity=1).max()
        area = 0.0
        for outer, *holes in polygons:
            assert signed_area(outer) > 0
            assert all(signed_area(hole) < 0 for hole in holes)
            area += sum(signed_area(ring) for ring in (outer, *holes))
            assert all(ring[0] == ring[-1] for ring in (outer, *holes))
            # A ring that comes to a corner twice would be invalid in the tools that read it.
            assert all(len({*map(tuple, ring)}) == len(ring) - 1 for ring in (outer, *holes))
        assert area == mask.sum()
        inside = sum(winding(polygon, labels.shape) for polygon in polygons)
        assert (inside == mask).all()


def winding(polygon, shape) -> np.ndarray:
    """Count how often the rings go round each pixel's middle, by crossings to its left."""
    turns = np.zeros(shape, int)
    for ring in polygon:
        for (x0, y0), (x1, y1) in pairwise(ring):
            if x0 == x1:
                low, high = sorted((y0, y1))
                turns[low:high, x0:] += 1 if y1 < y0 else -1
    return turns


def test_a_hole_is_a_hole():
    labels = np.zeros((5, 5), int)
    labels[1:4, 1:4] = 1
    ring, inner = (f["geometry"]["coordinates"] for f in json.loads(geojson(labels))["features"])
    assert [len(polygon) for polygon in ring] == [2]  # one polygon: its outline and its hole
    outline, hole = ring[0]
    assert sorted(outline[:-1]) == [[0, 0], [0, 5], [5, 0], [5, 5]]
    corners = [[1, 1], [1, 4], [4, 1], [4, 4]]
    assert all(corner in hole for corner in corners)
    assert [sorted(rings[0][:-1]) for rings in inner] == [corners]


@settings(max_examples=40, deadline=None)
@given(labels=label_maps)
def test_scores_are_shares_of_the_image(labels):
    shares = [float((labels == label).mean()) for label in np.unique(labels)]
    coco = json.loads(coco_json(np.zeros(labels.shape), labels, "a.png"))["annotations"]
    features = json.loads(geojson(labels))["features"]
    assert [annotation["score"] for annotation in coco] == pytest.approx(shares)
    assert [feature["properties"]["score"] for feature in features] == pytest.approx(shares)
    assert sum(shares) == pytest.approx(1)


@pytest.mark.parametrize("shape", [(1, 1), (1, 5), (5, 1)])
def test_thin_maps(shape):
    assert json.loads(geojson(np.zeros(shape, int)))["features"]
