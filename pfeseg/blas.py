"""Sums in one thread."""

from __future__ import annotations

from contextlib import AbstractContextManager
from functools import cache
from typing import Any


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks for them, which takes a while


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let NumPy compute with one thread inside a block: several may change the bytes of a sum."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1)
    return limited
