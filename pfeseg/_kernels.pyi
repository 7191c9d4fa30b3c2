from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

_Int = NDArray[np.int32]
_Labels = _Int | NDArray[np.int64]
_Single = NDArray[np.float32]
_Double = NDArray[np.float64]
_Image = TypeVar("_Image", NDArray[np.float32], NDArray[np.float64])

class _Loop:
    def start(self, F: NDArray[Any], threads: int, /) -> None: ...
    def advance(self, iterations: int, threads: int, /) -> tuple[_Double, _Double, _Int, _Int]: ...
    def solution(self) -> NDArray[Any]: ...

class _PcgLoop(_Loop):
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
        rtol: float,
        max_pcg_iterations: int,
        variant: str,
        /,
    ) -> None: ...

class PcgLoopSingle(_PcgLoop): ...
class PcgLoopDouble(_PcgLoop): ...

class Elimination:
    @property
    def fits(self) -> bool: ...
    @property
    def entries(self) -> int: ...

class _CholeskyLoop(_Loop):
    def __init__(
        self,
        elimination: Elimination,
        weights: _Double,
        degrees: _Double,
        lam: float,
        r: float,
        threads: int,
        variant: str,
        /,
    ) -> None: ...

class CholeskyLoopSingle(_CholeskyLoop): ...
class CholeskyLoopDouble(_CholeskyLoop): ...

def eliminate_graph(edges: _Int, positions: _Int, max_entries: int, /) -> Elimination: ...
def incomplete_cholesky(
    indptr: _Int, indices: _Int, data: _Double, relaxation: float, /
) -> tuple[_Int, _Int, _Double, _Double]: ...
def gram_matrix(rows: NDArray[Any], scale: NDArray[Any] | None, threads: int, /) -> _Double: ...
def add_scaled(
    rows: NDArray[Any], more: NDArray[Any], scale: NDArray[Any], threads: int, /
) -> _Double: ...
def split_off(
    rows: NDArray[Any], factor: NDArray[Any], target: NDArray[Any], threads: int, /
) -> None: ...
def edge_energy(edges: _Int, weights: _Double, Y: NDArray[Any], /) -> _Double: ...
def best_variant() -> str: ...
def correlate(image: _Image, down: _Double, right: _Double, /) -> _Image: ...
def filter_responses(
    image: _Single,
    bank: list[tuple[_Double, ...]],
    rows: _Int,
    columns: _Int,
    compression: float,
    /,
) -> _Single: ...
def lab(image: NDArray[np.uint8] | _Single | _Double, /) -> _Single: ...
def interpolate(values: _Image, y: _Double, x: _Double, /) -> _Image: ...
def nearest_centres(rows: _Image, centres: _Image, /) -> tuple[_Int, _Image]: ...
def spread_starts(rows: _Image, weights: _Double, first: int, draws: _Double, /) -> _Int: ...
def improve_centres(
    rows: _Image, weights: _Double, centres: _Image, max_iterations: int, enough: float, /
) -> tuple[_Int, _Image, _Image]: ...
def expectation(monomials: _Double, coefficients: _Double, /) -> tuple[_Double, _Double, float]: ...
def number_by_appearance(labels: _Labels, /) -> _Int: ...
def split_regions(labels: _Labels, /) -> _Int: ...
def meetings(labels: _Int, steps: _Int, /) -> tuple[_Int, _Int, _Double]: ...
def region_sums(regions: _Int, n: int, values: _Single | _Double, /) -> _Double: ...
def lab_sums(
    regions: _Int, n: int, image: NDArray[Any], black: float, white: float, /
) -> _Double: ...
def class_counts(regions: _Int, n: int, classes: _Int, n_classes: int, /) -> _Double: ...
def edge_sums(edges: _Int, n: int, right: _Single, down: _Single, /) -> _Double: ...
def joining_merges(merges: _Int, first: _Int, second: _Int, /) -> _Int: ...
def join_pairs(pairs: _Int, n: int, /) -> tuple[_Int, _Int]: ...
def basins(relief: _Single, /) -> _Int: ...
def watershed(relief: _Single, markers: _Int, /) -> _Int: ...
def colour_contrast(
    image: _Single, first: int, last: int, window: _Double, reach: int, /
) -> tuple[_Single, _Single]: ...
def class_contrast(
    classes: _Int, n_classes: int, window: _Double, reach: int, /
) -> tuple[_Single, _Single]: ...
def merge_regions(
    areas: _Double,
    sums: _Double,
    group_ends: _Int,
    comparisons: _Int,
    pairs: _Int,
    lengths: _Double,
    contrasts: _Double,
    plain: _Double,
    root: _Double,
    cap: _Double,
    smaller: float,
    larger: float,
    bias: float,
    speck: float,
    coarse: float,
    typical: float,
    /,
) -> tuple[_Int, _Double]: ...
def match_boundaries(
    marks: NDArray[np.uint8], truth: NDArray[np.uint8], offsets: _Int, /
) -> NDArray[np.uint8]: ...
def average_areas(
    image: NDArray[Any],
    black: float,
    white: float,
    height: int,
    width: int,
    threads: int,
    /,
) -> _Double: ...
def redraw_boundaries(
    pieces: _Int,
    image: NDArray[Any],
    black: float,
    white: float,
    reach: int,
    gaussian: NDArray[np.float32],
    derivative: NDArray[np.float32],
    threads: int,
    /,
) -> _Int: ...
def tint_regions(
    image: NDArray[Any],
    black: float,
    white: float,
    strength: float,
    labels: _Int,
    tints: NDArray[np.float32],
    marks: NDArray[np.uint8],
    /,
) -> NDArray[np.uint8]: ...
def filter_rows(rows: NDArray[np.uint8], pixel: int, /) -> NDArray[np.uint8]: ...
