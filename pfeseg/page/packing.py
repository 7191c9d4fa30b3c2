"""Pictures and arrays as text that travels inside a page."""

from __future__ import annotations

import base64
import json
import zlib
from typing import Any

import numpy as np
from numpy.typing import NDArray


def pack_array(array: NDArray[Any]) -> dict[str, Any]:
    """Pack an array of integers or floats without loss; `unpackArray` of labels.js undoes it."""
    kind = array.dtype.newbyteorder("<")
    content = zlib.compress(array.astype(kind).tobytes(), 6)
    return {"type": kind.str[1:], "shape": list(array.shape), "bytes": _base64(content)}


def pack_labels(labels: NDArray[np.integer[Any]]) -> dict[str, Any]:
    """Pack a label map, (h, w), without loss; `unpackLabels` of labels.js undoes it.

    Each row but the first is stored as its difference (exclusive or) from the row above, which
    is nearly all zeros.
    """
    rows = smallest_type(labels)
    rows[1:] ^= rows[:-1].copy()
    return pack_array(rows)


def smallest_type(values: NDArray[np.integer[Any]]) -> NDArray[np.unsignedinteger[Any]]:
    """Copy numbers from 0 on to the smallest type that holds them."""
    return values.astype(np.min_scalar_type(int(values.max(initial=0))))


def script_json(value: Any) -> str:
    r"""Return a value as JSON that is safe inside a script element, whatever text it holds.

    Nothing but "<" can end that element or begin a comment; it is written as "\u003c". All
    that is not ASCII is escaped too.
    """
    return json.dumps(value, separators=(",", ":"), allow_nan=False).replace("<", "\\u003c")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")
