from __future__ import annotations

import imageio.v3 as iio
import numpy as np
import pytest

from pfeseg import InvalidInputError
from pfeseg.files import read_image, replacing, write_labels


def test_labels_survive_beyond_255(tmp_path):
    labels = np.arange(65536, dtype=np.int32).reshape(256, 256)
    write_labels(tmp_path / "l.png", labels)
    assert (iio.imread(tmp_path / "l.png") == labels).all()
    with pytest.raises(InvalidInputError, match="65537 labels"):
        write_labels(tmp_path / "m.png", labels + 1)
    assert sorted(p.name for p in tmp_path.iterdir()) == ["l.png"]


def test_nothing_half_written_is_left(tmp_path):
    (tmp_path / "a.txt").write_text("old")

    def fail() -> None:
        with replacing(tmp_path / "a.txt") as temporary:
            temporary.write_text("half")
            raise OSError("disk full")

    with pytest.raises(OSError, match="disk full"):
        fail()
    assert [p.name for p in tmp_path.iterdir()] == ["a.txt"]
    assert (tmp_path / "a.txt").read_text() == "old"


def test_alpha_is_composited_on_white(tmp_path):
    image = np.zeros((2, 2, 4), np.uint8)
    image[0, :, 3] = 255
    iio.imwrite(tmp_path / "a.png", image)
    assert read_image(tmp_path / "a.png").tolist() == [[[0] * 3] * 2, [[255] * 3] * 2]
