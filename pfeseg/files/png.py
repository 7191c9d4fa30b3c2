"""PNG files, whose rows are filtered and compressed in bands, side by side.

Any reader takes them. Each row is foretold by the filter that suits photographs best, and what is
left is compressed by runs: no larger than what the usual search for repetitions leaves of a
photograph or of a label map, and several times faster.
"""

from __future__ import annotations

import struct
import zlib
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import lru_cache
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels
from pfeseg.machine import available_threads

SIGNATURE = b"\x89PNG\r\n\x1a\n"

BAND_BYTES = 1_000_000
"""About so much is compressed at a time; never depends on the number of threads."""


COLOUR_TYPES = {1: 0, 3: 2, 4: 6}
"""How PNG files call grey, RGB and RGBA pixels, by the number of their channels."""

END_OF_STREAM = b"\x03\x00"
"""An empty last block of a compressed stream."""


def encode_png(
    picture: NDArray[Any], threads: int | None = None, *, above: int = 0, below: int = 0
) -> Iterator[bytes]:
    """Encode a picture; yields the parts of the file.

    Parameters
    ----------
    picture : (h, w), (h, w, 3) or (h, w, 4) array
        uint8 or uint16.
    threads : int, optional
        All processors unless given; never changes the file.
    above, below : int
        Rows of zeros around the picture. They take next to no time, however many.
    """
    height, width = picture.shape[:2]
    depth, colour = 8 * picture.dtype.itemsize, COLOUR_TYPES[picture[0, 0].size]
    rows = picture.reshape(height, -1)
    in_a_band = max(1, BAND_BYTES // max(1, rows[0].nbytes))
    bands = [(first, min(first + in_a_band, height)) for first in range(0, height, in_a_band)]

    def encode(band: tuple[int, int]) -> tuple[bytes, int, int]:
        """Return a part of the stream, and the checksum and the size of what it was made of."""
        filtered = _filter(rows, *band, picture[0, 0].nbytes).data
        deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_RLE)
        ends = band[1] == height and not below
        end = zlib.Z_FINISH if ends else zlib.Z_SYNC_FLUSH
        return (
            deflate.compress(filtered) + deflate.flush(end),
            zlib.adler32(filtered),
            filtered.nbytes,
        )

    yield SIGNATURE
    size = (width, above + height + below)
    yield _chunk(b"IHDR", struct.pack(">IIBBBBB", *size, depth, colour, 0, 0, 0))
    yield _chunk(b"IDAT", b"\x78\x01")  # a stream of zlib begins
    checksum = zlib.adler32(b"")
    with ThreadPoolExecutor(threads or available_threads()) as pool:
        for part, its_own, n_bytes in chain(
            _blank(above, rows[0].nbytes), pool.map(encode, bands), _blank(below, rows[0].nbytes)
        ):
            checksum = _joined(checksum, its_own, n_bytes)
            yield _chunk(b"IDAT", part)
    if below:
        yield _chunk(b"IDAT", END_OF_STREAM)
    yield _chunk(b"IDAT", struct.pack(">I", checksum))
    yield _chunk(b"IEND", b"")


def _filter(rows: NDArray[Any], first: int, last: int, pixel: int) -> NDArray[np.uint8]:
    """Filter some of the rows; `pixel` is the size of one in bytes."""
    with_above = rows[max(first - 1, 0) : last]
    if first == 0:
        with_above = np.concatenate([np.zeros_like(rows[:1]), with_above])
    big_endian = np.ascontiguousarray(with_above, with_above.dtype.newbyteorder(">"))
    return kernels.filter_rows(big_endian.view(np.uint8), pixel)


def _blank(n_rows: int, row_bytes: int) -> Iterator[tuple[bytes, int, int]]:
    """Put rows of zeros together from parts whose numbers of rows are powers of two."""
    for power in range(n_rows.bit_length()):
        if n_rows >> power & 1:
            yield _zeros((row_bytes + 1) << power)  # each row begins with the number of its filter


@lru_cache(maxsize=64)
def _zeros(n_bytes: int) -> tuple[bytes, int, int]:
    """Return a part of the stream that holds zeros only, as `encode_png` makes parts."""
    zeros = bytes(n_bytes)
    deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_RLE)
    part = deflate.compress(zeros) + deflate.flush(zlib.Z_SYNC_FLUSH)
    return part, zlib.adler32(zeros), n_bytes


def _joined(before: int, after: int, size: int) -> int:
    """Return the Adler-32 checksum of data and `size` bytes after them, from those of both."""
    modulus = 65521
    (high, low), (its_high, its_low) = divmod(before, 65536), divmod(after, 65536)
    sums = (high + its_high + size * (low - 1)) % modulus
    return sums * 65536 + (low + its_low - 1) % modulus


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
