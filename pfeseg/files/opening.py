"""Files of strangers: what is taken in before anybody looks at what it means.

Only regular files are read, of a size that is asked for, and what a small file claims to hold is
checked before memory is taken for it. Nothing is ever unpickled.
"""

from __future__ import annotations

import io
import json
import math
import os
import stat
import warnings
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

from pfeseg.errors import InvalidInputError, argument, in_one_line
from pfeseg.files.decoders import bounded_decoders
from pfeseg.files.holding import NO_WAITING
from pfeseg.files.page_chain import check_chain
from pfeseg.files.quiet import no_log_lines
from pfeseg.machine import available_memory

if TYPE_CHECKING:
    from numpy.typing import NDArray

MAX_PIXELS = 100_000_000
"""Larger images are refused unless they are expected: a small file can claim a huge size."""

MAX_BYTES = 24 * MAX_PIXELS
"""Of the pixels of an image, unless more are expected: three doubles for each of the most."""

SMALL = 1 << 26
"""Bytes that are taken without a look at how many there are."""

MAX_TEXT = 256_000_000
"""Bytes of a file of text."""

FORMATS = ("JPEG", "PNG", "GIF", "BMP", "PPM", "TIFF", "WEBP", "AVIF", "JPEG2000", "TGA")
"""What Pillow may read, whatever a file is called: others run programs or hide their size.

Those come first that it knows without looking for more.
"""

_KINDS = (
    (stat.S_ISDIR, "a folder"), (stat.S_ISFIFO, "a pipe"), (stat.S_ISSOCK, "a socket"),
    (stat.S_ISCHR, "a device"), (stat.S_ISBLK, "a device"),
)  # fmt: skip


def read_file(path: Path, most: float = math.inf, copies: float = 1) -> bytes:
    """Read a whole regular file, or say in one line why that cannot be.

    It may have at most so many bytes, and memory must be free for as many copies of it.
    """
    with open_file(path, most) as file:
        refuse_beyond_memory(path, copies * os.fstat(file.fileno()).st_size)
        return file.read()


def free_memory() -> float:
    """Return the bytes that may still be taken; no bound where that is not known."""
    free = available_memory()
    return math.inf if free is None else free


def refuse_beyond_memory(path: Path, needed: float) -> None:
    """Refuse a file of which so many bytes would be made, before they are taken."""
    if needed > SMALL and needed > (free := free_memory()):
        raise InvalidInputError(
            f"{path}: would take {needed / 1e9:.1f} GB of memory, but {free / 1e9:.1f} GB are free"
        )


@contextmanager
def open_file(path: Path, most: float = math.inf) -> Iterator[BinaryIO]:
    """Open a regular file, or say in one line why that, or what is read of it, cannot be."""
    try:
        if path.is_symlink() and not path.exists():
            raise InvalidInputError(f"{path}: broken link to {path.readlink()}")
        # Without waiting for the other end of a pipe.
        descriptor = os.open(path, os.O_RDONLY | NO_WAITING)
        try:
            _refuse_odd(os.fstat(descriptor), path, most)
            with open(path, "rb", opener=lambda *_: os.dup(descriptor)) as file:
                yield file
        finally:
            os.close(descriptor)
    except InvalidInputError:
        raise
    except FileNotFoundError as error:
        raise InvalidInputError(f"{path}: no such file") from error
    except (OSError, ValueError) as error:
        reason = getattr(error, "strerror", None) or error
        raise InvalidInputError(f"{path}: cannot be read ({reason})") from error


def _refuse_odd(status: os.stat_result, path: Path, most: float) -> None:
    if not stat.S_ISREG(status.st_mode):
        found = next((name for is_, name in _KINDS if is_(status.st_mode)), "something else")
        raise InvalidInputError(f"{path}: expected a file, found {found}")
    if status.st_size > most:
        raise InvalidInputError(
            f"{path}: has {status.st_size} bytes, more than the {most:.0f} that are read"
        )


def read_stream(stream: BinaryIO, name: str, most: int = MAX_TEXT) -> bytes:
    """Read a stream to its end, but no more than `most` bytes."""
    content = stream.read(most + 1)
    if len(content) > most:
        raise InvalidInputError(f"{name}: has more than the {most} bytes that are read")
    return content


