"""Images that lie somewhere on earth, and what is written of them."""

from __future__ import annotations

import csv
import io
import json
import sqlite3
import struct
import subprocess
import sys
from itertools import pairwise
from pathlib import Path
from xml.etree import ElementTree

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import SAMPLES, names, run

from pfeseg import as_raster, segment
from pfeseg.files.geojson import geojson
from pfeseg.files.georeference import read_georeference
from pfeseg.files.labels import write_labels
from pfeseg.files.map_units import map_areas
from pfeseg.files.polygons import signed_area
from pfeseg.files.raster import read_raster
from pfeseg.files.reading import read_image
from pfeseg.image.georeference import Georeference
from pfeseg.pictures.colours import region_colours

rasterio = pytest.importorskip("rasterio", reason="pfeseg[geo] is not installed")
pyogrio = pytest.importorskip("pyogrio", reason="pfeseg[geo] is not installed")

from rasterio.control import GroundControlPoint  # noqa: E402
from rasterio.crs import CRS  # noqa: E402
from rasterio.rpc import RPC  # noqa: E402
from rasterio.shutil import copy  # noqa: E402
from rasterio.transform import Affine, from_origin  # noqa: E402
from rasterio.warp import transform  # noqa: E402

SHAPE = (60, 90)

PLACES = {
    "utm": ("EPSG:32633", from_origin(499980, 5300040, 10, 10)),
    "degrees": ("EPSG:4326", from_origin(10, 50, 0.01, 0.01)),
    "rotated": (
        "EPSG:25832",
        Affine.translation(5e5, 5e6) * Affine.rotation(30) * Affine.scale(2, -3),
    ),
}

EARTH = 510_065_621_724_088.5
"""Square metres of the ellipsoid of WGS 84."""


