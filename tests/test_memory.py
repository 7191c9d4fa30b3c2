"""How much memory is needed, and how much there is."""

from __future__ import annotations

import gc
import sys
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, run

from pfeseg import InvalidInputError, Settings, as_raster, machine, segment
from pfeseg.files.kinds import KINDS
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.memory import estimate_memory, refuse_too_large
from pfeseg.segmentation.pairs import sweep_pairs

sys.path.insert(0, str(Path(__file__).parent.parent / "benchmarks"))
from measuring import peak_memory

PAPER = Settings.preset("paper")


def photograph(height: int, width: int) -> np.ndarray:
    """Make a blocky picture, for which labels are found."""
    coarse = np.random.default_rng(0).integers(0, 256, (height // 20, width // 20, 3), np.uint8)
    return coarse.repeat(20, axis=0).repeat(20, axis=1)


@pytest.mark.parametrize(
    ("size", "options", "settings"),
    [
        ((2000, 1500), (), Settings()),
        ((1000, 800), ("--max-size", 250), Settings(max_size=250)),
        ((500, 400), ("--preset", "paper", "--downsample", 1), PAPER.changed(downsample=1)),
    ],
)
def test_estimates_are_near_the_peaks_of_whole_runs(tmp_path, size, options, settings):
    path = tmp_path / "noise.png"
    width, height = size
    iio.imwrite(path, photograph(height, width))
    words = ("-m", "pfeseg", "segment", path, "-q", "-o", tmp_path, *options)
    peak, estimate = peak_memory(*words), estimate_memory((height, width), settings)
    assert 0.6 * estimate < peak < 1.05 * estimate


@pytest.mark.parametrize(
    ("kind", "bands", "masked", "saved"),
    [
        (np.float64, 3, False, "labels,overlay"),
        (np.uint16, 3, True, "labels,overlay"),
        (np.uint16, 12, False, "labels,overlay"),
        (np.uint8, 3, False, "labels,regions"),
    ],
)
def test_estimates_know_deep_images_bands_masks_and_results(tmp_path, kind, bands, masked, saved):
    image = photograph(1500, 2000)
    image = np.concatenate([image] * (bands // 3), axis=2).astype(kind)
    np.save(tmp_path / "a.npy", image)
    words, mask = ["--bands", "all", "--save", saved], None
    if masked:
        mask = np.indices(image.shape[:2]).sum(axis=0) > 1000
        iio.imwrite(tmp_path / "mask.png", mask.astype(np.uint8))
        words += ["--mask", tmp_path / "mask.png"]
    raster = as_raster(image, bands="all", mask=mask)
    writing = max(KINDS[name].bytes_per_pixel for name in saved.split(","))
    estimate = estimate_memory(image.shape, Settings(), image=raster, writing=writing)
    path = tmp_path / "a.npy"
    peak = peak_memory("-m", "pfeseg", "segment", path, "-q", "-o", tmp_path, *words)
    assert estimate > 1.15 * estimate_memory(image.shape, Settings())
    assert 0.6 * estimate < peak < 1.05 * estimate


@pytest.mark.parametrize("dims", [[10], [9, 10], [9, 10, 11, 12]])
def test_the_estimate_of_a_sweep_counts_both_systems_and_all_trials(tmp_path, dims):
    path, given = tmp_path / "noise.png", ",".join(map(str, dims))
    coarse = np.random.default_rng(0).integers(0, 256, (40, 50, 3), np.uint8)
    iio.imwrite(path, coarse.repeat(10, axis=0).repeat(10, axis=1))
    settings = Settings(max_size=500, n_dims=max(dims))
    asked, candidates = sweep_pairs(settings, (400, 500), dims)
    once, many = (
        estimate_memory((400, 500), settings, tried=tried)
        for tried in ((), list({*asked, *candidates}))
    )
    assert once < 0.8 * many
    words = ("-m", "pfeseg", "sweep", path, "-q", "-o", tmp_path, "--max-size", 500, "-d", given)
    assert 0.6 * many < peak_memory(*words) < 1.05 * many


@pytest.mark.parametrize(
    "change", [{"n_dims": 64}, {"max_size": 480}, {"neighbours": 8}, {"precision": "double"}]
)
def test_what_takes_more_memory_is_estimated_so(change):
    shape = (1500, 2000)
    assert estimate_memory(shape, Settings().changed(**change)) > estimate_memory(shape, Settings())


def test_memory_grows_linearly_with_pixels():
    small, large = (estimate_memory((n, n), Settings(max_size=None)) for n in (1000, 2000))
    smaller = estimate_memory((500, 500), Settings(max_size=None))
    assert large - small == pytest.approx(4 * (small - smaller), rel=0.01)


def test_what_does_not_fit_is_refused_with_what_to_change():
    shape = (8000, 10_000)
    refuse_too_large(shape, Settings(), None)
    refuse_too_large(shape, Settings(), 4e9)
    with pytest.raises(InvalidInputError, match=r"10000 x 8000 .* need about 1\.\d GB .* 1\.0 GB"):
        refuse_too_large(shape, Settings(), 1e9)
    fine = Settings(max_size=4000)
    with pytest.raises(InvalidInputError, match="lower max_size or raise memory_limit"):
        refuse_too_large(shape, fine, 4e9)
    with pytest.raises(InvalidInputError, match="raise downsample or raise memory_limit"):
        refuse_too_large(shape, PAPER, 2e9)


def test_a_batch_goes_on_after_an_image_that_does_not_fit(tmp_path):
    iio.imwrite(tmp_path / "large.png", np.zeros((1500, 2000), np.uint8))
    iio.imwrite(tmp_path / "small.png", np.zeros((50, 60), np.uint8))
    result = run("segment", tmp_path, "-o", tmp_path / "out", "--memory-limit", "100MB")
    assert result.exit_code == 1
    assert "large.png: 2000 x 1500 pixels, solved at 120 x 90, need about 1" in result.stderr
    assert "MB of memory, but 100 MB are allowed" in result.stderr
    assert "raise --memory-limit" in result.stderr
    assert "small_labels.png" in names(tmp_path / "out")
    again = run("segment", tmp_path, "-o", tmp_path / "all", "--memory-limit", "none")
    assert again.exit_code == 0


def test_a_sweep_that_does_not_fit_is_refused(tmp_path, samples):
    result = run("sweep", samples / "coffee.jpg", "-o", tmp_path, "--memory-limit", "10MB")
    assert result.exit_code == 1
    assert "coffee.jpg: 600 x 400 pixels" in result.stderr
    assert names(tmp_path) == []


def test_a_limit_that_is_given_is_that_of_each_image(tmp_path, samples):
    limit = ("--memory-limit", "200MB", "--jobs", 8)
    assert run("segment", samples / "coffee.jpg", "-o", tmp_path, *limit).exit_code == 0


@pytest.mark.parametrize("text", ["4", "GB", "-1GB", "nanGB", "4XB", "some"])
def test_wrong_sizes_of_memory_are_refused(samples, text):
    result = run("segment", samples / "coffee.jpg", "--memory-limit", text)
    assert result.exit_code == 2
    assert "such as 700MB or 4GB" in result.stderr


def test_memory_of_the_machine_and_of_a_container(tmp_path, monkeypatch):
    memory = tmp_path / "meminfo"
    memory.write_text("MemTotal: 8000000 kB\nMemAvailable: 5000000 kB\n")
    group = tmp_path / "cgroup"
    group.mkdir()
    monkeypatch.setattr(machine, "MEMORY_FILE", memory)
    monkeypatch.setattr(machine, "CONTROL_GROUPS", group)
    assert machine.available_memory() == 5_000_000 * 1024
    (group / "memory.max").write_text("max\n")
    assert machine.available_memory() == 5_000_000 * 1024
    (group / "memory.max").write_text("2000000000\n")
    (group / "memory.current").write_text("900000000\n")
    (group / "memory.stat").write_text("anon 500000000\ninactive_file 300000000\n")
    assert machine.available_memory() == 1_400_000_000
    (group / "memory.max").unlink()
    older = group / "memory"
    older.mkdir()
    (older / "memory.limit_in_bytes").write_text("1000000000\n")
    (older / "memory.usage_in_bytes").write_text("400000000\n")
    (older / "memory.stat").write_text("total_inactive_file 100000000\n")
    assert machine.available_memory() == 700_000_000


def test_memory_of_a_batch_job_and_its_steps(tmp_path, monkeypatch):
    monkeypatch.setattr(machine, "CONTROL_GROUPS", tmp_path)
    monkeypatch.setattr(machine, "OWN_GROUPS", tmp_path / "own")
    step = tmp_path / "slurm" / "job_7" / "step_batch"
    step.mkdir(parents=True)
    (tmp_path / "own").write_text("4:memory:/elsewhere\n0::/slurm/job_7/step_batch\n")
    for group, limit, usage in ((step, "max", 1000), (step.parent, 5000, 2000)):
        (group / "memory.max").write_text(f"{limit}\n")
        (group / "memory.current").write_text(f"{usage}\n")
        (group / "memory.stat").write_text("anon 1\n")
    assert machine.available_memory() == 3000


def test_memory_that_nobody_counts_is_no_limit(tmp_path, monkeypatch, samples):
    monkeypatch.setattr(machine, "MEMORY_FILE", tmp_path / "none")
    monkeypatch.setattr(machine, "CONTROL_GROUPS", tmp_path / "none")
    monkeypatch.setattr(machine.os, "sysconf", lambda name: (_ for _ in ()).throw(ValueError(name)))
    assert machine.available_memory() is None
    assert run("segment", samples / "scene.png", "-o", tmp_path / "out").exit_code == 0


def test_nothing_of_an_image_waits_for_the_garbage_collector(chelsea):
    """Else its arrays pile up in a long batch, as the collector counts objects, not bytes."""
    settings = Settings(n_dims=3, max_size=60)
    segment(chelsea, settings)
    gc.collect()
    gc.disable()
    try:
        segment(chelsea, settings)
        segment(chelsea, settings.changed(cut=Clusters("auto"), n_dims="auto"))
        assert gc.collect() == 0
    finally:
        gc.enable()
