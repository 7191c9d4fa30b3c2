"""Large rasters: cut by tiles, sewn together, never whole in memory."""

from __future__ import annotations

import csv
import json
import sys
from itertools import pairwise
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import SAMPLES, names, run, same_partition
from scipy.ndimage import distance_transform_edt

from pfeseg import Level, Regions, Settings, segment
from pfeseg.engines.local import Local
from pfeseg.files.labels import read_labels
from pfeseg.files.raster import read_raster
from pfeseg.files.windows import open_windows
from pfeseg.image.tiling import Tiling, cells, inside
from pfeseg.labels.maps import find_boundaries, split_regions
from pfeseg.labels.metrics import score
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.regions.linkage import Boundaries, link
from pfeseg.regions.seams import Overlap, Pieces, find_seam
from pfeseg.run.look import find_look
from pfeseg.run.plan import Task
from pfeseg.run.tiles import sew_raster

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from scenes import Scene

PHOTO = np.ascontiguousarray(iio.imread(SAMPLES / "coffee.jpg")[::2, ::2])
ALL = ("--save", "labels,overlay,regions")


@pytest.fixture(scope="module")
def photo(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("photo") / "photo.tif"
    tifffile.imwrite(path, PHOTO, photometric="rgb", tile=(64, 80), compression="zlib")
    return path


def outputs(folder: Path) -> dict[str, bytes]:
    """Read all results but the report, whose times differ."""
    return {name: (folder / name).read_bytes() for name in names(folder) if "json" not in name}


@pytest.mark.parametrize(("shape", "size"), [((600, 400), 200), ((70, 1000), 64), ((65, 65), 64)])
def test_tiles_cover_an_image_and_only_neighbours_overlap(shape, size):
    tiling = Tiling.of(shape, size)
    covered = np.zeros(shape, dtype=int)
    for tile in range(len(tiling)):
        covered[tiling.window(tile)] += 1
    assert covered.min() == 1
    assert covered.max() <= 4
    for spans, length in ((tiling.rows, shape[0]), (tiling.columns, shape[1])):
        assert max(span.stop - span.start for span in spans) <= min(size, length)
        assert all(a.stop - b.start >= tiling.overlap - 1 for a, b in pairwise(spans))
        assert all(a.stop <= b.start for a, b in zip(spans, spans[2:], strict=False))
    counted = np.zeros(shape, dtype=int)
    for cell in cells(shape, size):
        counted[cell] += 1
    assert (counted == 1).all()


def test_a_seam_keeps_away_from_where_tiles_disagree():
    disagreement = np.ones((60, 30))
    middle = np.rint(15 + 10 * np.sin(np.arange(60) / 10)).astype(int)
    for row, place in enumerate(middle):
        disagreement[row, place - 1 : place + 1] = 0
    path = find_seam(disagreement)
    assert np.abs(path - middle).max() <= 1
    assert np.abs(np.diff(path)).max() <= 1
    np.testing.assert_array_equal(find_seam(np.zeros((9, 20))), np.full(9, 10))
    assert abs(find_seam(disagreement[30:], start=3)[0] - 3) <= 1


def pieces_of(labels: np.ndarray, seed: int) -> Pieces:
    """Make pieces of some labels that merge in any order."""
    n, rng = int(labels.max()), np.random.default_rng(seed)
    merges = np.array([(0, k) for k in rng.permutation(n) + 1], dtype=np.int32)
    return Pieces(labels, merges, np.sort(rng.random(n)))


def test_what_two_tiles_say_of_their_overlap_does_not_depend_on_their_order():
    y, x = np.indices((40, 24))
    one = pieces_of(1 + (x // 9) + 3 * (y // 15), 0)
    two = pieces_of(1 + ((x + 2) // 9) + 3 * (y // 13), 1)
    a, b = (grid.ravel() for grid in np.meshgrid(range(1, 7), range(1, 7)))
    np.testing.assert_allclose(Overlap(one, two).apart(a, b), Overlap(two, one).apart(b, a))
    np.testing.assert_allclose(Overlap(one, two).disagreement(), Overlap(two, one).disagreement())
    same = Overlap(one, one)
    assert same.disagreement().max() == 0
    np.testing.assert_allclose(same.apart(a, b), one.levels_between(a, b))


def test_linking_the_boundaries_of_one_hierarchy_gives_it_again():
    labels = segment(PHOTO, hierarchy=True).hierarchy.pruned(0.05)
    pairs, lengths, sums = [], [], []
    for a, b in ((labels.base[:, 1:], labels.base[:, :-1]), (labels.base[1:], labels.base[:-1])):
        met, counts = np.unique(
            np.sort(np.stack([a[a != b], b[a != b]], 1), axis=1), axis=0, return_counts=True
        )
        pairs.append(met)
        lengths.append(counts)
        sums.append(counts * labels._merge_levels(met[:, 0], met[:, 1]))
    parts = [
        Boundaries(p, n.astype(float), s) for p, n, s in zip(pairs, lengths, sums, strict=True)
    ]
    tree = link(Boundaries.joined(parts), len(labels.merges) + 1)
    for level in (0.1, 0.3, 0.5, 0.7):
        np.testing.assert_array_equal(tree.cut(level)[0][labels.base], labels.cut(level))


def test_pruned_hierarchies_have_the_same_levels_from_there_on():
    for mask in (None, np.indices(PHOTO.shape[:2]).sum(0) > 150):
        tree = segment(PHOTO, hierarchy=True, mask=mask).hierarchy
        pruned = tree.pruned(0.2)
        assert len(pruned.merges) < len(tree.merges)
        for level in (0.2, 0.35, 0.5):
            np.testing.assert_array_equal(pruned.cut(level), tree.cut(level))


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"cut": Level(0.25)},
        {"cut": Regions(7)},
        {"min_region": 0.01},
        {"cut": Level(0.3), "min_region": 100.0, "bands": "2,3,1"},
    ],
    ids=str,
)
@pytest.mark.parametrize("masked", [False, True])
def test_one_tile_is_the_plain_segmentation(photo, tmp_path, settings, masked):
    chosen, mask = Settings(**settings), None
    if masked:
        mask = str(tmp_path / "mask.png")
        y, x = np.indices(PHOTO.shape[:2])
        iio.imwrite(mask, ((np.hypot(y - 100, x - 150) < 95) * 255).astype(np.uint8))
    of, sewn = sew_raster(Task(photo, {}, chosen, tile=640, mask=mask), tmp_path, Local())
    plain = segment(read_raster(photo, chosen.stretch, chosen.bands, mask=mask), chosen)
    whole = tuple(slice(0, side) for side in of.image.shape)
    np.testing.assert_array_equal(of.mosaic.labels(whole), plain.labels)
    assert (sewn.n_regions, sewn.first_label) == (plain.n_regions, plain.first_label)


def test_one_tile_writes_the_same_files(photo, tmp_path):
    assert run("segment", photo, "-o", tmp_path / "plain", *ALL).exit_code == 0
    assert run("segment", photo, "-o", tmp_path / "one", *ALL, "--tile", 600).exit_code == 0
    plain, one = (outputs(tmp_path / name) for name in ("plain", "one"))
    for name in ("photo_overlay.png", "photo_regions.csv"):
        assert plain[name] == one[name]
    labels = read_labels(tmp_path / "plain" / "photo_labels.png")
    np.testing.assert_array_equal(read_labels(tmp_path / "one" / "photo_labels.tif"), labels)
    report = json.loads((tmp_path / "one" / "photo.json").read_text())
    assert report["tiles"]["columns"] == report["tiles"]["rows"] == 1
    assert report["regions"] == labels.max() + 1


def test_any_number_of_jobs_writes_the_same_bytes(photo, tmp_path):
    for jobs in (1, 2):
        result = run("segment", photo, "-o", tmp_path / str(jobs), "--tile", 160, *ALL,
                     "--jobs", jobs, "--min-region", 75)  # fmt: skip
        assert result.exit_code == 0, result.output
        assert names(tmp_path / str(jobs)) == [
            "photo.json", "photo_labels.tif", "photo_overlay.png", "photo_regions.csv",
        ]  # fmt: skip
    assert outputs(tmp_path / "1") == outputs(tmp_path / "2")
    labels = read_labels(tmp_path / "1" / "photo_labels.tif")
    assert same_partition(split_regions(labels), labels)  # each is connected
    assert np.bincount(labels.ravel()).min() >= 75
    with (tmp_path / "1" / "photo_regions.csv").open() as file:
        rows = list(csv.DictReader(file))
    assert [int(row["area"]) for row in rows] == np.bincount(labels.ravel()).tolist()
    inside = labels == 1
    assert float(rows[1]["mean_red"]) == pytest.approx(PHOTO[inside][:, 0].mean(), abs=0.06)
    assert float(rows[1]["centroid_x"]) == pytest.approx(np.nonzero(inside)[1].mean(), abs=0.01)


def test_no_boundary_lies_on_a_seam_that_is_none_of_the_scene(tmp_path):
    scene = Scene(900, seed=4)
    scene.write(tmp_path / "scene.tif")
    truth = scene.labels(*scene.whole)
    of, sewn = sew_raster(Task(tmp_path / "scene.tif", {}, Settings(), tile=340), tmp_path, Local())
    labels, owners = of.mosaic.labels(scene.whole), of.mosaic.owners(scene.whole)
    assert len(np.unique(owners)) == len(of.mosaic.tiling) == 16
    far = distance_transform_edt(~find_boundaries(truth)) > 6
    assert not (find_boundaries(owners) & find_boundaries(labels) & far).any()
    assert sewn.counts["regions_across_tiles"] > 5
    assert score(labels, [truth]).covering > 0.95


def test_masks_are_honoured_by_every_tile_and_masked_tiles_left_out(photo, tmp_path):
    y, x = np.indices(PHOTO.shape[:2])
    mask = (np.abs(y - 100) + np.abs(x - 150) < 90) & (np.abs(x - 165) > 2)
    iio.imwrite(tmp_path / "mask.png", (mask * 255).astype(np.uint8))
    result = run("segment", photo, "-o", tmp_path / "out", "--tile", 80, "--mask",
                 tmp_path / "mask.png", *ALL, "--level", 0.3)  # fmt: skip
    assert result.exit_code == 0, result.output
    labels = read_labels(tmp_path / "out" / "photo_labels.tif")
    np.testing.assert_array_equal(labels == 0, ~mask)
    assert len(np.unique(labels)) == labels.max() + 1
    pieces = split_regions(labels)
    assert len(np.unique(pieces[mask])) == labels.max()
    report = json.loads((tmp_path / "out" / "photo.json").read_text())
    assert report["first_label"] == 1
    assert report["masked_pixels"] == (~mask).sum()
    overlay = iio.imread(tmp_path / "out" / "photo_overlay.png")
    assert (overlay[~mask] == 255).all()


def test_a_raster_that_is_masked_all_over_is_refused_in_one_line(photo, tmp_path):
    black = tmp_path / "black.tif"
    tifffile.imwrite(black, np.zeros((300, 300), np.uint8))
    result = run("segment", black, "-o", tmp_path / "out", "--tile", 128, "--nodata", 0)
    assert result.exit_code == 1
    assert "no pixel is left" in result.stderr
    assert names(tmp_path / "out") == []


def test_the_stretch_is_found_once_for_all_tiles(tmp_path):
    deep = (PHOTO[..., 1].astype(np.uint16) << 2) + 1000
    deep[150:, 200:] += 500
    tifffile.imwrite(tmp_path / "deep.tif", deep, tile=(64, 64))
    for stretch in ("auto", "minmax", "2:90"):
        opened = open_windows(tmp_path / "deep.tif", tmp_path)
        look = find_look(opened, Settings(stretch=stretch), 64, Local())
        plain = read_raster(tmp_path / "deep.tif", stretch)
        assert (look.black, look.white) == (plain.black, plain.white)
        window = slice(0, 50), slice(70, 90)
        np.testing.assert_array_equal(
            look.like(deep[window][..., None]).values, plain.values[window]
        )


def test_many_bands_have_the_same_components_in_all_tiles(tmp_path):
    cube = np.dstack([PHOTO, PHOTO[::-1], PHOTO[:, ::-1]]).astype(np.float32) / 300
    tifffile.imwrite(tmp_path / "cube.tif", cube, photometric="minisblack", planarconfig="contig")
    task = Task(tmp_path / "cube.tif", {}, Settings(bands="all"), tile=128)
    of, _ = sew_raster(task, tmp_path, Local())
    whole = read_raster(tmp_path / "cube.tif", bands="all")
    for tile in (0, 3):
        window = of.mosaic.tiling.window(tile)
        part = of.image.raster(window, of.model)
        np.testing.assert_allclose(part.values, whole.values[window], atol=0.02)
        np.testing.assert_array_equal(part.picture().values, whole.picture().values[window])


def test_values_that_are_no_numbers_are_refused_with_their_place_in_the_raster(tmp_path):
    bad = np.zeros((400, 300), np.float32)
    bad[350, 211] = np.nan
    tifffile.imwrite(tmp_path / "bad.tif", bad, tile=(64, 64))
    result = run("segment", tmp_path / "bad.tif", "-o", tmp_path / "out", "--tile", 128)
    assert result.exit_code == 1
    assert "NaN at row 350, column 211" in result.stderr
    assert len(result.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("-k", "5"), "clusters"),
        (("--method", "ncut"), "clusters"),
        (("-d", "auto"), "-d"),
        (("--save", "labels,coco"), "coco"),
        (("--hierarchy",), "ucm"),
        (("--labels-format", "png"), "tif or npy"),
    ],
)
def test_what_tiles_cannot_do_is_refused_before_any_work(photo, tmp_path, options, said):
    result = run("segment", photo, "-o", tmp_path / "out", "--tile", 200, *options)
    assert result.exit_code == 2
    assert said in result.stderr.splitlines()[-1]
    assert not (tmp_path / "out").exists()


