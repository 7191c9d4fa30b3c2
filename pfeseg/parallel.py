"""Calls side by side in processes, and sums in one thread."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Generator, Sequence
from contextlib import AbstractContextManager
from functools import cache
from typing import Any, TypeVar

T = TypeVar("T")


@cache
def _libraries() -> Any:
    from threadpoolctl import ThreadpoolController

    return ThreadpoolController()  # looks for them, which takes a while


def one_blas_thread() -> AbstractContextManager[Any]:
    """Let NumPy compute with one thread inside a block: several may change the bytes of a sum."""
    limited: AbstractContextManager[Any] = _libraries().limit(limits=1)
    return limited


def run_unordered(
    function: Callable[..., T], calls: Sequence[tuple[Any, ...]], jobs: int
) -> Generator[T, None, None]:
    """Call a function with each of some argument lists and yield the results as they come.

    Parameters
    ----------
    function : callable
        Of a module, so that other processes find it.
    calls : sequence of tuple
    jobs : int
        Number of processes, each with one thread for BLAS; with 1, all runs here, in order.
    """
    if jobs == 1 or len(calls) == 1:
        yield from (function(*arguments) for arguments in calls)
        return
    from joblib import Parallel, delayed, parallel_config

    # Else a helper process of joblib's tells, after Ctrl-C, what it had to clear away.
    os.environ.setdefault("PYTHONWARNINGS", "ignore:resource_tracker:UserWarning")
    with parallel_config(backend="loky", inner_max_num_threads=1):
        results = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)(
            delayed(function)(*arguments) for arguments in calls
        )
    try:
        for result in results:  # noqa: UP028 - "yield from" would close it with a warning
            yield result
    finally:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            results.close()
