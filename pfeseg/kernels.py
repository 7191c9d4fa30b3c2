"""The one door to the compiled kernels, which `_kernels.pyi` types.

They are the hot loops only; the rooms that use them say what they mean. The sources are in
``cpp/``, a noun in each file.
"""

from __future__ import annotations

import os

from pfeseg._kernels import (
    CholeskyLoopDouble,
    CholeskyLoopSingle,
    Elimination,
    PcgLoopDouble,
    PcgLoopSingle,
    add_scaled,
    average_areas,
    basins,
    best_variant,
    class_contrast,
    class_counts,
    colour_contrast,
    correlate,
    edge_energy,
    edge_sums,
    eliminate_graph,
    expectation,
    filter_responses,
    filter_rows,
    gram_matrix,
    improve_centres,
    incomplete_cholesky,
    interpolate,
    join_pairs,
    joining_merges,
    lab,
    lab_sums,
    match_boundaries,
    meetings,
    merge_regions,
    nearest_centres,
    number_by_appearance,
    redraw_boundaries,
    region_sums,
    split_off,
    split_regions,
    spread_starts,
    tint_regions,
    watershed,
)
from pfeseg.errors import InvalidInputError

__all__ = [
    "CholeskyLoopDouble",
    "CholeskyLoopSingle",
    "Elimination",
    "PcgLoopDouble",
    "PcgLoopSingle",
    "add_scaled",
    "average_areas",
    "basins",
    "best_variant",
    "class_contrast",
    "class_counts",
    "colour_contrast",
    "correlate",
    "edge_energy",
    "edge_sums",
    "eliminate_graph",
    "expectation",
    "filter_responses",
    "filter_rows",
    "gram_matrix",
    "improve_centres",
    "incomplete_cholesky",
    "interpolate",
    "join_pairs",
    "joining_merges",
    "lab",
    "lab_sums",
    "match_boundaries",
    "meetings",
    "merge_regions",
    "nearest_centres",
    "number_by_appearance",
    "redraw_boundaries",
    "region_sums",
    "split_off",
    "split_regions",
    "spread_starts",
    "tint_regions",
    "variant",
    "watershed",
]


def variant() -> str:
    """Name the compiled variant in use: "avx2" or "baseline".

    The environment variable ``PFESEG_KERNELS`` overrides the choice.
    """
    best = best_variant()
    chosen = os.environ.get("PFESEG_KERNELS") or best
    if chosen not in ("baseline", best):
        raise InvalidInputError(
            f"PFESEG_KERNELS={chosen}: this machine has the kernels 'baseline' and '{best}'"
        )
    return chosen
