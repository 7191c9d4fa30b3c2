from __future__ import annotations

import io
import zlib

import numpy as np
import pytest
from PIL import Image
from scipy.io import loadmat, savemat

from pfeseg import InvalidInputError
from pfeseg.files.labels import read_labels, write_labels
from pfeseg.files.mat5 import COLUMNS, write_matrix
from pfeseg.files.png import BAND_BYTES, encode_png
from pfeseg.files.replacing import replacing
from pfeseg.files.stages import read_stage, write_stage
from pfeseg.files.writing import MOST_PIXELS, write_picture, write_png

GRAPH = {
    "n_nodes": np.array(5), "edges": np.arange(4).reshape(2, 2), "weights": np.ones(2),
    "size": np.array([1, 5]), "full_size": np.array([4, 20]), "digest": np.array("a"),
    "photograph": np.array("b"),
}  # fmt: skip


@pytest.mark.parametrize("name", ["l.png", "l.tif", "l.npy"])
def test_labels_survive_beyond_255(tmp_path, name):
    labels = np.arange(65536, dtype=np.int32).reshape(256, 256)
    write_labels(tmp_path / name, labels)
    assert (read_labels(tmp_path / name) == labels).all()
    assert [p.name for p in tmp_path.iterdir()] == [name]


def test_labels_beyond_65535_never_overflow(tmp_path):
    labels = np.arange(65537, dtype=np.int32)[None]
    with pytest.raises(InvalidInputError, match="write them as tif or npy"):
        write_labels(tmp_path / "l.png", labels)
    assert list(tmp_path.iterdir()) == []
    for name in ("l.tif", "l.npy"):
        write_labels(tmp_path / name, labels)
        assert (read_labels(tmp_path / name) == labels).all()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        ("missing.png", "no such file"),
        ("labels.jpg", "must end in"),
        ("text.png", "not a label map"),
        ("colour.png", "one integer per pixel"),
        ("float.npy", "one integer per pixel"),
        ("negative.npy", "from 0 to"),
        ("vast.npy", "from 0 to"),
        ("empty.npy", "not a label map"),
        ("zip.npy", "not a label map"),
    ],
)
def test_what_is_no_label_map_is_refused(tmp_path, name, message):
    (tmp_path / "text.png").write_text("hello")
    write_png(tmp_path / "colour.png", np.zeros((3, 3, 3), np.uint8))
    np.save(tmp_path / "float.npy", np.zeros((3, 3)))
    np.save(tmp_path / "negative.npy", np.full((3, 3), -1))
    np.save(tmp_path / "vast.npy", np.full((3, 3), 2**64 - 5, np.uint64))
    (tmp_path / "empty.npy").touch()
    np.savez(tmp_path / "zip.npz", np.zeros((2, 2), int))
    (tmp_path / "zip.npz").rename(tmp_path / "zip.npy")
    with pytest.raises(InvalidInputError, match=message):
        read_labels(tmp_path / name)


def test_label_maps_of_other_programs(tmp_path):
    indexed = Image.fromarray(np.array([[0, 3], [7, 3]], np.uint8), "L").convert("P")
    indexed.save(tmp_path / "palette.png")
    assert read_labels(tmp_path / "palette.png").tolist() == [[0, 3], [7, 3]]
    Image.fromarray(np.array([[True, False]])).save(tmp_path / "bits.png")
    assert read_labels(tmp_path / "bits.png").tolist() == [[1, 0]]


