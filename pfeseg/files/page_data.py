"""What a page shows beyond the other files: the hierarchy, the embedding, the solver's history."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import MAX_BYTES, parse_npz, read_file
from pfeseg.files.replacing import replacing
from pfeseg.image.masks import spread
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.segmentation.result import Segmentation

LONGEST_SIDE = 160
"""Of the channels of an embedding, in pixels; what is larger is thinned out."""

_NO_REGION = -1


@dataclass(frozen=True, eq=False)
class PageData:
    """What is read of one image.

    Attributes
    ----------
    hierarchy : Hierarchy or None
    channels : (d, h, w) int8 array
        Of the embedding, or of what else the method knows of each pixel; the value that is
        farthest from zero is 127 or -127.
    objective, orthogonality_error : (iterations,) array
        The solver's; the error is NaN where it was not computed.
    stage : (iterations,) array
        1 or 2.
    """

    hierarchy: Hierarchy | None
    channels: NDArray[np.int8]
    objective: NDArray[np.float64]
    orthogonality_error: NDArray[np.float64]
    stage: NDArray[np.int8]


def write_page_data(path: Path, result: Segmentation) -> None:
    """Write what a page shows of one image, compressed."""
    history = result.embedding.history if result.embedding is not None else ()
    content: dict[str, Any] = {
        "channels": _channels(result),
        "objective": np.array([record.objective for record in history], np.float64),
        "orthogonality_error": np.array(
            [record.orthogonality_error for record in history], np.float64
        ),
        "stage": np.array([record.stage for record in history], np.int8),
    }
    tree = result.hierarchy
    if tree is not None:
        n_regions = len(tree.merges) + 1
        content["base"] = tree.base.astype(np.uint16) if n_regions <= 1 << 16 else tree.base
        content["merges"], content["levels"] = tree.merges, tree.levels
        content["outside"] = np.array(_NO_REGION if tree.outside is None else tree.outside)
    with replacing(path) as file:
        np.savez_compressed(file, **content)


def _channels(result: Segmentation) -> NDArray[np.int8]:
    height, width = result.small_image.shape[:2]
    rows = np.asarray(result.coordinates, dtype=np.float32)
    if result.small_mask is not None:
        rows = spread(rows, result.small_mask)
    step = -(-max(height, width) // LONGEST_SIDE)
    channels = rows.reshape(height, width, -1)[::step, ::step].transpose(2, 0, 1)
    largest = np.abs(channels).max(axis=(1, 2), keepdims=True)
    unit = np.divide(channels, largest, out=np.zeros_like(channels), where=largest > 0)
    return np.asarray(np.rint(unit * 127), dtype=np.int8)


def read_page_data(path: Path) -> PageData:
    """Read what `write_page_data` wrote."""
    stored = read_file(path)
    try:
        content = parse_npz(stored, MAX_BYTES)
        tree = _hierarchy(content) if "base" in content else None
        data = PageData(
            tree,
            *(content[name] for name in ("channels", "objective", "orthogonality_error", "stage")),
        )
        if data.channels.ndim != 3 or data.channels.dtype != np.int8 or data.objective.ndim != 1:
            raise ValueError("its arrays are of other shapes")
    except Exception as error:  # zip, header and array errors are all the same to the user
        raise InvalidInputError(f"{path}: not data of a page that can be read") from error
    return data


def _hierarchy(content: dict[str, NDArray[Any]]) -> Hierarchy:
    base, merges, levels = content["base"], content["merges"], content["levels"]
    n_regions = len(merges) + 1
    whole = all(np.issubdtype(array.dtype, np.integer) for array in (base, merges))
    if not whole or base.ndim != 2 or merges.shape[1:] != (2,) or levels.shape != merges.shape[:1]:
        raise ValueError("its arrays are of other shapes")
    outside = int(content["outside"])
    largest = max(int(base.max()), int(merges.max(initial=0)), outside)
    if largest >= n_regions or min(int(base.min()), int(merges.min(initial=0))) < 0:
        raise ValueError("it names regions that are not there")
    absorbed_at = np.full(n_regions, n_regions)
    absorbed_at[merges[:, 1]] = steps = np.arange(len(merges))
    if (absorbed_at[merges[:, 1]] != steps).any() or (absorbed_at[merges[:, 0]] <= steps).any():
        raise ValueError("it merges regions that are gone")
    return Hierarchy(
        base.astype(np.int32),
        merges.astype(np.int32),
        levels.astype(np.float64),
        None if outside == _NO_REGION else outside,
    )
