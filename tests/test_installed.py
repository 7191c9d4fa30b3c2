"""What is installed works as it is. Each wheel is tried with this file alone, on every platform."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.metadata import version
from pathlib import Path

import imageio.v3 as iio

import pfeseg

PHOTO = Path(__file__).parent.parent / "sample_images" / "chelsea.jpg"


def segment(folder: Path, **environment: str) -> Path:
    command = [sys.executable, "-m", "pfeseg", "segment", str(PHOTO), "-o", str(folder), "-q"]
    subprocess.run(command, env=os.environ | environment, check=True)
    return folder


def test_the_version_is_that_of_the_package():
    assert version("pfeseg") == pfeseg.__version__


def test_a_photograph_is_segmented(tmp_path):
    out = segment(tmp_path / "out")
    names = sorted(path.name for path in out.iterdir())
    assert names == ["chelsea.json", "chelsea_labels.png", "chelsea_overlay.png"]
    report = json.loads((out / "chelsea.json").read_text())
    labels = iio.imread(out / "chelsea_labels.png")
    assert labels.shape == (300, 451)
    assert labels.max() + 1 == report["regions"] > 1


def test_kernels_for_all_processors_agree(tmp_path):
    best = segment(tmp_path / "best")
    plain = segment(tmp_path / "plain", PFESEG_KERNELS="baseline")
    ours, theirs = (iio.imread(out / "chelsea_labels.png") for out in (best, plain))
    assert (ours != theirs).mean() < 0.001  # fused products are rounded once
