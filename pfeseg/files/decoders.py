"""What tifffile unpacks the segments of a TIFF file by, where the package imagecodecs is not there.

Its own functions unpack whatever a segment holds, and drop later what is more than its pixels: a
small file could take any memory. These stop where the pixels are full.
"""

from __future__ import annotations

import lzma
import zlib
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from importlib import import_module
from typing import Any

Decoder = Callable[..., Any]


def _bounded(make: Callable[[], Any], no_bound: int) -> Decoder:
    """Make a decoder of what makes decompressors, and of what tells these of no bound."""

    def decode(data: bytes, /, *, out: int | None = None) -> bytes:
        unpacker = make()
        # One byte more, so that a segment that ends there is unpacked to its checksum.
        unpacked: bytes = unpacker.decompress(data, no_bound if out is None else out + 1)
        if not unpacker.eof and (out is None or len(unpacked) <= out):
            raise ValueError("a segment that is cut off")
        return unpacked

    return decode


def _zstd() -> Any:
    return import_module("compression.zstd").ZstdDecompressor()  # from Python 3.14 on


_BOUNDED = {
    "zlib_decode": _bounded(zlib.decompressobj, 0),
    "lzma_decode": _bounded(lzma.LZMADecompressor, -1),
    "zstd_decode": _bounded(_zstd, -1),
}
"""By the names of those in `tifffile._imagecodecs` that have no bound."""


class _Decoders(Mapping[int, Decoder]):
    """The decoders of tifffile, with a bound."""

    def __init__(self, all_: Mapping[int, Decoder]) -> None:
        self._all = all_

    def __getitem__(self, codec: int) -> Decoder:
        found = self._all[codec]
        is_fallback = getattr(found, "__module__", "") == "tifffile._imagecodecs"
        return _BOUNDED.get(found.__name__, found) if is_fallback else found

    def __iter__(self) -> Iterator[int]:
        return iter(self._all)

    def __len__(self) -> int:
        return len(self._all)


@contextmanager
def bounded_decoders() -> Iterator[None]:
    """Let tifffile unpack no more of a segment than its pixels, inside the block."""
    from tifffile import TIFF

    before = TIFF.DECOMPRESSORS
    if not isinstance(before, _Decoders):
        TIFF.DECOMPRESSORS = _Decoders(before)
    try:
        yield
    finally:
        TIFF.DECOMPRESSORS = before