@contextmanager
def telling_damage(name: object, what: str) -> Iterator[None]:
    """Say in one line why a file cannot be read; readers raise whatever a broken one makes them."""
    try:
        yield
    except (InvalidInputError, MemoryError):
        raise
    except Exception as error:
        raise InvalidInputError(f"{name}: {what} ({in_one_line(error)})") from error


def read_json(path: Path) -> Any:
    """Read a file of JSON."""
    content = read_file(path, MAX_TEXT)
    try:
        return json.loads(content.decode("utf-8"))
    except (ValueError, RecursionError) as error:
        raise InvalidInputError(f"{path}: not JSON that can be read ({error})") from error


def check_size(
    size: tuple[int, int], name: str, allow_huge: bool = False, pixel_bytes: float = 1
) -> None:
    """Refuse an image, (width, height), that would take unreasonable memory.

    `pixel_bytes` are those of all bands of a pixel.
    """
    if allow_huge:
        return
    what, limit = f"{name}: {size[0]} x {size[1]} pixels", argument("allow_huge", True)
    if size[0] * size[1] > MAX_PIXELS:
        raise InvalidInputError(
            f"{what} are more than {MAX_PIXELS // 10**6} million; use {limit} if that is right"
        )
    if size[0] * size[1] * pixel_bytes > MAX_BYTES:
        raise InvalidInputError(
            f"{what} of {pixel_bytes:.0f} bytes are more than {MAX_BYTES / 1e9:.1f} GB; "
            f"use {limit} if that is right"
        )


def check_page(page: int, pages: int, name: str) -> None:
    """Refuse a page, counted from 0, of a file that has no more than `pages`."""
    if page >= pages:
        raise InvalidInputError(f"{name}: has {pages} page(s), counted from 0; there is no {page}")


def parse_npy(content: bytes) -> NDArray[Any]:
    """Return an array in NumPy's format; raises ValueError where its size is not as it says."""
    import numpy as np
    from numpy.lib import format as npy

    stream = io.BytesIO(content)
    version = npy.read_magic(stream)
    if version not in ((1, 0), (2, 0)):
        raise ValueError("of an unknown version")
    read = npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # NumPy's wonder at headers of Python 2
        shape, by_columns, dtype = read(stream)
    start, count = stream.tell(), math.prod(shape)
    if dtype.hasobject or dtype.fields or not dtype.itemsize or min(shape, default=0) < 0:
        raise ValueError("an array of plain numbers is needed")
    if count * dtype.itemsize != len(content) - start:
        raise ValueError(f"{count} numbers are not what the rest of the file holds")
    flat = np.frombuffer(content, dtype, count, start).copy()
    return flat.reshape(shape, order="F" if by_columns else "C")


def parse_npz(content: bytes, most: float | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a file that `numpy.savez` wrote; raises ValueError and zip errors.

    What is compressed is refused, as a small file could then hold anything; unless `most` bytes
    are all that its arrays may have.
    """
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = archive.infolist()
        kinds = {member.compress_type for member in members}
        if not kinds <= {zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED}:  # others unpack without bound
            raise ValueError("its arrays are compressed as NumPy does not")
        if most is None and kinds != {zipfile.ZIP_STORED}:
            raise ValueError("its arrays are compressed")
        if sum(member.file_size for member in members) > (len(content) if most is None else most):
            raise ValueError("its arrays are larger than they can be")
        return {m.filename.removesuffix(".npy"): parse_npy(archive.read(m)) for m in members}


def open_picture(content: BinaryIO) -> Any:
    """Open an image of `FORMATS`, and of HEIF once Pillow has learned it, by Pillow."""
    from PIL import Image

    learned = [name for name in ("HEIF",) if name in Image.OPEN]
    return Image.open(content, formats=(*FORMATS, *learned))


@contextmanager
def open_tiff(content: Path | BinaryIO) -> Iterator[Any]:
    """Open a TIFF file by tifffile, which neither tells what it wonders at nor unpacks too much."""
    import tifffile

    with open_file(content) if isinstance(content, Path) else nullcontext(content) as file:
        check_chain(file)
    with no_log_lines(), bounded_decoders(), tifffile.TiffFile(content) as tiff:
        yield tiff


def check_sheet(sheet: Any, size: tuple[int, int], name: str, allow_huge: bool = False) -> None:
    """Check the size of a page of a TIFF file, or of a series of pages, before it is decoded."""
    item = sheet.dtype.itemsize if sheet.dtype is not None else 8
    check_size(size, name, allow_huge, math.prod(sheet.shape) * item / max(1, math.prod(size)))
