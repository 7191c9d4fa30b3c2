from __future__ import annotations

import io
import json
import os
import re
import subprocess
import sys
import time
from contextlib import suppress

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, run

import pfeseg
from pfeseg import Clusters, Settings, segment
from pfeseg.cli import COMMANDS, progress
from pfeseg.labels.maps import split_regions


@pytest.mark.parametrize(
    ("options", "features", "r_relaxed", "cluster"),
    [
        ([], "pmi", 5, "regions"),
        (["--regions", 3], "pmi", 5, "regions"),
        (["-k", 4], "pmi", 5, "regions"),
        (["-k", 4, "--cluster", "pixels"], "pmi", 5, "pixels"),
        (["--method", "sc"], "pmi", 5, "regions"),
        (["-k", 4, "--preset", "default"], "pmi", 5, "regions"),
        (["-k", 4, "--preset", "paper"], "rgb", 10, "pixels"),
        (["-k", 4, "--preset", "paper", "--cluster", "regions"], "rgb", 10, "regions"),
    ],
)
def test_all_starts_from_the_default_unless_told(
    options, features, r_relaxed, cluster, samples, tmp_path
):
    result = run("segment", samples / "scene.png", "--max-size", 40, *options, "-o", tmp_path)
    assert result.exit_code == 0, result.stderr
    settings = json.loads((tmp_path / "scene.json").read_text())["settings"]
    assert (settings["features"], settings["solver"]["r_relaxed"]) == (features, r_relaxed)
    assert settings["cluster"] == cluster


def test_segment_writes_labels_overlay_and_report(samples, tmp_path):
    out = tmp_path / "new" / "folder"
    result = run("segment", samples / "chelsea.jpg", "-d", 6, "-k", 4, "--seed", 7, "-o", out)
    assert result.exit_code == 0, result.stderr
    assert result.stdout == ""
    pieces = split_regions(iio.imread(out / "chelsea_labels.png")).max() + 1
    assert f"4 clusters in {pieces} pieces" in result.stderr
    assert names(out) == ["chelsea.json", "chelsea_labels.png", "chelsea_overlay.png"]
    labels = iio.imread(out / "chelsea_labels.png")
    assert labels.dtype == np.uint16
    assert labels.shape == (300, 451)
    assert set(np.unique(labels)) == {0, 1, 2, 3}
    assert iio.imread(out / "chelsea_overlay.png").shape == (300, 451, 3)
    report = json.loads((out / "chelsea.json").read_text())
    assert report["pfeseg_version"] == pfeseg.__version__
    assert report["regions"] == 4
    assert report["settings"]["seed"] == 7
    assert {"timings", "stop_reason"} <= set(report)
    image = iio.imread(samples / "chelsea.jpg")
    again = pfeseg.segment(image, pfeseg.Settings.from_dict(report["settings"]))
    assert (again.labels == labels).all()


def test_overlays_of_another_size_and_format(samples, tmp_path):
    options = ("--overlay-size", 100, "--overlay-format", "jpg", "-o", tmp_path)
    result = run("segment", samples / "scene.png", "-d", 3, *options)
    assert result.exit_code == 0, result.stderr
    assert names(tmp_path) == ["scene.json", "scene_labels.png", "scene_overlay.jpg"]
    assert max(iio.imread(tmp_path / "scene_overlay.jpg").shape) == 100
    size = iio.imread(samples / "scene.png").shape[:2]
    assert iio.imread(tmp_path / "scene_labels.png").shape == size


def test_results_go_beside_the_input_and_are_not_overwritten(samples, tmp_path):
    image = tmp_path / "a picture.png"
    image.write_bytes((samples / "scene.png").read_bytes())
    assert run("segment", image, "-d", 3).exit_code == 0
    assert names(tmp_path) == ["a picture.json", "a picture.png", "a picture_labels.png",
                               "a picture_overlay.png"]  # fmt: skip
    before = (tmp_path / "a picture.json").stat().st_mtime_ns
    refused = run("segment", image, "-d", 3)
    assert refused.exit_code == 1
    assert "--overwrite" in refused.stderr
    assert (tmp_path / "a picture.json").stat().st_mtime_ns == before
    assert run("segment", image, "-d", 3, "--overwrite").exit_code == 0
    assert (tmp_path / "a picture.json").stat().st_mtime_ns > before


