"""What the command says to those who try it for the first time."""

from __future__ import annotations

import shutil

import numpy as np
import pytest
from helpers import names, run

from pfeseg import CutWarning, Regions, Settings, segment
from pfeseg.files.labels import read_labels


@pytest.fixture
def photo(samples, tmp_path, monkeypatch):
    shutil.copy(samples / "scene.png", tmp_path / "photo.png")
    monkeypatch.chdir(tmp_path)
    return "photo.png"


@pytest.mark.parametrize("word", ["photo.png", "gone.jpg", "./folder", "."])
def test_an_image_in_the_place_of_a_command_is_told_the_command(photo, word):
    result = run(word)
    assert result.exit_code == 2
    assert f"use 'pfeseg segment {word}'" in result.stderr
    assert result.stderr.count("\n") == 1


def test_other_words_are_no_images(photo):
    for word in ("segmet", "--nonsense"):
        result = run(word)
        assert result.exit_code == 2
        assert "to cut an image" not in result.stderr


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["segmnet", "photo.png"], "there is no command segmnet; did you mean segment?"),
        (["segment", "photo.png", "--region", 5], "no option --region; did you mean --regions?"),
        (["segment", "photo.png", "--level", 2], "--level: expected a number from 0 to 1, found 2"),
        (["segment", "photo.png", "-k", "8.5"], "-k or --segments: '8.5' is neither 'auto' nor"),
        (["segment", "photo.png", "-k", 3, "--level", 0.3], "one way only; give one of -k and"),
        (["report", "photo.png"], "photo.png: expected a folder of results, found a file"),
        (["report", "gone"], "gone: expected a folder of results; there is none"),
        (["segment", "raw/shot.CR2"], "; convert raw photographs to TIFF first"),
        (["segment", "raw"], "files left out: 1 .cr2: convert raw photographs to TIFF first"),
    ],
)
def test_slips_are_answered_by_what_was_meant(photo, tmp_path, words, told):
    (tmp_path / "raw").mkdir()
    (tmp_path / "raw" / "shot.CR2").write_bytes(b"raw")
    result = run(*words)
    assert result.exit_code in (1, 2)
    assert told in result.stderr


@pytest.mark.parametrize("command", ["segment", "sweep"])
@pytest.mark.parametrize(
    ("output", "advice"), [("mask.png", "looks like a file"), ("-", "give a folder")]
)
def test_results_do_not_go_into_a_file(photo, tmp_path, command, output, advice):
    result = run(command, photo, "-o", output)
    assert result.exit_code == 2
    assert advice in result.stderr
    assert names(tmp_path) == ["photo.png"]


def test_the_template_that_is_advised_works(photo, tmp_path):
    advice = run("segment", photo, "-o", "results/mask.png").stderr
    options = advice.split("'")[1].split()
    assert run("segment", photo, *options).exit_code == 0
    assert "results/mask_labels.png" in advice
    assert (tmp_path / "results" / "mask_labels.png").exists()


def test_a_folder_may_be_called_like_a_file(photo, tmp_path):
    (tmp_path / "odd.png").mkdir()
    assert run("segment", photo, "-o", "odd.png").exit_code == 0
    assert "photo.json" in names(tmp_path / "odd.png")


def test_an_image_that_was_done_before_is_told(photo):
    assert run("segment", photo).exit_code == 0
    again = run("segment", photo, "--skip-existing")
    assert again.exit_code == 0
    assert again.stderr == "photo.png: done before; its results are left as they are\n"
    assert run("segment", photo, "--skip-existing", "-q").stderr == ""


def test_more_regions_than_there_are_is_told(photo, chelsea, tmp_path):
    result = run("segment", photo, "--regions", 100_000)
    assert result.exit_code == 0
    most = read_labels(tmp_path / "photo_labels.png").max() + 1
    told = f"photo.png: --regions 100000 is more than the {most} finest regions of the hierarchy"
    assert told in result.stderr
    with pytest.warns(CutWarning, match="n_regions=9999"):
        segment(chelsea[:60, :60], Settings(cut=Regions(9999)))


def test_the_next_steps_of_one_image_are_told_and_can_be_taken(photo, tmp_path):
    result = run("segment", photo)
    line = result.stderr.splitlines()[1]
    fewer, more = (int(word) for word in line.split() if word.isdigit())
    n_regions = read_labels(tmp_path / "photo_labels.png").max() + 1
    assert fewer < n_regions < more
    assert run("segment", photo, "--regions", more, "--overwrite").exit_code == 0
    assert len(np.unique(read_labels(tmp_path / "photo_labels.png"))) == more
    shutil.copy(photo, "other.png")
    assert "--regions" not in run("segment", photo, "other.png", "--overwrite").stderr
    assert "--regions" not in run("segment", photo, "-k", 4, "--overwrite").stderr


def test_help_shows_the_common_options_on_one_screen():
    page = run("segment", "--help").stdout
    first = page.splitlines()[:24]
    assert max(map(len, first)) <= 80
    for option in ("-o,", "--regions", "--level", "-k,", "--report", "-r,", "--jobs"):
        assert any(line.strip().startswith(option) for line in first), option
    assert page.count("\n  --skip-existing") == 1  # and not again below
