"""Volumes: slices of one body, cut in three dimensions."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
import tifffile
from helpers import names, run, same_partition

import pfeseg
from pfeseg import InvalidInputError, VolumeSettings, segment_volume
from pfeseg.files.volumes import read_volume, write_label_volume
from pfeseg.volumes.connected import connected_regions
from pfeseg.volumes.graph import voxel_graph
from pfeseg.volumes.memory import estimate_volume_memory
from pfeseg.volumes.resize import enlarge_volume, shrink_volume, working_shape

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from known_regions import agreement, by_kmeans, render_volume
from measuring import peak_memory

SHAPE = (16, 40, 40)
TRUTH, NOISY = render_volume(SHAPE, 0.1, (2, 1, 1))
FIVE = VolumeSettings(5)


@pytest.mark.parametrize("spacing", [(1, 1, 1), (2, 1, 1)])
def test_noisy_regions_are_found_where_kmeans_fails(spacing):
    found = segment_volume(NOISY, FIVE, spacing=spacing)
    assert by_kmeans(TRUTH, NOISY) < 0.4
    assert agreement(TRUTH, found.labels) > 0.9
    assert (found.labels.shape, found.labels.dtype, found.n_regions) == (SHAPE, np.int32, 5)


@pytest.mark.parametrize("spacing", [(1, 1, 1), (3, 1, 0.5)])
def test_flat_regions_are_recovered_exactly(spacing):
    truth, flat = render_volume(SHAPE, 0.0)
    assert same_partition(segment_volume(flat, FIVE, spacing=spacing).labels, truth)


def test_the_same_bytes_on_any_number_of_threads():
    one, two = (segment_volume(NOISY, FIVE, threads=threads) for threads in (1, 2))
    np.testing.assert_array_equal(one.labels, two.labels)
    np.testing.assert_array_equal(one.embedding.Y, two.embedding.Y)


def test_only_the_shape_of_voxels_matters_not_the_unit():
    metres, feet = (segment_volume(NOISY, FIVE, spacing=s) for s in ((2, 1, 1), (0.6, 0.3, 0.3)))
    assert agreement(metres.labels, feet.labels) > 0.99


def test_weights_count_distances():
    features = np.random.default_rng(0).random((3, 4, 5, 2)).astype(np.float32)
    near, far = (voxel_graph(features, spacing, 0.5) for spacing in ((1, 1, 1), (4, 1, 2)))
    z, y, x = np.unravel_index(near.edges, features.shape[:3])
    steps = np.stack([np.diff(axis)[:, 0] for axis in (z, y, x)], axis=1)
    assert (np.abs(steps).sum(axis=1) == 1).all()  # six neighbours
    assert near.n_edges == 2 * 20 + 3 * 3 * 5 + 3 * 4 * 4
    distances = (steps * [4, 1, 2]).sum(axis=1)
    np.testing.assert_allclose(far.weights, near.weights / distances)
    i, j = near.edges.T
    rows = features.reshape(-1, 2).astype(float)
    expected = np.exp(-((rows[i] - rows[j]) ** 2).sum(axis=1) / (2 * 0.5**2))
    np.testing.assert_allclose(near.weights, expected)


def test_large_graphs_take_the_incomplete_preconditioner():
    _, volume = render_volume((30, 40, 40), 0.1)
    assert segment_volume(volume, FIVE).embedding.preconditioner == "ic0"
    assert segment_volume(volume[:2], FIVE).embedding.preconditioner == "cholesky"


@pytest.mark.parametrize("spacing", [(1, 1, 1), (5, 1, 1), (1, 2, 0.25)])
def test_the_working_size_makes_voxels_alike(spacing):
    shape = (60, 300, 200)
    small = working_shape(shape, spacing, 20_000)
    assert 10_000 < np.prod(small) <= 20_000
    steps = [s * n / m for s, n, m in zip(spacing, shape, small, strict=True)]
    shrunk = [step for step, n, m in zip(steps, shape, small, strict=True) if m < n]
    assert max(shrunk) < 1.2 * min(shrunk)
    assert working_shape((5, 6, 7), spacing, 210) == (5, 6, 7)


def test_averages_are_exact_and_labels_come_back():
    volume = np.random.default_rng(0).random((7, 8, 9)).astype(np.float32)
    tall = pfeseg.as_raster(volume.reshape(-1, 9))
    small = shrink_volume(tall, volume.shape, (3, 4, 9))
    assert small.mean() == pytest.approx(volume.mean(), rel=1e-5)
    even = shrink_volume(tall, volume.shape, (7, 4, 3))
    expected = volume.reshape(7, 4, 2, 3, 3).mean(axis=(2, 4))
    np.testing.assert_allclose(even[..., 0], expected, rtol=1e-5)
    labels = np.zeros((4, 5, 6), np.int32)
    labels[:, :, 3:] = 1
    labels[2:, :2] = 2
    large = enlarge_volume(labels, (12, 15, 18))
    np.testing.assert_array_equal(large[1::3, 1::3, 1::3], labels)


@pytest.mark.parametrize(
    ("shape", "at_least"),
    [
        ((64, 64, 64), 0.9),
        ((40, 60, 60), 0.6),  # the helix, a fiftieth of it, is lost
    ],
)
def test_a_volume_that_is_shrunk_is_still_found(shape, at_least):
    truth, volume = render_volume(shape, 0.1)
    found = segment_volume(volume, VolumeSettings(5, max_voxels=volume.size // 8))
    assert found.small_labels.size <= volume.size // 8
    assert agreement(truth, found.labels) > max(at_least, 0.2 + by_kmeans(truth, volume))


def test_connected_regions_and_specks():
    labels = np.zeros((4, 6, 6), np.int32)
    labels[:, :2], labels[:, 4:] = 1, 1
    labels[1, 3, 3] = 2
    values = np.where(labels == 2, -1.0, labels)[..., None]  # a speck most like what is around it
    parts = connected_regions(labels, values, 1)
    assert parts.max() + 1 == 4
    clean = connected_regions(labels, values, 2)
    assert clean.max() + 1 == 3
    assert clean[1, 3, 3] == clean[0, 3, 3]
    found = segment_volume(NOISY, VolumeSettings(5, min_region=0.001))
    assert np.bincount(found.labels.ravel()).min() >= 0.001 * NOISY.size


def test_bands_of_volumes():
    parts = [np.isin(TRUTH, some) for some in ((1, 3), (2, 3), (4,), (0,))]
    bands = np.stack(parts, axis=-1) + np.random.default_rng(0).normal(0, 0.2, (*SHAPE, 4))
    for chosen, count in (("3,2,1", 5), ("all", 5), ("3", 2)):
        found = segment_volume(bands, VolumeSettings(count, bands=chosen), spacing=(2, 1, 1))
        truth = TRUTH if count > 2 else TRUTH == 4
        assert found.report()["bands_in_image"] == 4
        assert agreement(truth, found.labels) > 0.9, chosen


@pytest.mark.parametrize(
    ("volume", "message"),
    [
        (np.zeros((4, 5)), r"shape \(slices, height, width\) .* got \(4, 5\)"),
        (np.full((2, 3, 4), np.nan), "slice 0, row 0, column 0"),
        (np.linspace(0, 1e308, 200).reshape(8, 5, 5), "numbers beyond 1e"),
        (np.ma.masked_less(NOISY, 0.2), "no masks"),
        (np.zeros((1, 2, 2)), "n_clusters is 5, more than the 4 voxels"),
    ],
)
def test_what_is_no_volume_is_refused(volume, message):
    with pytest.raises(InvalidInputError, match=message):
        segment_volume(volume, FIVE)


@pytest.mark.parametrize("spacing", [(1, 1), (0, 1, 1), (1, 1, np.inf), "abc", None])
def test_what_is_no_spacing_is_refused(spacing):
    with pytest.raises(InvalidInputError, match="spacing must be three positive numbers"):
        segment_volume(NOISY, FIVE, spacing=spacing)


STACK = np.clip(NOISY * 1000 + 500, 0, 2000).astype(np.uint16)


def test_stacks_of_every_origin_are_one_volume(tmp_path):
    np.save(tmp_path / "a.npy", STACK)
    tifffile.imwrite(tmp_path / "plain.tif", STACK, photometric="minisblack")
    tifffile.imwrite(tmp_path / "ij.tif", STACK, imagej=True, resolution=(2, 2),
                     metadata={"axes": "ZYX", "spacing": 1.5})  # fmt: skip
    physical = {"PhysicalSizeZ": 1.5, "PhysicalSizeY": 0.5, "PhysicalSizeX": 0.5}
    tifffile.imwrite(tmp_path / "a.ome.tif", STACK, metadata={"axes": "ZYX", **physical})
    told = {"a.npy": None, "plain.tif": None, "ij.tif": (1.5, 0.5, 0.5),
            "a.ome.tif": (1.5, 0.5, 0.5)}  # fmt: skip
    for name, spacing in told.items():
        volume, found = read_volume(tmp_path / name, name=name)
        np.testing.assert_array_equal(volume, STACK)
        assert found == spacing
    channels = np.stack([STACK, STACK[::-1]])
    tifffile.imwrite(tmp_path / "c.ome.tif", channels, metadata={"axes": "CZYX"})
    volume, _ = read_volume(tmp_path / "c.ome.tif", name="c")
    np.testing.assert_array_equal(volume, np.moveaxis(channels, 0, -1))


def test_labels_are_stacks_that_imagej_reads(tmp_path):
    labels = np.arange(4 * 5 * 6, dtype=np.int32).reshape(4, 5, 6)
    write_label_volume(tmp_path / "a.tif", labels, (3.0, 0.5, 0.25))
    volume, spacing = read_volume(tmp_path / "a.tif", name="a")
    np.testing.assert_array_equal(volume, labels)
    assert (volume.dtype, spacing) == (np.uint16, (3.0, 0.5, 0.25))
    for step in (1e-12, 1e12):  # which no TIFF file can tell
        write_label_volume(tmp_path / "a.tif", labels, (step, step, step))
        volume, spacing = read_volume(tmp_path / "a.tif", name="a")
        np.testing.assert_array_equal(volume, labels)
        assert spacing is None
    write_label_volume(tmp_path / "many.tif", labels * 1000, (1, 1, 1))
    np.testing.assert_array_equal(tifffile.imread(tmp_path / "many.tif"), labels * 1000)


@pytest.fixture
def stack(tmp_path):
    tifffile.imwrite(tmp_path / "stack.tif", STACK, photometric="minisblack")
    return tmp_path / "stack.tif"


def test_the_command(stack, tmp_path):
    out = tmp_path / "out"
    words = ("--volume", "-k", 5, "--spacing", "2,1,1", "-o", out)
    assert run("segment", stack, *words).exit_code == 0
    assert names(out) == ["stack.json", "stack_labels.tif", "stack_overlay.png"]
    labels = tifffile.imread(out / "stack_labels.tif")
    np.testing.assert_array_equal(labels, segment_volume(STACK, FIVE, spacing=(2, 1, 1)).labels)
    report = json.loads((out / "stack.json").read_text())
    assert (report["spacing"], report["regions"], report["dims"]) == ([2, 1, 1], 5, 5)
    assert report["volume_size"] == [40, 40, 16]
    sheet = iio.imread(out / "stack_overlay.png")
    assert sheet.shape == (3 * 244 - 4, 3 * 244 - 4, 3)
    assert (sheet[-1, -1] == 255).all()  # slices across are not as high as wide
    assert len(np.unique(sheet.reshape(-1, 3), axis=0)) > 100
    arrays = ("--volume", "--labels-format", "npy", "--max-voxels", 5000, "-o", out, "--overwrite")
    assert run("segment", stack, *arrays).exit_code == 0
    assert np.load(out / "stack_labels.npy").shape == SHAPE


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (("segment", "--volume", "--level", 0.3), "volumes do not take --level"),
        (("segment", "--volume", "--regions", 3), "volumes do not take --regions"),
        (("segment", "--volume", "--page", 0), "volumes do not take --page"),
        (("segment", "--volume", "--mask", "m.png"), "volumes do not take --mask"),
        (("segment", "--volume", "--preset", "paper"), "volumes do not take --preset"),
        (
            ("segment", "--volume", "--hierarchy"),
            "--save has labels and overlay for volumes, not ucm",
        ),
        (
            ("segment", "--volume", "--save", "coco"),
            "--save has labels and overlay for volumes, not coco",
        ),
        (("segment", "--volume", "--labels-format", "png"), "tif or npy, not png"),
        (("segment", "--volume", "-k", "auto"), "-k must be a whole number"),
        (("segment", "--volume", "--spacing", "1,2"), "not three positive numbers"),
        (("segment", "--spacing", "1,2,3"), "add --volume"),
        (("sweep", "--volume"), "'sweep' takes no volumes; 'pfeseg segment' does"),
        (("downsample", "--volume"), "'downsample' takes no volumes"),
    ],
)
def test_what_volumes_do_not_take_is_said_in_one_line(stack, words, message):
    result = run(words[0], stack, *words[1:])
    assert (result.exit_code, message in result.stderr) == (2, True)
    assert len(result.stderr.strip().splitlines()) == 1


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("one.tif", "has 1 page(s), and a volume has several; for an image, leave out --volume"),
        ("sizes.tif", "its pages differ in size or type"),
        ("times.ome.tif", "has one axis of slices beside Y, X and channels, not T = 2, Z = 16"),
        ("flat.npy", "must have shape"),
        ("photo.png", "must be a TIFF file of several pages or an array"),
        ("broken.tif", "a damaged or unsupported volume"),
    ],
)
def test_files_that_are_no_volumes_end_in_one_line(tmp_path, name, message):
    tifffile.imwrite(tmp_path / "one.tif", STACK[0])
    with tifffile.TiffWriter(tmp_path / "sizes.tif") as tiff:
        tiff.write(STACK[0], photometric="minisblack")
        tiff.write(STACK[0, :9], photometric="minisblack")
    times = np.stack([STACK, STACK])
    tifffile.imwrite(tmp_path / "times.ome.tif", times, metadata={"axes": "TZYX"})
    np.save(tmp_path / "flat.npy", STACK[0])
    iio.imwrite(tmp_path / "photo.png", np.zeros((5, 6), np.uint8))
    tifffile.imwrite(tmp_path / "whole.tif", STACK, photometric="minisblack", compression="zlib")
    with tifffile.TiffFile(tmp_path / "whole.tif") as tiff:
        start, size = tiff.pages[1].dataoffsets[0], tiff.pages[1].databytecounts[0]
    whole = (tmp_path / "whole.tif").read_bytes()
    (tmp_path / "broken.tif").write_bytes(whole[:start] + bytes(size) + whole[start + size :])
    result = run("segment", tmp_path / name, "--volume", "-o", tmp_path / "out")
    assert (result.exit_code, message in result.stderr) == (1, True), result.stderr
    assert len(result.stderr.strip().splitlines()) <= 2


def test_memory_of_volumes_is_estimated(tmp_path):
    volume = np.repeat(np.repeat(np.repeat(STACK, 4, 0), 4, 1), 4, 2)
    np.save(tmp_path / "a.npy", volume)
    settings = VolumeSettings(max_voxels=60_000)
    words = ("--volume", "--max-voxels", 60_000, "-q", "-o", tmp_path)
    peak = peak_memory("-m", "pfeseg", "segment", tmp_path / "a.npy", *words)
    assert 0.6 * estimate_volume_memory(volume, settings) < peak
    assert peak < 1.05 * estimate_volume_memory(volume, settings)
    result = run("segment", tmp_path / "a.npy", *words, "--overwrite", "--memory-limit", "50MB")
    assert result.exit_code == 1
    assert "160 x 160 x 64 voxels need about" in result.stderr
    assert "lower --max-voxels or raise --memory-limit" in result.stderr


def test_batches_of_volumes_in_several_processes(stack, tmp_path):
    (tmp_path / "more").mkdir()
    for k in range(2):
        np.save(tmp_path / "more" / f"{k}.npy", STACK[:, :20, :20] + np.uint16(k))
    words = [sys.executable, "-m", "pfeseg", "segment", "more/0.npy", "more/1.npy"]
    words += ["--volume", "--jobs", "2", "-o", "out", "--json"]
    told = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert [json.loads(line)["status"] for line in told.stdout.splitlines()] == ["done", "done"]
