"""Folders of pictures, one a region."""

from __future__ import annotations

import shutil
from pathlib import Path

import imageio.v3 as iio
import numpy as np
import pytest
from helpers import names, planned, run
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from pfeseg import InvalidInputError
from pfeseg.files.inputs import expand_inputs
from pfeseg.files.labels import read_labels
from pfeseg.files.masks import write_cutouts, write_masks
from pfeseg.files.names import check_plan
from pfeseg.files.png import encode_png
from pfeseg.files.replacing import replacing_folder
from pfeseg.labels.maps import find_boxes

SHAPES = [(1, 1), (1, 9), (9, 1), (13, 17), (64, 40)]


def random_labels(shape, n=5) -> np.ndarray:
    labels = np.random.default_rng(0).integers(0, n, shape)
    return np.unique(labels, return_inverse=True)[1].reshape(shape).astype(np.int32)


def read(path: Path) -> np.ndarray:
    with Image.open(path) as image:
        return np.asarray(image)


@settings(max_examples=60, deadline=None)
@given(
    shape=st.tuples(st.integers(1, 9), st.integers(1, 9)),
    channels=st.sampled_from([1, 3, 4]),
    above=st.integers(0, 70),
    below=st.integers(0, 70),
)
def test_blank_rows_are_as_if_they_were_in_the_picture(shape, channels, above, below):
    picture = np.random.default_rng(1).integers(0, 256, (*shape, channels), dtype=np.uint8)
    picture = picture[..., 0] if channels == 1 else picture
    padding = ((above, below), *[(0, 0)] * (picture.ndim - 1))
    file = b"".join(encode_png(picture, above=above, below=below))
    assert (iio.imread(file, extension=".png") == np.pad(picture, padding)).all()


@pytest.mark.parametrize("shape", SHAPES)
def test_boxes_hold_their_labels_and_no_less(shape):
    labels = 2 * random_labels(shape)  # every other label is missing
    for label, box in enumerate(find_boxes(labels)):
        inside = labels == label
        assert (box is None) == (not inside.any())
        if box is not None:
            assert inside[box].sum() == inside.sum()
            assert all(inside[box].any(axis=axis)[[0, -1]].all() for axis in (0, 1))


@pytest.mark.parametrize("shape", SHAPES)
def test_masks_are_the_regions(tmp_path, shape):
    labels = random_labels(shape)
    write_masks(tmp_path / "masks", labels)
    assert names(tmp_path / "masks") == [f"{k + 1:04}.png" for k in range(labels.max() + 1)]
    assert names(tmp_path) == ["masks"]
    for label, path in enumerate(sorted((tmp_path / "masks").iterdir())):
        mask = read(path)
        assert mask.dtype == np.uint8
        assert (mask == np.where(labels == label, 255, 0)).all()


@pytest.mark.parametrize("threads", [1, 3])
def test_threads_do_not_change_a_byte(tmp_path, threads):
    labels = random_labels((50, 60), 40)
    write_masks(tmp_path / "all", labels)
    write_masks(tmp_path / "some", labels, threads)
    assert (
        names(tmp_path / "all") == names(tmp_path / "some") == [f"{k:04}.png" for k in range(1, 41)]
    )
    for name in names(tmp_path / "all"):
        assert (tmp_path / "all" / name).read_bytes() == (tmp_path / "some" / name).read_bytes()


def test_names_stay_in_order_beyond_four_digits(tmp_path):
    write_masks(tmp_path / "masks", np.array([[0, 2, 9998, 10000]]))
    assert names(tmp_path / "masks") == ["00001.png", "00003.png", "09999.png", "10001.png"]
    assert read(tmp_path / "masks" / "09999.png").nonzero()[1].tolist() == [2]


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("kind", [np.uint8, np.uint16, np.float32])
@pytest.mark.parametrize("channels", [1, 3])
def test_cutouts_are_the_image_inside_and_nothing_outside(tmp_path, shape, kind, channels):
    labels = random_labels(shape)
    bytes_ = np.random.default_rng(1).integers(0, 256, (*shape, channels), dtype=np.uint8)
    scale = {np.uint8: 1, np.uint16: 257, np.float32: 1 / 255}[kind]
    image = (bytes_ * kind(scale)).astype(kind)
    write_cutouts(tmp_path / "cutouts", image[..., 0] if channels == 1 else image, labels)
    assert len(names(tmp_path / "cutouts")) == labels.max() + 1
    together = np.zeros((*shape, 4), np.uint8)
    for label, box in enumerate(find_boxes(labels)):
        cutout = read(tmp_path / "cutouts" / f"{label + 1:04}.png")
        inside = labels[box] == label
        assert (cutout[..., 3] == np.where(inside, 255, 0)).all()
        assert not cutout[~inside].any()
        together[box] += cutout
    assert (together[..., :3] == bytes_).all()
    assert (together[..., 3] == 255).all()


