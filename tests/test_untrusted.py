"""Hostile files: what they claim, what they are, and what they are called."""

from __future__ import annotations

import io
import os
import struct
import subprocess
import sys
import zipfile
import zlib
from contextlib import suppress
from pathlib import Path

import numpy as np
import pytest
from helpers import SAMPLES
from PIL import Image

from pfeseg import InvalidInputError
from pfeseg.files.labels import read_labels
from pfeseg.files.opening import parse_npy, parse_npz, read_file
from pfeseg.files.raster import read_raster
from pfeseg.files.reading import read_image

MEMORY = 700_000_000
"""Bytes that a reader of a small file may take, with all libraries."""


def limited(
    *args: object, memory: int = MEMORY, timeout: float = 60
) -> subprocess.CompletedProcess:
    """Run a command in a process of its own that may take little memory."""
    program = (
        f"import resource; resource.setrlimit(resource.RLIMIT_AS, ({memory},) * 2)\n"
        "import sys; from pfeseg.cli import main; main(sys.argv[1:], prog_name='pfeseg')"
    )
    command = [sys.executable, "-c", program, *map(str, args)]
    quick = {"OPENBLAS_NUM_THREADS": "1"}  # each thread takes addresses
    return subprocess.run(
        command, capture_output=True, text=True, timeout=timeout, env=os.environ | quick
    )


def refused(result: subprocess.CompletedProcess, message: str) -> None:
    assert message in result.stderr, result.stderr
    assert result.returncode == 1
    assert result.stderr.count("\n") == 1


def chunk(kind: bytes, content: bytes) -> bytes:
    return struct.pack(">I", len(content)) + kind + content + struct.pack(
        ">I", zlib.crc32(kind + content)
    )  # fmt: skip


