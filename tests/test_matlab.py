"""MATLAB files: what SciPy reads, and nothing that a damaged file could do."""

from __future__ import annotations

import io
import os
import struct
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from helpers import save_truth
from scipy.io import loadmat, savemat

from pfeseg import InvalidInputError
from pfeseg.files.mat5 import read_matrices, write_matrix
from pfeseg.files.matlab import (
    read_contours,
    read_ground_truths,
    read_segmentations,
    read_true_boundaries,
    write_contour_map,
    write_segmentations,
)

KINDS = ("u1", "u2", "u4", "u8", "i1", "i2", "i4", "i8", "f4", "f8")


def saved(compressed: bool = True, **variables: object) -> bytes:
    stream = io.BytesIO()
    savemat(stream, variables, do_compression=compressed)
    return stream.getvalue()


def cells(*values: object) -> np.ndarray:
    made = np.empty((1, len(values)), dtype=object)
    made[0, :] = values
    return made


@pytest.mark.parametrize("compressed", [True, False])
def test_matrices_cells_and_structures_come_as_scipy_reads_them(compressed):
    rng = np.random.default_rng(0)
    matrices = {f"m{k}": (rng.random((3, 5)) * 100).astype(k) for k in KINDS}
    three = cells(np.eye(2), np.arange(3, dtype=np.uint8), {"a": np.ones((2, 2)), "long_name": 7})
    content = saved(compressed, **matrices, cells=three, text="hello", empty=np.zeros((0, 4)),
                    deep=rng.random((2, 3, 4)), flag=np.array([[True, False]]))  # fmt: skip
    found = read_matrices(content)
    for name, matrix in matrices.items():
        assert (found[name].dtype, found[name].shape) == (matrix.dtype, matrix.shape)
        assert (found[name] == matrix).all()
    assert [cell.tolist() for cell in found["cells"][:2]] == [np.eye(2).tolist(), [[0, 1, 2]]]
    assert found["cells"][2]["a"][0].tolist() == [[1, 1], [1, 1]]
    assert found["cells"][2]["long_name"][0].tolist() == [[7]]
    assert found["text"] is None
    assert found["empty"].shape == (0, 4)
    assert (found["deep"] == loadmat(io.BytesIO(content))["deep"]).all()
    assert found["flag"].tolist() == [[1, 0]]


def test_what_is_written_is_read_and_other_orders_of_bytes_are(tmp_path):
    stream = io.BytesIO()
    write_matrix(stream, "ucm2", np.random.default_rng(0).random((7, 200)))
    (name, matrix), *others = read_matrices(stream.getvalue()).items()
    assert (name, others) == ("ucm2", [])
    assert (matrix == loadmat(io.BytesIO(stream.getvalue()))["ucm2"]).all()
    head = struct.pack(">4I", 6, 8, 6, 0) + struct.pack(">4I", 5, 8, 1, 2)
    body = head + struct.pack(">I4s", 1 << 16 | 1, b"a") + struct.pack(">2I2d", 9, 16, 1.5, 2.5)
    swapped = bytes(124) + b"\1\0MI" + struct.pack(">2I", 14, len(body)) + body
    assert read_matrices(swapped)["a"].tolist() == [[1.5, 2.5]]


def test_no_file_holds_the_time(tmp_path):
    labels = np.indices((12, 9))[0] // 5
    write_segmentations(tmp_path / "segs.mat", [labels, labels.T])
    write_contour_map(tmp_path / "ucm.mat", np.ones((5, 7), np.float32))
    for name in ("segs.mat", "ucm.mat"):
        assert (tmp_path / name).read_bytes()[:116] == b"MATLAB 5.0 MAT-file".ljust(116)
    first, second = read_segmentations(tmp_path / "segs.mat")
    assert (first == labels + 1).all()
    assert (second == labels.T + 1).all()


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"ucm2": "text"}, "must be a matrix of 2 h"),
        ({"ucm2": np.zeros((4, 4))}, "must be a matrix of 2 h"),
        ({"ucm2": np.full((5, 5), np.nan)}, "not a finite number"),
        ({"ucm2": np.zeros((3, 3)) * 1j}, "as many real numbers"),
        ({"segs": np.eye(3)}, "holds no segmentation"),
        (
            {"segs": cells(np.eye(3), np.ones((3, 3, 4)))},
            "whole number",
        ),
        ({"segs": cells(np.eye(3) * 1e300, "text")}, "whole number"),
        ({"segs": cells(-np.eye(3), np.eye(2))}, "whole number"),
        ({"x": 3}, "expected 'segs' or 'ucm2', found 'x'"),
    ],
)
def test_odd_variables_are_refused(tmp_path, variables, message):
    (tmp_path / "a.mat").write_bytes(saved(**variables))
    for read in (read_segmentations, read_contours):
        with pytest.raises(InvalidInputError, match=message):
            list(read(tmp_path / "a.mat"))


def test_a_small_file_never_takes_much_memory(tmp_path, monkeypatch):
    bomb = zlib.compress(struct.pack("<2I", 14, 2**31 - 8) + bytes(3_000_000), 9)
    content = saved(x=1)[:128] + struct.pack("<2I", 15, len(bomb)) + bomb
    with pytest.raises(ValueError, match="cut short"):
        read_matrices(content)
    monkeypatch.setattr("pfeseg.files.mat5.MAX_INFLATED", 2_000_000)
    with pytest.raises(ValueError, match="more than 2000000 bytes"):
        read_matrices(content)
    small = saved(x=np.zeros((500, 500)))
    with pytest.raises(ValueError, match="more than"):
        read_matrices(small + small[128:])
    assert list(read_matrices(small + small[128:], allow_huge=True)) == ["x"]
    many = bytearray(saved(compressed=False, x=cells(np.eye(2), "text")))
    struct.pack_into("<2i", many, 128 + 8 + 16 + 8, 2**31 - 1, 2**31 - 1)
    with pytest.raises(ValueError, match="not as many elements"):
        read_matrices(many)


def test_damaged_files_are_one_line_each(tmp_path):
    path = tmp_path / "a.mat"
    save_truth(path, np.indices((40, 30))[0] // 5)
    whole = path.read_bytes()
    content = bytearray(saved(compressed=False, **{k: v for k, v in loadmat(path).items()
                                                   if k == "groundTruth"}))  # fmt: skip
    rng = np.random.default_rng(1)
    read = 0
    for _ in range(1500):
        damaged = bytearray(content)
        for place in rng.integers(100, len(damaged), rng.integers(1, 4)):
            damaged[place] = rng.choice([0, 1, 14, 15, 127, 255, rng.integers(256)])
        path.write_bytes(damaged[: rng.integers(128, 10 * len(damaged))])
        for reader in (read_ground_truths, read_true_boundaries, read_segmentations):
            with suppress(InvalidInputError):
                read += bool(list(reader(path)))
    assert read > 100  # damage to the numbers alone is not seen
    path.write_bytes(whole)
    assert len(read_ground_truths(path)) == 1


def test_every_file_of_the_benchmark_is_read_as_by_scipy():
    root = os.environ.get("BSDS500_ROOT")
    if not root:
        pytest.skip("set BSDS500_ROOT to the folder of BSDS500")
    paths = sorted(Path(root).glob("groundTruth/train/*.mat"))[:10]
    assert paths
    for path in paths:
        expected = [cell[0, 0]["Segmentation"] for cell in loadmat(path)["groundTruth"][0]]
        found = read_ground_truths(path)
        assert len(found) == len(expected)
        assert all((one == other).all() for one, other in zip(found, expected, strict=True))