@pytest.mark.parametrize(
    ("args", "code", "message"),
    [
        (["{scene}", "-d", "0"], 2, "'0' is neither 'auto' nor"),
        (["{scene}", "-k", "-1"], 2, "'-1' is neither 'auto' nor"),
        (["{scene}", "-d", "many"], 2, "'many' is neither 'auto' nor"),
        (["{scene}", "--downsample", "0.5"], 2, "--downsample: expected at least 1, found 0.5"),
        (["{scene}", "--preset", "best"], 2, "the presets are: default, paper"),
        (["{scene}", "--preset", "clusters"], 2, "the presets are: default, paper"),
        (["{scene}", "-k", "3", "--cluster", "basins"], 2, "'regions', 'pixels'"),
        (["{scene}", "--frobnicate"], 2, "--frobnicate"),
        ([], 2, "INPUT"),
        (["{scene}", "-k", "100000"], 1, "more than the 120 x 90 pixels"),
        (["{scene}", "-d", "100000"], 1, "more than the 120 x 90 pixels"),
        (["no such file.jpg"], 1, "no such file.jpg: no such file"),
        (["{text}"], 1, "text.jpg: not an image that can be read"),
        (["{empty}"], 1, "empty.png: the file is empty"),
    ],
)
def test_wrong_values_end_with_one_clear_line(samples, tmp_path, args, code, message):
    places = {"scene": samples / "scene.png", "text": tmp_path / "text.jpg",
              "empty": tmp_path / "empty.png"}  # fmt: skip
    places["text"].write_text("no image")
    places["empty"].write_bytes(b"")
    result = run("segment", *[arg.format(**places) for arg in args], "-o", tmp_path / "out")
    assert result.exit_code == code
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert result.stderr.startswith("Error: ")
    assert message in result.stderr
    assert not (tmp_path / "out").exists()


def test_unwritable_folder(samples, tmp_path):
    (tmp_path / "file").write_text("in the way")
    result = run("segment", samples / "scene.png", "-d", 3, "-o", tmp_path / "file" / "out")
    assert result.exit_code == 2
    assert "is a file" in result.stderr
    assert result.stderr.count("\n") == 1


def test_no_arguments_show_the_help_page():
    result = run()
    assert result.exit_code == 2
    assert result.stderr.startswith("Usage: ")
    assert "Commands:" in result.stderr


def test_full_disk_gives_one_line():
    with open("/dev/full", "w") as full:  # noqa: PTH123
        process = subprocess.run(
            [sys.executable, "-m", "pfeseg", "info"], stdout=full, stderr=subprocess.PIPE, text=True
        )
    assert process.returncode == 1
    assert "No space left on device" in process.stderr
    assert "Traceback" not in process.stderr


def test_every_command_has_help():
    assert run("--help").exit_code == 0
    for command in COMMANDS:
        result = run(command, "--help")
        assert result.exit_code == 0
        assert result.stdout.startswith(f"Usage: main {command} ")
        text = result.stdout.split("\n\n")[1]  # behind the usage, which always names the command
        assert len(text.split()) >= 5, command


def test_version():
    assert run("--version").stdout.strip() == f"pfeseg, version {pfeseg.__version__}"


def test_module_runs_and_interrupt_gives_130(samples, tmp_path):
    help_page = subprocess.run(
        [sys.executable, "-m", "pfeseg", "--help"], capture_output=True, text=True, check=True
    )
    assert help_page.stdout.startswith("Usage: pfeseg ")
    program = (
        "import os, signal\n"
        "from pfeseg.segmentation.prepared import Solver\n"
        "Solver.embed = lambda *args: os.kill(os.getpid(), signal.SIGINT)\n"
        "from pfeseg.cli import main\n"
        f"main(['segment', {str(samples / 'scene.png')!r}, '-o', {str(tmp_path / 'out')!r}])"
    )
    stopped = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert stopped.returncode == 130
    assert "Traceback" not in stopped.stderr
    assert not (tmp_path / "out").exists()