def test_nothing_half_written_is_left(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail() -> None:
        with replacing(tmp_path / "a.txt") as file:
            file.write(b"half")
            raise OSError(28, "No space left on device")

    with pytest.raises(InvalidInputError, match=r"a\.txt: cannot be written \(No space left"):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_names_may_be_as_long_as_they_can(tmp_path):
    name = "x" * 251 + ".npy"
    write_labels(tmp_path / name, np.zeros((2, 2), int))
    assert [p.name for p in tmp_path.iterdir()] == [name]
    with pytest.raises(InvalidInputError, match="cannot be written"):
        write_labels(tmp_path / ("x" * 300 + ".npy"), np.zeros((2, 2), int))


def test_stage_files_carry_their_settings(tmp_path):
    write_stage(tmp_path / "a.npz", "graph", {"sigma": 0.5}, GRAPH)
    stage = read_stage(tmp_path / "a.npz", "graph")
    assert stage.settings == {"sigma": 0.5}
    assert stage.arrays["edges"].tolist() == [[0, 1], [2, 3]]
    first = (tmp_path / "a.npz").read_bytes()
    write_stage(tmp_path / "b.npz", "graph", {"sigma": 0.5}, GRAPH)
    assert (tmp_path / "b.npz").read_bytes() == first


def test_wrong_stage_files_are_refused(tmp_path, monkeypatch):
    write_stage(tmp_path / "a.npz", "graph", {}, GRAPH)
    with pytest.raises(InvalidInputError, match=r"'pfeseg init', found one made by 'pfeseg graph'"):
        read_stage(tmp_path / "a.npz", "init")
    np.savez(tmp_path / "other.npz", x=np.arange(3))
    (tmp_path / "text.npz").write_text("hello")
    for name in ("other.npz", "text.npz"):
        with pytest.raises(InvalidInputError, match="expected a file made by 'pfeseg graph'"):
            read_stage(tmp_path / name, "graph")
    with pytest.raises(InvalidInputError, match="no such file"):
        read_stage(tmp_path / "missing.npz", "graph")
    for header in (
        '{"a": 1}',
        "[1]",
        '{"format_version": 1, "kind": "tea", "settings": {}}',
        "[" * 10_000,
    ):
        np.savez(tmp_path / "odd.npz", pfeseg=np.array(header))
        with pytest.raises(InvalidInputError, match="expected a file made by"):
            read_stage(tmp_path / "odd.npz", "graph")
    write_stage(tmp_path / "lacking.npz", "graph", {}, {"edges": np.arange(4)})
    with pytest.raises(InvalidInputError, match="damaged, as it lacks digest, full_size, n_nodes"):
        read_stage(tmp_path / "lacking.npz", "graph")
    monkeypatch.setattr("pfeseg.files.stages.FORMAT_VERSION", 0)
    with pytest.raises(InvalidInputError, match="upgrade pfeseg"):
        read_stage(tmp_path / "a.npz", "graph")


PICTURES = [
    np.zeros((1, 1), np.uint8),
    np.arange(256, dtype=np.uint8).reshape(1, -1),
    np.arange(256, dtype=np.uint16).reshape(-1, 1) * 257,
    np.random.default_rng(0).integers(0, 65536, (37, 41)).astype(np.uint16),
    np.random.default_rng(1).integers(0, 256, (37, 41, 3)).astype(np.uint8),
    np.random.default_rng(2).integers(0, 256, (900, 1001, 3)).astype(np.uint8),  # several bands
    np.full((30, 40, 3), 200, np.uint8),
]


@pytest.mark.parametrize("picture", PICTURES, ids=lambda picture: f"{picture.shape}{picture.dtype}")
def test_png_files_hold_the_picture_and_do_not_depend_on_threads(tmp_path, picture):
    write_png(tmp_path / "a.png", picture, threads=1)
    write_png(tmp_path / "b.png", picture, threads=3)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()
    with Image.open(tmp_path / "a.png") as image:
        image.verify()  # the checksums
    with Image.open(tmp_path / "a.png") as image:
        np.testing.assert_array_equal(np.asarray(image), picture)


def test_large_pictures_are_compressed_in_bands_whose_stream_is_one():
    picture = PICTURES[5]
    assert picture.nbytes > 2 * BAND_BYTES
    file, place, stream = b"".join(encode_png(picture)), 8, b""
    while place < len(file):
        size = int.from_bytes(file[place : place + 4], "big")
        if file[place + 4 : place + 8] == b"IDAT":
            stream += file[place + 8 : place + 8 + size]
        place += 12 + size
    rows = zlib.decompress(stream)  # which checks the checksum of the whole
    assert len(rows) == picture.nbytes + len(picture)


def test_flat_label_maps_are_small(tmp_path):
    labels = np.kron(np.arange(12).reshape(3, 4), np.ones((200, 200), int)).astype(np.uint16)
    write_png(tmp_path / "l.png", labels)
    assert (tmp_path / "l.png").stat().st_size < labels.nbytes / 200


@pytest.mark.parametrize(("name", "format_"), [("o.jpg", "JPEG"), ("o.webp", "WEBP")])
def test_pictures_in_formats_that_lose_little(tmp_path, name, format_):
    y, x = np.indices((80, 90))
    picture = np.stack([2 * y, 2 * x, y + x], axis=2).astype(np.uint8)
    write_picture(tmp_path / name, picture)
    with Image.open(tmp_path / name) as image:
        assert image.format == format_
        assert np.abs(np.asarray(image).astype(int) - picture).mean() < 3
    assert [path.name for path in tmp_path.iterdir()] == [name]


@pytest.mark.parametrize("ending", MOST_PIXELS)
def test_pictures_too_large_for_their_format_are_refused(tmp_path, ending):
    most = MOST_PIXELS[ending]
    write_picture(tmp_path / f"largest{ending}", np.zeros((1, most, 3), np.uint8))
    with pytest.raises(InvalidInputError, match=f"overlay_size={most}, or png"):
        write_picture(tmp_path / f"o{ending}", np.zeros((1, most + 1, 3), np.uint8))
    assert [path.name for path in tmp_path.iterdir()] == [f"largest{ending}"]


@pytest.mark.parametrize("shape", [(1, 1), (1, 7), (7, 1), (30, 2 * COLUMNS), (5, 2 * COLUMNS + 3)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_matlab_files_are_those_of_scipy_but_for_their_first_words(shape, dtype):
    matrix = np.random.default_rng(0).random(shape).astype(dtype)
    found, expected = io.BytesIO(), io.BytesIO()
    write_matrix(found, "ucm2", matrix)
    savemat(expected, {"ucm2": matrix.astype(np.float64)}, do_compression=True)
    assert found.getvalue()[124:] == expected.getvalue()[124:]
    content = loadmat(io.BytesIO(found.getvalue()))
    assert content["ucm2"].dtype == np.float64
    np.testing.assert_array_equal(content["ucm2"], matrix)


def test_matrices_beyond_the_format_are_refused():
    huge = np.broadcast_to(np.float32(0), (25_000, 25_000))
    with pytest.raises(InvalidInputError, match="25000 x 25000 numbers"):
        write_matrix(io.BytesIO(), "ucm2", huge)