def test_a_folder_that_fails_leaves_the_former_one(tmp_path):
    labels = random_labels((6, 7))
    write_masks(tmp_path / "masks", labels)
    before = {p.name: p.read_bytes() for p in (tmp_path / "masks").iterdir()}

    def fail() -> None:
        with replacing_folder(tmp_path / "masks") as folder:
            (folder / "0001.png").touch()
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert before == {p.name: p.read_bytes() for p in (tmp_path / "masks").iterdir()}
    assert names(tmp_path) == ["masks"]


def test_a_folder_is_replaced_as_a_whole(tmp_path):
    write_masks(tmp_path / "masks", random_labels((6, 7)))
    write_masks(tmp_path / "masks", np.zeros((2, 2), int))
    assert names(tmp_path / "masks") == ["0001.png"]
    assert names(tmp_path) == ["masks"]


def test_a_link_never_leads_to_another_folder(tmp_path):
    (tmp_path / "real").mkdir()
    (tmp_path / "real" / "0001.png").write_text("precious")
    (tmp_path / "masks").symlink_to(tmp_path / "real")
    with pytest.raises(InvalidInputError, match="it is a link; remove it first"):
        write_masks(tmp_path / "masks", np.zeros((2, 2), int))
    assert (tmp_path / "real" / "0001.png").read_text() == "precious"


def test_what_is_no_result_is_never_replaced(tmp_path):
    (tmp_path / "masks").mkdir()
    (tmp_path / "masks" / "notes.txt").write_text("precious")
    with pytest.raises(InvalidInputError, match=r"holds notes\.txt, which is not a result"):
        write_masks(tmp_path / "masks", np.zeros((2, 2), int))
    (tmp_path / "file").touch()
    with pytest.raises(InvalidInputError, match="is a file"):
        write_masks(tmp_path / "file", np.zeros((2, 2), int))
    assert (tmp_path / "masks" / "notes.txt").read_text() == "precious"
    assert names(tmp_path) == ["file", "masks"]


def test_folders_of_results_in_a_run(samples, tmp_path):
    shutil.copy(samples / "scene.png", tmp_path / "a.png")
    args = ("segment", tmp_path / "a.png", "--save", "labels,masks,cutouts", "-q", "-d", 3)
    assert run(*args).exit_code == 0
    labels, image = read_labels(tmp_path / "a_labels.png"), iio.imread(tmp_path / "a.png")
    assert len(names(tmp_path / "a_masks")) == len(names(tmp_path / "a_cutouts"))
    for label, name in enumerate(names(tmp_path / "a_masks")):
        inside = labels == label
        assert (read(tmp_path / "a_masks" / name) == 255 * inside).all()
        cutout = read(tmp_path / "a_cutouts" / name)
        assert (cutout[cutout[..., 3] > 0][:, :3] == image[inside]).all()
    refused = run(*args)
    assert refused.exit_code == 1
    assert "exists" in refused.stderr
    shutil.rmtree(tmp_path / "a_masks")
    assert run(*args, "--skip-existing").exit_code == 0
    assert len(names(tmp_path / "a_masks")) == labels.max() + 1
    marked = tmp_path / "a_cutouts" / "0001.png"
    marked.write_text("kept")
    assert "a_cutouts: has" in run(*args, "--skip-existing").stderr
    assert marked.read_text() == "kept"
    assert run(*args, "--overwrite").exit_code == 0
    assert read(marked).shape[2] == 4
    assert names(tmp_path) == ["a.json", "a.png", "a_cutouts", "a_labels.png", "a_masks"]


def test_pictures_of_regions_are_no_inputs(samples, tmp_path):
    shutil.copy(samples / "scene.png", tmp_path / "a.png")
    for name in ("a_masks/0001.png", "a_masks/left.png", "other_masks/0001.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).touch()

    def found(*given: object, recursive: bool = False) -> list[str]:
        items = expand_inputs([str(tmp_path / str(name)) for name in given], recursive).inputs
        return [str(item.path.relative_to(tmp_path)) for item in items]

    kept = ["a.png", "a_masks/left.png", "other_masks/0001.png"]
    assert found(".", recursive=True) == kept
    assert found("**/*.png") == kept
    assert found("a_masks") == ["a_masks/0001.png", "a_masks/left.png"]  # named outright


def test_nothing_is_written_into_a_folder_that_is_a_result(tmp_path):
    a, b = tmp_path / "a.png", tmp_path / "b.png"
    masks = planned("masks", tmp_path / "a_masks")
    with pytest.raises(InvalidInputError, match="would write as a whole"):
        check_plan({a: masks, b: planned("labels", tmp_path / "a_masks" / "b_labels.png")})
    with pytest.raises(InvalidInputError, match="would write as a whole"):
        check_plan({a: masks, tmp_path / "a_masks" / "left.png": planned("labels", tmp_path / "y")})
    with pytest.raises(InvalidInputError, match="would both write"):
        check_plan({a: masks, b: masks})
    check_plan({a: masks, b: planned("masks", tmp_path / "b_masks")})