def on_a_terminal(*words: object) -> str:
    """Run a command with a terminal as its standard error; returns what that shows."""
    import pty
    import termios

    master, slave = pty.openpty()
    termios.tcsetwinsize(slave, (24, 100))
    line = [sys.executable, "-m", "pfeseg", *map(str, words)]
    process = subprocess.Popen(line, stderr=slave)
    os.close(slave)
    shown = b""
    with suppress(OSError):  # which is how a terminal ends on Linux
        while part := os.read(master, 1 << 16):
            shown += part
    os.close(master)
    assert process.wait() == 0
    return shown.decode()


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_stages_of_one_image_show_on_a_terminal_only(samples, tmp_path):
    command = ("segment", samples / "scene.png", "-d", "3", "-o", tmp_path, "--overwrite")
    shown = on_a_terminal(*command)
    stages = ["reading", "graph", "start", "embedding", "hierarchy", "boundaries", "writing"]
    places = [shown.index(f"scene.png: {stage}") for stage in stages]
    assert places == sorted(places)
    assert "00:00" in shown
    line = [sys.executable, "-m", "pfeseg", *map(str, command)]
    piped = subprocess.run(line, capture_output=True, text=True, check=True)
    assert "embedding" not in piped.stderr
    assert "embedding" not in on_a_terminal(*command, "-q")


@pytest.mark.skipif(os.name != "posix", reason="needs a pseudo-terminal")
def test_images_of_a_batch_show_with_the_stage_at_hand(samples, tmp_path):
    photographs = [samples / "scene.png", samples / "coffee.jpg"]
    shown = on_a_terminal("segment", *photographs, "-o", tmp_path, "--max-size", 480)
    assert "2/2" in shown
    words = "|".join(set(progress.STAGES.values()))
    assert len(set(re.findall(rf"(?:scene.png|coffee.jpg): ({words})", shown))) >= 2


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_the_clock_runs_through_a_stage_that_lasts(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    monkeypatch.setattr(progress, "TICK", 0.01)
    with progress.stage_bar("photo.jpg") as on_stage:
        on_stage("embed")
        before = sys.stderr.getvalue().count("embedding")
        deadline = time.monotonic() + 10
        while sys.stderr.getvalue().count("embedding") < before + 3:
            assert time.monotonic() < deadline, "nothing was drawn meanwhile"
            time.sleep(0.01)


def test_all_stages_have_a_word_for_the_bar(chelsea):
    seen = ["read", "write"]
    segment(chelsea, on_stage=seen.append)
    segment(chelsea, Settings(cut=Clusters("auto")), on_stage=seen.append)
    assert set(seen) == set(progress.STAGES)


def test_the_times_of_all_stages_are_told(samples, tmp_path):
    result = run("segment", samples / "coffee.jpg", "-o", tmp_path, "-v", "--json")
    row = json.loads(result.stdout)
    report = json.loads((tmp_path / "coffee.json").read_text())
    assert row["timings"] == report["timings"]
    stages = list(row["timings"])
    assert (stages[0], stages[-1]) == ("read", "write")
    assert all(f"{stage} " in result.stderr for stage in stages)
    assert sum(row["timings"].values()) <= row["seconds"] + 0.001


def test_names_do_not_reach_the_terminal_raw(monkeypatch):
    monkeypatch.setattr(sys, "stderr", Terminal())
    with progress.stage_bar("a\x1b[2Jb\n.jpg") as on_stage:
        on_stage("read")
    assert "\x1b[2J" not in sys.stderr.getvalue()
    assert "a\\x1b[2Jb\\n.jpg: reading" in sys.stderr.getvalue()