def scene(bands: int, collar: bool) -> np.ndarray:
    """Render four regions in bands of 16 bits, with a collar of 0 if asked for."""
    rng = np.random.default_rng(5)
    y, x = np.indices(SHAPE)
    truth = (x > 40 + y // 4).astype(int) + 2 * (y > 25)
    spectra = rng.uniform(300, 3000, (4, bands))
    image = (spectra[truth] + rng.normal(0, 30, (*SHAPE, bands))).astype(np.uint16)
    if collar:
        image[x < 8 + y // 6] = 0
    return image


def write(path: Path, image: np.ndarray, place: str | None, **options: object) -> Path:
    crs, where = PLACES[place] if place else (None, None)
    height, width, bands = image.shape
    with rasterio.open(
        path, "w", driver="GTiff", width=width, height=height, count=bands, dtype=image.dtype,
        crs=crs, transform=where, **options,
    ) as data:  # fmt: skip
        data.write(np.moveaxis(image, 2, 0))
    return path


def polygons_of(shape: bytes) -> list[list[np.ndarray]]:
    """Take a multipolygon in well-known binary apart."""
    at = 0

    def take(form: str) -> tuple:
        nonlocal at
        at += struct.calcsize(form)
        return struct.unpack_from(form, shape, at - struct.calcsize(form))

    polygons = []
    for _ in range(take("<BII")[2]):
        rings = [np.array(take(f"<{2 * take('<I')[0]}d")) for _ in range(take("<BII")[2])]
        polygons.append([ring.reshape(-1, 2) for ring in rings])
    return polygons


def table_of(path: Path) -> list[dict[str, float]]:
    with path.open() as file:
        return [{k: float(v) for k, v in row.items()} for row in csv.DictReader(file)]


@pytest.fixture(scope="module", params=PLACES)
def results(request, tmp_path_factory):
    folder = tmp_path_factory.mktemp(request.param)
    options = {"compress": "lzw", "predictor": 2} if request.param == "utm" else {}
    source = write(folder / "a.tif", scene(5, True), request.param, nodata=0, **options)
    saved = "labels,overlay,regions,geojson,geopackage"
    for out in ("out", "again"):
        command = ("segment", source, "-o", folder / out, "--save", saved, "--regions", "4")
        result = run(*command, "--labels-format", "tif")
        assert result.exit_code == 0, result.stderr
    assert [line for line in result.stderr.splitlines() if "Warning" in line] == [
        f"Warning: {source}: 5 bands, used 1,2,3; --bands all uses all"
    ]
    return request.param, source, folder


def test_a_label_map_lies_where_its_image_does(results):
    place, source, folder = results
    with rasterio.open(source) as before, rasterio.open(folder / "out/a_labels.tif") as after:
        assert (after.crs, after.transform) == (before.crs, before.transform)
        assert (after.nodata, after.dtypes) == (0, ("uint16",))
        np.testing.assert_array_equal(after.read(1) == 0, (before.read() == 0).all(axis=0))
        assert set(np.unique(after.read(1))) == {0, 1, 2, 3, 4}
    report = json.loads((folder / "out/a.json").read_text())
    assert report["crs"] == PLACES[place][0]
    assert report["transform"] == list(PLACES[place][1])[:6]
    assert report["area_map_unit"] == "square metre"


def test_the_same_bytes_at_any_time(results):
    _, _, folder = results
    assert names(folder / "out") == names(folder / "again")
    for name in names(folder / "out"):
        if name != "a.json":  # it has the timings
            assert (folder / "out" / name).read_bytes() == (folder / "again" / name).read_bytes()
    with sqlite3.connect(folder / "out/a_regions.gpkg") as base:
        times = base.execute("select last_change from gpkg_contents").fetchall()
    base.close()
    assert times == [("1970-01-01T00:00:00.000Z",)]


def test_the_table_is_in_units_of_the_map(results):
    place, _, folder = results
    labels = tifffile.imread(folder / "out/a_labels.tif")
    image = scene(5, True)
    where = PLACES[place][1]
    rows = table_of(folder / "out/a_regions.csv")
    assert [row["label"] for row in rows] == [1, 2, 3, 4]
    for row in rows:
        inside = labels == row["label"]
        assert row["area"] == inside.sum()
        if place != "degrees":
            assert row["area_map"] == pytest.approx(inside.sum() * abs(where.determinant))
        y, x = np.argwhere(inside).mean(axis=0) + 0.5
        found = ~where * (row["centroid_map_x"], row["centroid_map_y"])
        np.testing.assert_allclose(found, (x, y), atol=0.02)
        means = [row[f"mean_band_{band}"] for band in range(1, 6)]
        np.testing.assert_allclose(means, image[inside].mean(axis=0), rtol=1e-5)


def test_a_geopackage_has_polygons_in_the_system_of_the_file(results):
    place, _, folder = results
    meta, _, shapes, values = pyogrio.raw.read(folder / "out/a_regions.gpkg")
    assert CRS.from_user_input(meta["crs"]) == CRS.from_user_input(PLACES[place][0])
    found = dict(zip(meta["fields"], values, strict=True))
    rows = table_of(folder / "out/a_regions.csv")
    for name in rows[0]:
        np.testing.assert_allclose(found[name], [row[name] for row in rows])
    pixel = abs(PLACES[place][1].determinant)
    for shape, area in zip(shapes, found["area"], strict=True):
        rings = [ring for polygon in polygons_of(shape) for ring in polygon]
        assert abs(sum(map(signed_area, rings))) == pytest.approx(area * pixel)


def test_geojson_is_in_longitude_and_latitude(results):
    place, _, folder = results
    crs, where = PLACES[place]
    features = json.loads((folder / "out/a_regions.geojson").read_text())["features"]
    rows = table_of(folder / "out/a_regions.csv")
    assert [f["properties"]["area_map"] for f in features] == [row["area_map"] for row in rows]
    for feature, row in zip(features, rows, strict=True):
        area = 0.0
        for outer, *holes in feature["geometry"]["coordinates"]:
            assert signed_area(outer) > 0
            assert all(signed_area(hole) < 0 for hole in holes)
            for ring in (outer, *holes):
                assert ring[0] == ring[-1]
                x, y = transform("EPSG:4326", crs, *np.transpose(ring))
                corners = np.stack(~where * (np.array(x), np.array(y)), axis=1)
                np.testing.assert_allclose(corners, corners.round(), atol=1e-3)
                area -= signed_area(corners.round())
        assert area == row["area"]


def place_of(crs: str, where: Affine) -> Georeference:
    return Georeference(CRS.from_user_input(crs).to_wkt(), tuple(where)[:6], crs)


def features_of(labels: np.ndarray, place: Georeference) -> list[dict]:
    return json.loads(geojson(labels, 0, place))["features"]


def rings_of(feature: dict) -> list[list[list[float]]]:
    return [ring for polygon in feature["geometry"]["coordinates"] for ring in polygon]


def test_neighbours_have_the_same_points_along_their_border():
    labels = np.random.default_rng(0).integers(0, 5, (9, 14)).repeat(20, 0).repeat(20, 1)
    features = features_of(labels, place_of("EPSG:32633", from_origin(6e5, 7e6, 100, 100)))
    steps = [
        (tuple(start), tuple(end))
        for feature in features
        for ring in rings_of(feature)
        for start, end in pairwise(ring)
    ]
    assert len(steps) == len(set(steps))
    alone = [step for step in steps if step[::-1] not in set(steps)]
    ends = [start for start, _ in alone]
    assert sorted(ends) == sorted(end for _, end in alone)  # the rim of the image, once round
    ring = [ends[0]]
    following = dict(alone)
    while following[ring[-1]] != ring[0]:
        ring.append(following[ring[-1]])
    assert len(ring) == len(alone)


GLOBE = (np.indices((18, 36)).sum(axis=0) // 9) % 5


@pytest.mark.parametrize("west", [-180, 0, -175])
def test_the_whole_earth(west):
    place = place_of("EPSG:4326", from_origin(west, 90, 10, 10))
    labels = GLOBE.repeat(10, 0).repeat(10, 1)
    fine = place_of("EPSG:4326", from_origin(west, 90, 1, 1))
    assert map_areas(labels, fine).sum() == pytest.approx(EARTH, rel=2e-5)
    features = features_of(GLOBE, place)
    points = np.concatenate([np.array(ring) for f in features for ring in rings_of(f)])
    assert (np.abs(points) <= (180, 90)).all()
    for feature in features:
        area = sum(map(signed_area, rings_of(feature)))
        counted = (feature["properties"]["label"] == GLOBE).sum() * 100
        # With -175, the antimeridian runs through the middle of pixels, which move by half.
        assert area == pytest.approx(counted, rel=1e-9 if west != -175 else 0.2)
    total = sum(signed_area(ring) for f in features for ring in rings_of(f))
    assert total == pytest.approx(360 * 180)


def test_what_reaches_across_the_antimeridian_is_cut_there():
    labels = (np.indices((30, 40)).sum(axis=0) // 12) % 4
    where = from_origin(160000, 5e6, 4000, 4000)  # of zone 1, and six degrees further east
    across, whole = (features_of(labels, place_of(f"EPSG:3260{k}", where)) for k in (1, 2))
    sides = set()
    for cut, uncut in zip(across, whole, strict=True):
        for ring in rings_of(cut):
            lon = np.array(ring)[:, 0]
            assert np.ptp(lon) < 10
            sides.add(float(np.sign(lon.mean())))
        areas = [sum(map(signed_area, rings_of(feature))) for feature in (cut, uncut)]
        assert areas[0] == pytest.approx(areas[1], rel=0.02)
    assert sides == {-1.0, 1.0}


def test_corners_beyond_the_rim_of_the_earth_are_left_out():
    satellite = "+proj=geos +h=35785831 +lon_0=-75 +sweep=x +ellps=GRS80"
    where = from_origin(-5.5e6, 5.5e6, 5.5e5, 5.5e5)
    labels = (np.indices((20, 20)) // 7).sum(axis=0)
    with pytest.warns(UserWarning, match=r"GeoJSON lacks \d+ of \d+ corners"):
        features = features_of(labels, place_of(satellite, where))
    points = np.concatenate([np.array(ring) for f in features for ring in rings_of(f)])
    assert np.isfinite(points).all()
    assert len(features) == 5


@pytest.mark.parametrize("crs", [None, 'LOCAL_CS["site",UNIT["metre",1]]'])
def test_without_longitude_and_latitude_pixels_are_written_and_that_is_said(crs):
    place = Georeference(crs, (0.5, 0, 10, 0, -0.5, 20), crs)
    labels = np.indices((4, 6))[1] // 3
    with pytest.warns(UserWarning, match="GeoJSON has pixels as coordinates"):
        found = json.loads(geojson(labels, 0, place))
    plain = json.loads(geojson(labels))
    assert [f["geometry"] for f in found["features"]] == [f["geometry"] for f in plain["features"]]
    assert [f["properties"]["area_map"] for f in found["features"]] == [3.0, 3.0]


def test_the_style_has_the_colours_of_the_overlay(results):
    _, _, folder = results
    labels = tifffile.imread(folder / "out/a_labels.tif")
    text = (folder / "out/a_labels.qml").read_text()
    entries = ElementTree.parse(io.StringIO(text)).findall(".//paletteEntry")
    assert [int(entry.get("value")) for entry in entries] == [1, 2, 3, 4]
    colours = [[int(entry.get("color")[k : k + 2], 16) for k in (1, 3, 5)] for entry in entries]
    np.testing.assert_array_equal(colours, np.rint(255 * region_colours(labels))[1:])


def test_png_label_maps_have_their_place_beside_them(results, tmp_path):
    place, source, _ = results
    assert run("segment", source, "-o", tmp_path, "--regions", "4").exit_code == 0
    beside = {"a_labels.png.aux.xml", "a_labels.qml"}
    assert set(names(tmp_path)) == {"a_labels.png", "a_overlay.png", "a.json", *beside}
    with rasterio.open(tmp_path / "a_labels.png") as data:
        assert (data.crs, data.transform) == PLACES[place]
    again = run("segment", tmp_path, "-o", tmp_path / "none")
    assert "holds no images" in again.stderr  # nor is what lies beside labels left out of a folder
    assert "left out" not in again.stderr
    # What is replaced by an image that lies nowhere takes what lay beside it with it.
    iio.imwrite(tmp_path / "a.png", np.zeros((20, 30), np.uint8))
    assert run("segment", tmp_path / "a.png", "-o", tmp_path, "--overwrite").exit_code == 0
    assert not set(names(tmp_path)) & beside


def test_a_style_of_somebody_is_not_replaced(tmp_path):
    source = write(tmp_path / "a.tif", scene(3, False), "utm")
    (tmp_path / "a_labels.qml").write_text("mine")
    result = run("segment", source)
    assert result.exit_code == 1
    assert "a_labels.qml exists; use --overwrite" in result.stderr
    assert (tmp_path / "a_labels.qml").read_text() == "mine"


def test_many_labels_take_32_bits(tmp_path):
    labels = np.arange(300 * 300).reshape(300, 300)
    raster = as_raster(np.zeros((300, 300), np.uint8))
    object.__setattr__(raster, "georeference", place_of(*PLACES["utm"]))
    write_labels(tmp_path / "a.tif", labels, image=raster)
    with rasterio.open(tmp_path / "a.tif") as data:
        assert data.dtypes == ("uint32",)
        assert data.nodata is None
        np.testing.assert_array_equal(data.read(1), labels)
    with pytest.warns(UserWarning, match='labels_format="tif" does'):
        write_labels(tmp_path / "a.npy", labels, image=raster)


def test_stage_commands_write_what_segment_writes(tmp_path):
    source = write(tmp_path / "a.tif", scene(3, True), "utm", nodata=0)
    for words in (
        ("downsample", source, "-o", tmp_path / "i.npz"),
        ("graph", tmp_path / "i.npz", "-o", tmp_path / "g.npz"),
        ("init", tmp_path / "i.npz", "-o", tmp_path / "y.npz"),
        ("embed", tmp_path / "g.npz", tmp_path / "y.npz", "-o", tmp_path / "e.npz"),
        ("merge", tmp_path / "e.npz", source, "-o", tmp_path / "labels.tif"),
        ("segment", source, "-o", tmp_path, "--labels-format", "tif"),
    ):
        assert run(*words).exit_code == 0, words
    for ending in (".tif", ".qml"):
        ours, whole = (tmp_path / f"{stem}{ending}" for stem in ("labels", "a_labels"))
        assert ours.read_bytes() == whole.read_bytes()


def test_standard_input_keeps_its_place(tmp_path):
    source = write(tmp_path / "a.tif", scene(4, True), "utm", nodata=0)
    command = [sys.executable, "-m", "pfeseg", "segment", "-", "-o", tmp_path / "out"]
    command += ["--save", "labels,regions", "--labels-format", "tif"]
    subprocess.run(command, input=source.read_bytes(), check=True, capture_output=True)
    with rasterio.open(tmp_path / "out/stdin_labels.tif") as data:
        assert (data.crs, data.transform) == PLACES["utm"]
    assert "mean_band_4" in table_of(tmp_path / "out/stdin_regions.csv")[0]


def test_without_rasterio_an_image_is_segmented_and_a_line_says_what_is_lost(tmp_path, monkeypatch):
    source = write(tmp_path / "a.tif", scene(3, True), "utm", nodata=0)
    monkeypatch.setitem(sys.modules, "rasterio", None)
    result = run("segment", source, "-o", tmp_path / "out", "--save", "labels,geojson")
    assert result.exit_code == 0
    lost = "its place on earth is lost in what is written; pip install 'pfeseg[geo]' keeps it"
    assert result.stderr.splitlines()[0] == f"Warning: {source}: {lost}"
    assert result.stderr.count("Warning") == 1
    assert names(tmp_path / "out") == ["a.json", "a_labels.png", "a_regions.geojson"]
    wanted = segment(scene(3, True), mask=(scene(3, True) > 0).any(axis=2)).labels
    np.testing.assert_array_equal(iio.imread(tmp_path / "out/a_labels.png"), wanted)
    result = run("segment", source, "-o", tmp_path / "out", "--save", "geopackage")
    assert (result.exit_code, "pip install 'pfeseg[geo]'" in result.stderr) == (2, True)


def test_a_geopackage_of_an_image_that_lies_nowhere_is_refused(tmp_path):
    result = run("segment", SAMPLES / "scene.png", "-o", tmp_path, "--save", "labels,geopackage")
    assert result.exit_code == 1
    assert "scene.png: is not georeferenced, as a GeoPackage has to be" in result.stderr
    assert names(tmp_path) == []


def test_rasterio_is_imported_only_for_what_lies_somewhere(tmp_path):
    tifffile.imwrite(tmp_path / "plain.tif", scene(3, False), photometric="rgb")
    program = (
        "import sys; from pathlib import Path; from pfeseg.files.raster import read_raster\n"
        "for name in sys.argv[1:]: read_raster(Path(name))\n"
        "sys.exit('rasterio' in sys.modules)"
    )
    files = [tmp_path / "plain.tif", SAMPLES / "scene.png", SAMPLES / "coffee.jpg"]
    assert subprocess.run([sys.executable, "-c", program, *files]).returncode == 0


POINTS = [
    GroundControlPoint(row, column, 10 + column / 100, 50 - row / 100)
    for row, column in ((0, 0), (0, 90), (60, 0), (60, 90))
]
ONE, FIRST, SECOND = ([float(k == place) for k in range(20)] for place in range(3))
COEFFICIENTS = RPC(
    height_off=0, height_scale=100, lat_off=50, lat_scale=1, long_off=10, long_scale=1,
    line_off=30, line_scale=60, line_num_coeff=SECOND, line_den_coeff=ONE,
    samp_off=45, samp_scale=90, samp_num_coeff=FIRST, samp_den_coeff=ONE,
)  # fmt: skip


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"gcps": POINTS, "crs": "EPSG:4326"}, "ground control points only; gdalwarp"),
        ({"transform": Affine(1e200, 0, 0, 0, -1e200, 0)}, "leads nowhere on earth"),
        ({"transform": Affine(1e-20, 0, 0, 0, -1e-20, 0)}, "leads nowhere on earth"),
        ({"transform": Affine(1, 0, 1e308, 0, -1, 1e308)}, "leads nowhere on earth"),
        ({"rpcs": COEFFICIENTS}, "rational polynomial coefficients only; gdalwarp -rpc"),
        ({"crs": "EPSG:32633"}, "the file has no transform from pixels to coordinates"),
    ],
)
@pytest.mark.filterwarnings("ignore::rasterio.errors.NotGeoreferencedWarning")
def test_a_place_without_a_transform_is_lost_with_a_line(tmp_path, options, message):
    image = scene(3, False)
    path = tmp_path / "a.tif"
    with rasterio.open(
        path, "w", driver="GTiff", width=90, height=60, count=3, dtype="uint16", **options
    ) as data:
        data.write(np.moveaxis(image, 2, 0))
    with pytest.warns(UserWarning, match=message):
        assert read_georeference(path, SHAPE, name="a.tif") is None


def test_world_files(tmp_path):
    image = (scene(3, False) // 16).astype(np.uint8)
    iio.imwrite(tmp_path / "a.png", image)
    (tmp_path / "a.pgw").write_text("2\n0\n0\n-2\n101\n199\n")
    place = read_raster(tmp_path / "a.png").georeference
    assert place == Georeference(None, (2, 0, 100, 0, -2, 200))
    iio.imwrite(
        tmp_path / "b.jpg", image, exif=b"Exif\0\0II*\0\x08\0\0\0\1\0\x12\1\3\0\1\0\0\0\3\0\0\0"
    )
    (tmp_path / "b.jgw").write_text("2\n0\n0\n-2\n101\n199\n")
    with pytest.warns(UserWarning, match="EXIF data turn the image"):
        assert read_raster(tmp_path / "b.jpg").georeference is None


@pytest.mark.parametrize("dtype", [np.uint8, np.uint16])
@pytest.mark.parametrize("orientation", range(1, 9))
def test_what_lies_on_earth_is_not_turned(tmp_path, dtype, orientation):
    image = scene(3, False).astype(dtype)
    with tifffile.TiffFile(write(tmp_path / "a.tif", image, "utm")) as tiff:
        tags = [tiff.pages[0].tags[code] for code in (33550, 33922, 34735, 34737)]
        extra = [(tag.code, tag.dtype, tag.count, tag.value, True) for tag in tags]
    turned = [*extra, (274, "H", 1, orientation, True)]
    tifffile.imwrite(tmp_path / "b.tif", image, photometric="rgb", extratags=turned)
    raster = read_raster(tmp_path / "b.tif")
    np.testing.assert_array_equal(raster.values, image)
    assert raster.georeference == read_raster(tmp_path / "a.tif").georeference


@pytest.fixture
def cloud_optimised(tmp_path):
    """Write files with overviews, one with a no-data value and one with a mask."""
    image = scene(3, True).repeat(10, 0).repeat(10, 1)
    write(tmp_path / "tagged.tif", image, "utm", nodata=0)
    with rasterio.Env(GDAL_TIFF_INTERNAL_MASK=True):
        write(tmp_path / "masked.tif", image, "utm")
        with rasterio.open(tmp_path / "masked.tif", "r+") as data:
            data.write_mask((image > 0).any(axis=2))
        for name in ("tagged", "masked"):
            options = {"driver": "COG", "compress": "lzw", "blocksize": 128}
            copy(tmp_path / f"{name}.tif", tmp_path / f"{name}_cog.tif", **options)
    return image, tmp_path


@pytest.mark.parametrize("name", ["tagged_cog.tif", "masked_cog.tif"])
def test_overviews_are_neither_pages_nor_masks(cloud_optimised, name):
    image, folder = cloud_optimised
    with tifffile.TiffFile(folder / name) as tiff:
        assert len(tiff.pages) > 2
    raster = read_raster(folder / name)
    inside = (image > 0).any(axis=2)
    np.testing.assert_array_equal(raster.mask, inside)
    np.testing.assert_array_equal(raster.values[inside], image[inside])
    result = run("segment", folder / name, "--page", "1", "-o", folder / "out")
    assert (result.exit_code, "has 1 page(s)" in result.stderr) == (1, True)


def test_pages_have_their_own_places(tmp_path):
    with rasterio.open(write(tmp_path / "a.tif", scene(1, False), "utm")) as data:
        first = data.transform
    moved = from_origin(0, 0, 5, 5)
    with rasterio.open(
        tmp_path / "a.tif", "w", driver="GTiff", width=90, height=60, count=1, dtype="uint16",
        crs="EPSG:32633", transform=moved, APPEND_SUBDATASET="YES",
    ) as data:  # fmt: skip
        data.write(scene(1, False)[::-1, :, 0], 1)
    pages = [read_raster(tmp_path / "a.tif", page=page) for page in (0, 1)]
    assert [page.georeference.transform for page in pages] == [tuple(first)[:6], tuple(moved)[:6]]
    np.testing.assert_array_equal(pages[0].values, pages[1].values[::-1])


@pytest.mark.parametrize(
    "options", [{"compress": "lzw"}, {"compress": "lzw", "interleave": "band"}]
)
def test_compressions_that_rasterio_alone_knows(tmp_path, monkeypatch, options):
    image = scene(5, False)
    path = write(tmp_path / "a.tif", image, "utm", **options)
    np.testing.assert_array_equal(read_image(path), image)
    monkeypatch.setitem(sys.modules, "rasterio", None)
    try:
        import imagecodecs  # noqa: F401
    except ImportError:
        result = run("segment", path, "-o", tmp_path / "out")
        assert result.exit_code == 1
        assert "compressed by LZW; pip install 'pfeseg[geo]' reads it" in result.stderr


@pytest.mark.parametrize("crs", ["EPSG:32633", "EPSG:4326"])
def test_a_raster_cut_by_tiles_keeps_its_place(tmp_path, crs):
    rng = np.random.default_rng(2)
    values = np.repeat(np.repeat(rng.integers(0, 255, (4, 5), dtype=np.uint8), 80, 0), 80, 1)
    values[:80, :80] = 7
    step = 10 if crs == "EPSG:32633" else 1e-4
    place = from_origin(500_000 if step == 10 else 15, 5_000_000 if step == 10 else 45, step, step)
    path = tmp_path / "scene.tif"
    size = {"width": 400, "height": 320, "count": 1, "dtype": "uint8"}
    with rasterio.open(path, "w", "GTiff", crs=crs, transform=place, nodata=7, **size) as data:
        data.write(values, 1)
    done = run("segment", path, "--tile", 200, "--save", "labels,regions", "-o", tmp_path / "out")
    assert done.exit_code == 0, done.output
    with rasterio.open(tmp_path / "out" / "scene_labels.tif") as data:
        assert (data.crs.to_string(), data.transform, data.nodata) == (crs, place, 0)
        labels = data.read(1)
    assert (labels[:80, :80] == 0).all()
    with (tmp_path / "out" / "scene_regions.csv").open() as file:
        rows = list(csv.DictReader(file))
    whole = read_raster(path)
    areas = map_areas(labels, whole.georeference)
    assert [int(row["label"]) for row in rows] == list(range(1, labels.max() + 1))
    for row in rows:
        assert float(row["area_map"]) == pytest.approx(areas[int(row["label"])], rel=1e-9)
    style = (tmp_path / "out" / "scene_labels.qml").read_text()
    assert style.count("paletteEntry") == len(rows)
