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
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import kernels

SIGNATURE = b"\x89PNG\r\n\x1a\n"

BAND_BYTES = 1_000_000
"""About so much is compressed at a time; never depends on the number of threads."""


def encode_png(picture: NDArray[Any], threads: int | None = None) -> Iterator[bytes]:
    """Encode a picture, (h, w) or (h, w, 3) of uint8 or uint16; yields the parts of the file."""
    height, width = picture.shape[:2]
    depth, colour = 8 * picture.dtype.itemsize, 2 if picture.ndim == 3 else 0
    rows = picture.reshape(height, -1)
    in_a_band = max(1, BAND_BYTES // max(1, rows[0].nbytes))
    bands = [(first, min(first + in_a_band, height)) for first in range(0, height, in_a_band)]

    def encode(band: tuple[int, int]) -> tuple[bytes, int, int]:
        """Return a part of the stream, and the checksum and the size of what it was made of."""
        filtered = _filter(rows, *band, picture[0, 0].nbytes).data
        deflate = zlib.compressobj(1, zlib.DEFLATED, -zlib.MAX_WBITS, 9, zlib.Z_RLE)
        end = zlib.Z_FINISH if band[1] == height else zlib.Z_SYNC_FLUSH
        return (
            deflate.compress(filtered) + deflate.flush(end),
            zlib.adler32(filtered),
            filtered.nbytes,
        )

    yield SIGNATURE
    yield _chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, colour, 0, 0, 0))
    yield _chunk(b"IDAT", b"\x78\x01")  # a stream of zlib begins
    checksum = zlib.adler32(b"")
    with ThreadPoolExecutor(threads or kernels.available_threads()) as pool:
        for part, its_own, size in pool.map(encode, bands):
            checksum = _joined(checksum, its_own, size)
            yield _chunk(b"IDAT", part)
    yield _chunk(b"IDAT", struct.pack(">I", checksum))
    yield _chunk(b"IEND", b"")


def _filter(rows: NDArray[Any], first: int, last: int, pixel: int) -> NDArray[np.uint8]:
    """Filter some of the rows; `pixel` is the size of one in bytes."""
    with_above = rows[max(first - 1, 0) : last]
    if first == 0:
        with_above = np.concatenate([np.zeros_like(rows[:1]), with_above])
    big_endian = np.ascontiguousarray(with_above, with_above.dtype.newbyteorder(">"))
    return kernels.filter_rows(big_endian.view(np.uint8), pixel)


def _joined(before: int, after: int, size: int) -> int:
    """Return the Adler-32 checksum of data and `size` bytes after them, from those of both."""
    modulus = 65521
    (high, low), (its_high, its_low) = divmod(before, 65536), divmod(after, 65536)
    sums = (high + its_high + size * (low - 1)) % modulus
    return sums * 65536 + (low + its_low - 1) % modulus


def _chunk(kind: bytes, content: bytes) -> bytes:
    checksum = zlib.crc32(content, zlib.crc32(kind))
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", checksum)
