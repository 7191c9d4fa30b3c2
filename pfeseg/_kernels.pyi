from typing import Any

import numpy as np
from numpy.typing import NDArray

_Int = NDArray[np.int32]
_Double = NDArray[np.float64]

class _SplitBregman:
    def __init__(
        self,
        indptr: _Int,
        indices: _Int,
        data: _Double,
        weights: _Double,
        degrees: _Double,
        lam: float,
        r: float,
        relaxation: float,
        variant: str,
        /,
    ) -> None: ...
    def start(self, F: NDArray[Any], threads: int, /) -> None: ...
    def advance(
        self, iterations: int, rtol: float, max_pcg_iterations: int, threads: int, /
    ) -> tuple[_Double, _Double, _Int, _Int]: ...
    def solution(self) -> NDArray[Any]: ...

class SplitBregmanSingle(_SplitBregman): ...
class SplitBregmanDouble(_SplitBregman): ...

def incomplete_cholesky(
    indptr: _Int, indices: _Int, data: _Double, relaxation: float, /
) -> tuple[_Int, _Int, _Double, _Double]: ...
def best_variant() -> str: ...
