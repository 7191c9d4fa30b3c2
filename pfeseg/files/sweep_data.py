"""What a sweep leaves for its page: what was tried, and the label maps."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import __version__
from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import MAX_BYTES, parse_npz, read_file
from pfeseg.files.replacing import replacing
from pfeseg.segmentation.methods import METHOD_VERSION

SWEEP_DATA = "_sweep.npz"
"""How the name of such a file ends."""

_FIELDS = {"input": str, "image_size": list, "first_label": int, "settings": dict, "trials": list,
           "recommended": int, "by": str}  # fmt: skip


@dataclass(frozen=True, eq=False)
class SweepData:
    """A sweep as it lies on disk.

    Attributes
    ----------
    report : dict
        Of the image: `input`, `image_size`, `first_label`, `settings` and how it was read; of the
        trials: `trials`, each with its `row` of the table and the `command` that makes its
        labels; `by`, the column that a slider goes through, "k", "level" or "regions"; and
        `recommended`, the index of one.
    maps : (trials, h, w) int array
        Labels of each trial, to look at.
    """

    report: dict[str, Any]
    maps: NDArray[np.integer[Any]]


def write_sweep_data(path: Path, data: SweepData) -> None:
    """Write what `read_sweep_data` reads, compressed."""
    versions = {"pfeseg_version": __version__, "method_version": METHOD_VERSION}
    text = json.dumps(versions | data.report)
    maps = data.maps.astype(np.min_scalar_type(int(data.maps.max(initial=0))))
    with replacing(path) as file:
        np.savez_compressed(file, report=np.frombuffer(text.encode(), np.uint8), maps=maps)


def read_sweep_data(path: Path) -> SweepData:
    """Read what `write_sweep_data` wrote."""
    stored = read_file(path)
    try:
        content = parse_npz(stored, MAX_BYTES)
        report, maps = json.loads(content["report"].tobytes()), content["maps"]
        _check(report, maps)
    except Exception as error:  # zip, header, JSON and array errors are all the same to the user
        raise InvalidInputError(f"{path}: not data of a sweep that can be read") from error
    return SweepData(report, maps)


def _check(report: Any, maps: NDArray[Any]) -> None:
    if not (isinstance(report, dict) and maps.ndim == 3 and maps.dtype.kind == "u"):
        raise ValueError("it is not laid out as it must be")
    if not all(isinstance(report.get(name), kind) for name, kind in _FIELDS.items()):
        raise ValueError("its report lacks a field")
    _check_trials(report["trials"], len(maps), report["recommended"])


def _check_trials(trials: Sequence[Any], n_maps: int, recommended: int) -> None:
    if len(trials) != n_maps or not 0 <= recommended < n_maps:
        raise ValueError("it holds other trials than label maps")
    for trial in trials:
        if not (isinstance(trial["row"], dict) and isinstance(trial["command"], str)):
            raise ValueError("a trial lacks a field")
        if not all(value is None or type(value) in (int, float) for value in trial["row"].values()):
            raise ValueError("a row holds a value that is not a number")
