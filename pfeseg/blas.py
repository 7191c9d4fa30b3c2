"""Linear algebra in one thread: several may change the bytes of a sum."""

from __future__ import annotations

import sys
from contextlib import AbstractContextManager
from functools import lru_cache
from typing import Any


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let NumPy and SciPy compute with one thread inside a block.

    SciPy has linear algebra of its own. It is limited only if it was loaded before the block.
    """
    limited: AbstractContextManager[Any] = _libraries(len(sys.modules)).limit(limits=1)
    return limited


@lru_cache(maxsize=1)
def _libraries(n_modules: int) -> Any:
    """Look for the libraries anew, which takes a while, only if modules were loaded since."""
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()