def test_overlays_of_tiles_are_as_small_as_asked_for(photo, tmp_path):
    for options in ((), ("--tile", 128)):
        words = ("--overlay-size", 100, "--regions", 5, "--overwrite", "--save", "overlay")
        assert run("segment", photo, "-o", tmp_path, *words, *options).exit_code == 0
        assert iio.imread(tmp_path / "photo_overlay.png").shape == (66, 100, 3)


def test_results_of_tiles_are_skipped_or_replaced_like_others(photo, tmp_path):
    words = ("segment", photo, "-o", tmp_path, "--tile", 200, "--save", "labels")
    assert run(*words).exit_code == 0
    assert "exists" in run(*words).stderr
    again = run(*words, "--skip-existing", "--json")
    assert json.loads(again.stdout)["status"] == "skipped"
    (tmp_path / "photo.json").unlink()
    assert run(*words, "--skip-existing").exit_code == 0
    assert run(*words, "--overwrite", "--labels-format", "npy").exit_code == 0
    np.testing.assert_array_equal(
        np.load(tmp_path / "photo_labels.npy"), read_labels(tmp_path / "photo_labels.tif")
    )


def test_a_tree_of_one_region_links():
    none = Boundaries(np.zeros((0, 2), dtype=np.int64), np.zeros(0), np.zeros(0))
    tree = link(none, 1)
    assert isinstance(tree, Hierarchy)
    np.testing.assert_array_equal(tree.cut(0.5), [[0]])
    assert inside((slice(3, 4), slice(5, 7)), (slice(1, 9), slice(5, 9))) == (
        slice(2, 3), slice(0, 2),
    )  # fmt: skip