def huge_png(width: int, height: int, depth: int = 8, colours: int = 0) -> bytes:
    """Make a PNG file of so many pixels, all zero."""
    channels = {0: 1, 2: 3, 4: 2, 6: 4}[colours]
    packer = zlib.compressobj(9)
    row = bytes(1 + width * channels * depth // 8)
    data = b"".join(packer.compress(row) for _ in range(height)) + packer.flush()
    head = struct.pack(">2I5B", width, height, depth, colours, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        chunk(*part) for part in ((b"IHDR", head), (b"IDAT", data), (b"IEND", b""))
    )


@pytest.fixture(scope="session")
def vast() -> bytes:
    return huge_png(20_000, 20_000)


def gif(width: int, height: int) -> bytes:
    """Make two frames of a pixel each on a large screen."""
    frame = b"\x2c" + struct.pack("<4HB", 0, 0, 1, 1, 0) + b"\x02\x02\x44\x01\x00"
    screen = struct.pack("<2H3B", width, height, 0x80, 0, 0) + bytes(6)
    return b"GIF89a" + screen + frame + frame + b";"


def test_sizes_are_checked_before_memory_is_taken(tmp_path, vast):
    small = io.BytesIO()
    Image.new("L", (8, 8)).save(small, "ICO", sizes=[(8, 8)])
    icon = bytearray(small.getvalue()[:22]) + vast
    struct.pack_into("<2I", icon, 14, len(vast), 22)
    (tmp_path / "icon.png").write_bytes(icon)
    (tmp_path / "frames.gif").write_bytes(gif(60_000, 60_000))
    (tmp_path / "vast.png").write_bytes(vast)
    header = {"descr": "|u1", "fortran_order": False, "shape": (100_000, 100_000)}
    with (tmp_path / "vast.npy").open("wb") as file:
        np.lib.format.write_array_header_1_0(file, header)
        file.write(bytes(100))
    with zipfile.ZipFile(tmp_path / "bomb.npz", "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("image.npy", (tmp_path / "vast.npy").read_bytes()[:128] + bytes(10**8))
    out, scene = tmp_path / "out.npz", SAMPLES / "scene.png"
    for args, message in [
        (("downsample", tmp_path / "icon.png", "-o", out), "not an image that can be read"),
        (("downsample", tmp_path / "frames.gif", "--page", 1, "-o", out), "more than 100 million"),
        (("downsample", tmp_path / "vast.png", "-o", out), "more than 100 million"),
        (("downsample", tmp_path / "vast.npy", "-o", out), "are not what the rest of the file"),
        (("info", tmp_path / "vast.png"), "more than 100 million"),
        (("info", tmp_path / "vast.npy"), "not a label map that can be read"),
        (("evaluate", tmp_path / "vast.png", tmp_path / "vast.png"), "more than 100 million"),
        (("graph", tmp_path / "bomb.npz", "-o", out), "expected a file made by"),
        (("segment", scene, "--mask", tmp_path / "vast.png", "-o", tmp_path), "of the same size"),
        (
            ("segment", scene, "--mask", tmp_path / "vast.png", "--tile", 64, "-o", tmp_path),
            "of the same size",
        ),
    ]:
        refused(limited(*args), message)


def test_memory_that_is_short_for_scores_is_told_in_one_line(tmp_path):
    Image.new("L", (9000, 9000)).save(tmp_path / "large.png")
    result = limited("evaluate", tmp_path / "large.png", tmp_path / "large.png", memory=10**9)
    refused(result, "large.png: not enough memory; shrink both label maps first")


def test_bands_count_too(tmp_path, monkeypatch):
    import tifffile

    monkeypatch.setattr("pfeseg.files.opening.MAX_BYTES", 10_000)
    many = np.zeros((10, 10, 60), np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", many, photometric="minisblack", planarconfig="contig")
    with pytest.raises(InvalidInputError, match="10 x 10 pixels of 120 bytes are more than"):
        read_image(tmp_path / "a.tif")
    assert read_image(tmp_path / "a.tif", allow_huge=True).shape == many.shape


@pytest.mark.parametrize("command", ["downsample", "info", "graph", "evaluate", "config"])
def test_only_regular_files_are_read(tmp_path, command):
    os.mkfifo(tmp_path / "pipe.png")
    ending = {"graph": ".npz", "config": ".json"}.get(command, ".png")
    (tmp_path / f"device{ending}").symlink_to("/dev/zero")
    os.mkfifo(tmp_path / f"fifo{ending}")
    for name, what in ((f"device{ending}", "a device"), (f"fifo{ending}", "a pipe")):
        path, out = tmp_path / name, tmp_path / "out.npz"
        args = {
            "downsample": (path, "-o", out), "info": (path,), "graph": (path, "-o", out),
            "evaluate": (path, SAMPLES / "scene_labels.png"),
        }  # fmt: skip
        if command == "config":
            result = limited("segment", SAMPLES / "scene.png", "-o", tmp_path, "--config", path)
        else:
            result = limited(command, *args[command])
        assert f"{name}: expected a file, found {what}" in result.stderr
        assert result.stderr.count("\n") == 1


def test_pipes_and_devices_in_a_folder(tmp_path):
    folder = tmp_path / "in"
    folder.mkdir()
    os.mkfifo(folder / "pipe.png")
    (folder / "device.png").symlink_to("/dev/zero")
    (folder / "loop.png").symlink_to("loop.png")
    (folder / "a.png").write_bytes((SAMPLES / "scene.png").read_bytes())
    result = limited("segment", folder, "-o", tmp_path / "out", "-d", 3, memory=4 * 10**9)
    assert "device.png: expected a file, found a device" in result.stderr
    assert "loop.png: broken link to loop.png" in result.stderr
    assert "3 images: 1 done, 2 failed" in result.stderr


def test_lists_of_names_have_an_end_and_may_be_pipes(tmp_path):
    (tmp_path / "endless").symlink_to("/dev/zero")
    result = limited("segment", "--files-from", tmp_path / "endless", memory=2 * 10**9)
    refused(result, "endless: has more than the 256000000 bytes")
    shell = f"{sys.executable} -m pfeseg segment --files-from <(echo {tmp_path}/no.png)"
    result = subprocess.run(["bash", "-c", shell], capture_output=True, text=True)
    refused(result, "no.png: no such file")


def test_formats_are_a_fixed_list(tmp_path):
    (tmp_path / "photo.jpg").write_bytes(
        b"%!PS-Adobe-3.0 EPSF-3.0\n%%BoundingBox: 0 0 10 10\n%%EndComments\nshowpage\n%%EOF\n"
    )
    program = (
        "import sys, subprocess; from pathlib import Path\n"
        "from pfeseg.files.reading import read_image\n"
        "sys.addaudithook(lambda event, _: event == 'subprocess.Popen' and sys.exit(7))\n"
        "read_image(Path(sys.argv[1]))"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "photo.jpg")]
    result = subprocess.run(command, capture_output=True, text=True)
    assert result.returncode == 1
    assert "not an image that can be read" in result.stderr


@pytest.mark.parametrize(
    "content",
    [
        {"shape": (-2, -8), "descr": "|u1"},
        {"shape": (4, 5), "descr": "|u1"},
        {"shape": (2**62, 2**62), "descr": "|V0"},
        {"shape": (4,), "descr": "|O"},
        {"shape": (4,), "descr": [("a", "<i4")]},
    ],
)
def test_arrays_are_as_large_as_they_say(content):
    stream = io.BytesIO()
    np.lib.format.write_array_header_1_0(stream, {"fortran_order": False, **content})
    with pytest.raises(ValueError, match=r"array|hold"):
        parse_npy(stream.getvalue() + bytes(16))


def test_arrays_come_as_numpy_reads_them():
    for array in (np.arange(6.0).reshape(2, 3), np.asfortranarray(np.eye(3)), np.array("text"),
                  np.zeros((0, 3), ">i2"), np.array(True)):  # fmt: skip
        stream = io.BytesIO()
        np.savez(stream, first=array, other=array)
        found = parse_npz(stream.getvalue())
        assert list(found) == ["first", "other"]
        assert (found["other"].dtype, found["other"].shape) == (array.dtype, array.shape)
        assert (found["other"] == array).all()


def test_what_tifffile_wonders_at_is_not_printed(tmp_path):
    import tifffile

    image = np.zeros((20, 30, 3), np.uint16)
    tifffile.imwrite(tmp_path / "a.tif", image, photometric="rgb", description="x" * 50)
    content = bytearray((tmp_path / "a.tif").read_bytes())
    content[-20:] = b""
    for position in range(8, 200, 3):
        damaged = bytearray(content)
        damaged[position] ^= 0x55
        (tmp_path / "b.tif").write_bytes(damaged)
        for read in (read_raster, read_labels):
            with suppress(InvalidInputError):
                read(tmp_path / "b.tif")
    program = (
        "import sys, logging; from pathlib import Path\n"
        "from pfeseg.files.labels import read_labels\n"
        "try: read_labels(Path(sys.argv[1]))\n"
        "except ValueError: pass"
    )
    command = [sys.executable, "-c", program, str(tmp_path / "b.tif")]
    assert subprocess.run(command, capture_output=True, text=True).stderr == ""


def test_a_file_of_bytes_is_read_whole(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert read_file(tmp_path / "link") == b"abc"
    with pytest.raises(InvalidInputError, match="more than the 2 that are read"):
        read_file(tmp_path / "a", 2)
    with pytest.raises(InvalidInputError, match="cannot be read"):
        read_file(Path("a\0b"))


def npy(shape: tuple[int, ...], content: bytes = b"", kind: str = "|u1") -> bytes:
    """Make a file of NumPy's that claims a shape."""
    stream = io.BytesIO()
    header = {"descr": kind, "fortran_order": False, "shape": shape}
    np.lib.format.write_array_header_1_0(stream, header)
    return stream.getvalue() + content


def saved(**arrays: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.savez_compressed(stream, **arrays)
    return stream.getvalue()


def hole(path: Path, start: bytes, size: int) -> None:
    """Make a file of so many bytes, of which hardly any are on the disk."""
    with path.open("wb") as file:
        file.write(start)
        file.truncate(size)


def coo(**parts: object) -> bytes:
    """Make a sparse matrix of one entry, of which some parts may be others."""
    whole = {"format": np.array(b"coo"), "shape": np.array([3, 3]), "data": np.ones(1),
             "row": np.zeros(1, int), "col": np.zeros(1, int)}  # fmt: skip
    return saved(**whole | parts)


def test_data_are_refused_before_they_take_memory(tmp_path):
    rows, far = 4 * 10**11, np.array([10**12, 3])
    hole(tmp_path / "hole.npy", npy((rows,)), len(npy((rows,))) + rows)
    hole(tmp_path / "text.csv", b"a,b\n1,2\n", 10**12)
    hole(tmp_path / "hole.png", huge_png(20, 20), 10**12)
    (tmp_path / "claim.npy").write_bytes(npy((10**11, 3), bytes(300)))
    (tmp_path / "wide.npy").write_bytes(npy((1, 10**7), bytes(10**7)))
    (tmp_path / "broad.csv").write_text("1," * 1_100_000 + "1\n")
    (tmp_path / "rows.npz").write_bytes(coo(shape=far))
    (tmp_path / "columns.npz").write_bytes(coo(shape=far[::-1]))
    csr = {"indices": np.zeros(1, int), "indptr": np.array([0, 1])}
    (tmp_path / "csr.npz").write_bytes(coo(format=np.array(b"csr"), shape=far, **csr))
    (tmp_path / "pickle.npz").write_bytes(saved(X=np.array([{}], dtype=object)))
    with zipfile.ZipFile(tmp_path / "bz.npz", "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("X.npy", npy((3, 3), bytes(10**8)))
    os.mkfifo(tmp_path / "pipe.npy")
    (tmp_path / "zero.csv").symlink_to("/dev/zero")
    messages = {
        "hole.npy": "GB are free", "text.csv": "GB are free", "claim.npy": "are not what the rest",
        "wide.npy": "10000000 columns, more than", "broad.csv": "1100001 columns, more than",
        "rows.npz": "GB are free", "columns.npz": "GB are free", "csr.npz": "GB are free",
        "pickle.npz": "an array of plain numbers is needed", "bz.npz": "as NumPy does not",
        "pipe.npy": "expected a file, found a pipe", "zero.csv": "found a device",
    }  # fmt: skip
    files = [tmp_path / name for name in messages]
    done = limited("cluster-data", *files, "-k", 2, "-q", memory=2_500_000_000)
    lines = done.stderr.splitlines()
    assert len(lines) == len(files), done.stderr
    for line, (name, message) in zip(lines, messages.items(), strict=True):
        assert f"{name}: " in line
        assert message in line
    graphs = [tmp_path / name for name in ("rows.npz", "columns.npz", "csr.npz", "claim.npy")]
    done = limited("cluster-data", "--graph", *graphs, "-q", memory=2_500_000_000)
    assert done.stderr.count("\n") == len(graphs)
    assert "internal error" not in done.stderr
    refused(limited("info", tmp_path / "hole.png"), "GB are free")
    refused(limited("downsample", tmp_path / "hole.png", "-o", tmp_path / "x.npz"), "GB are free")


def test_rows_that_are_all_the_same_are_counted_before_they_are_read(tmp_path, monkeypatch):
    pyarrow = pytest.importorskip("pyarrow")
    from pyarrow import parquet

    from pfeseg.files.tables import read_table

    same = pyarrow.array([0.5]).take(pyarrow.array(np.zeros(5_000_000, int)))
    text = pyarrow.array(["x" * 1000]).dictionary_encode().take(pyarrow.array([0] * 500_000))
    for name, columns in (("same", {"a": same}), ("text", {"a": same[:500_000], "t": text})):
        parquet.write_table(pyarrow.table(columns), tmp_path / f"{name}.parquet")
        assert (tmp_path / f"{name}.parquet").stat().st_size < 100_000
        monkeypatch.setattr("pfeseg.files.opening.available_memory", lambda: 10**8)
        with pytest.raises(InvalidInputError, match="of memory, but 0"):
            read_table(tmp_path / f"{name}.parquet")
        monkeypatch.undo()
    assert read_table(tmp_path / "text.parquet", drop=["2"]).values.shape == (500_000, 1)


@pytest.mark.parametrize("codec", ["zlib", "lzma"])
def test_a_segment_is_unpacked_no_further_than_its_pixels(tmp_path, codec):
    import lzma

    import tifffile

    from pfeseg.files.windows import open_windows

    path, deep = tmp_path / "a.tif", np.arange(60 * 50 * 3, dtype=np.uint16).reshape(60, 50, 3)
    tifffile.imwrite(path, deep, photometric="rgb", compression=codec, rowsperstrip=60)
    np.testing.assert_array_equal(read_image(path), deep)
    whole = path.read_bytes()
    packer = zlib.compressobj(9) if codec == "zlib" else lzma.LZMACompressor()
    beyond = (packer.compress(bytes(1 << 24)) for _ in range(24))  # 400 MB
    content = packer.compress(deep.tobytes()) + b"".join(beyond) + packer.flush()
    with tifffile.TiffFile(path) as tiff:
        places = [tiff.pages[0].tags[number] for number in (273, 279)]
    damaged = bytearray(whole)
    for tag, value in zip(places, (len(whole), len(content)), strict=True):
        struct.pack_into("<HHII", damaged, tag.offset, tag.code, 4, 1, value)
    path.write_bytes(bytes(damaged) + content)
    resource = pytest.importorskip("resource")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    np.testing.assert_array_equal(read_image(path), deep)
    part = open_windows(path, tmp_path).read((slice(9, 20), slice(3, 8)), "auto")[0]
    np.testing.assert_array_equal(part, deep[9:20, 3:8])
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss < before + 200_000  # kB
    for broken in (whole[:-100], whole[:-3] + bytes(3)):  # told by its end, and by its checksum
        path.write_bytes(broken)
        with pytest.raises(InvalidInputError):
            read_image(path)


def test_a_raster_that_claims_any_size_is_refused_before_its_tiles_are_counted_out(tmp_path):
    import tifffile

    path = tmp_path / "a.tif"
    tifffile.imwrite(path, np.zeros((64, 64), np.uint8), tile=(64, 64), compression="zlib")
    content = bytearray(path.read_bytes())
    with tifffile.TiffFile(path) as tiff:
        for number, side in ((256, 2**31 - 1), (257, 2**30)):
            tag = tiff.pages[0].tags[number]
            struct.pack_into("<HHII", content, tag.offset, number, 4, 1, side)
    path.write_bytes(content)
    result = limited("segment", path, "--tile", 64, "-o", tmp_path / "out", memory=2 * 10**9)
    refused(result, "2147483647 x 1073741824 pixels are at least 562949953421312 tiles")
    assert not list((tmp_path / "out").iterdir())


def test_a_page_reads_no_image_that_is_larger_than_its_report_says(tmp_path, vast):
    import json

    (tmp_path / "a.png").write_bytes(huge_png(20, 20))
    done = limited("segment", tmp_path / "a.png", "-q", memory=4 * 10**9)
    assert done.returncode == 0, done.stderr
    report = json.loads((tmp_path / "a.json").read_text())
    del report["input_bytes"]
    (tmp_path / "a.json").write_text(json.dumps(report))
    (tmp_path / "a.png").write_bytes(vast)
    page = limited("report", tmp_path, "-o", tmp_path / "page.html", memory=10**9)
    assert page.returncode == 0, page.stderr


def looping_tiff(pages: int, side: int = 9) -> bytes:
    """Make grey pages of which the last leads back to the first."""
    start = 8 + side * side
    tags = {256: side, 257: side, 258: 8, 259: 1, 262: 1, 273: 8, 277: 1, 278: side, 279: side**2}
    entries = b"".join(struct.pack("<2H2I", tag, 4, 1, value) for tag, value in tags.items())
    size = 2 + len(entries) + 4
    content = b"II*\0" + struct.pack("<I", start) + bytes(range(side * side))
    for page in range(1, pages + 1):
        link = start + size * (page % pages)
        content += struct.pack("<H", len(tags)) + entries + struct.pack("<I", link)
    return content


@pytest.mark.parametrize("pages", [1, 3])
@pytest.mark.parametrize("options", [(), ("--volume",), ("--page", 1), ("--tile", 64)])
def test_pages_that_lead_back_are_not_followed(tmp_path, pages, options):
    (tmp_path / "loop.tif").write_bytes(looping_tiff(pages))
    result = limited("segment", tmp_path / "loop.tif", "-o", tmp_path, "-q", *options)
    assert "loop.tif: " in result.stderr
    assert "its pages lead back to an earlier one" in result.stderr
    assert result.returncode == 1


def test_names_of_nodes_may_have_any_number_of_digits(tmp_path):
    from pfeseg.files.edge_lists import read_graph

    (tmp_path / "a.txt").write_text("10 9\n9 " + "1" * 5000 + "\n")
    assert read_graph(tmp_path / "a.txt").nodes == ("10", "1" * 5000, "9")
    (tmp_path / "a.txt").write_text("10 9\n9 11\n")
    assert read_graph(tmp_path / "a.txt").nodes == ("9", "10", "11")


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.csv", b"\x1c\x1d \n\x85"),
        ("a.csv", b"x," + b"1" * 200_000 + b"\n1,2\n"),
        ("a.csv", b"\x1f\x8b\x08\x00"),
        ("a.npy", b"\x93NUMPY\x01\x00\x10\x00{'descr': (((((\n"),
        ("a.npz", saved(format=np.array(b"csr"), shape=np.array([1]), data=np.ones(1))),
        ("a.npz", coo(format=np.array(["csr"] * 2))),
        ("a.npz", coo(row=np.array([9]))),
        ("a.npz", coo(data=np.array([1j]))),
        ("a.npz", b"PK\x05\x06" + bytes(18)),
        ("a.parquet", b"PAR1" + bytes(8) + b"PAR1"),
    ],
)
def test_damaged_data_are_refused_in_one_line(tmp_path, name, content):
    from pfeseg.files.edge_lists import read_graph
    from pfeseg.files.tables import read_table

    (tmp_path / name).write_bytes(content)
    for read in (read_table, read_graph):
        if read is read_table or not name.endswith("parquet"):
            with pytest.raises(InvalidInputError) as told:
                read(tmp_path / name)
            assert "\n" not in str(told.value)
