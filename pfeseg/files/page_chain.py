"""The chain of pages of a TIFF file, which may be a loop; tifffile would follow that for ever."""

from __future__ import annotations

import struct
from typing import BinaryIO

ORDERS = {b"II": "<", b"MM": ">"}
BIG = 43
"""Version of files whose offsets have 64 bits."""


def check_chain(file: BinaryIO) -> None:
    """Raise ValueError if the pages of a file lead back to an earlier one.

    Where the chain ends in any other way, whoever reads the pages tells what is wrong.
    """
    end = file.seek(0, 2)
    file.seek(0)
    start = file.read(16)
    file.seek(0)
    if start[:2] not in ORDERS or len(start) < 16:
        return
    order = ORDERS[start[:2]]
    is_big = struct.unpack_from(f"{order}H", start, 2)[0] == BIG
    count, link = (struct.Struct(order + form) for form in ("QQ" if is_big else "HI"))
    entry_size = 20 if is_big else 12
    (offset,) = link.unpack_from(start, 8 if is_big else 4)
    met = set[int]()
    while 0 < offset <= end - count.size - link.size:
        if offset in met:
            raise ValueError("its pages lead back to an earlier one")
        met.add(offset)
        file.seek(offset)
        (entries,) = count.unpack(file.read(count.size))
        behind = offset + count.size + entries * entry_size
        if behind > end - link.size:
            break
        file.seek(behind)
        (offset,) = link.unpack(file.read(link.size))
    file.seek(0)
