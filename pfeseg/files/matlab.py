"""The BSDS benchmark's MATLAB files: ground truths, sets of segmentations, contour maps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.labels import MAX_LABEL, read_labels
from pfeseg.files.mat5 import BEGINNING, read_matrices, write_matrix
from pfeseg.files.opening import read_file
from pfeseg.files.replacing import replacing
from pfeseg.labels.boundaries import Marks, boundaries_of, contours_at

Labels = NDArray[np.integer[Any]]

UCM_THRESHOLDS = np.arange(1, 100) / 100
"""Levels at which the benchmark cuts an ultrametric contour map."""


def read_ground_truths(path: Path, allow_huge: bool = False) -> list[Labels]:
    """Read the ground truths of one image: a BSDS .mat file, or one label map.

    Those that are as large as a small file could claim without reason are refused, here and in the
    functions below, without `allow_huge`.
    """
    if path.suffix.lower() != ".mat":
        return [read_labels(path, allow_huge)]
    return _ground_truths(path, "Segmentation", allow_huge)


def read_true_boundaries(path: Path, allow_huge: bool = False) -> list[Marks]:
    """Read the boundaries of the ground truths of one image, as `read_ground_truths` does."""
    if path.suffix.lower() != ".mat":
        return [boundaries_of(read_labels(path, allow_huge))]
    return [marks.astype(bool) for marks in _ground_truths(path, "Boundaries", allow_huge)]


def check_size(path: Path, truths: Sequence[Labels], image_shape: tuple[int, ...]) -> None:
    """Refuse ground truths, read from `path`, that are not of the image's size."""
    for truth in truths:
        if truth.shape != image_shape[:2]:
            raise InvalidInputError(
                f"{path}: a ground truth of {truth.shape[1]} x {truth.shape[0]} pixels for an "
                f"image of {image_shape[1]} x {image_shape[0]}"
            )


def read_segmentations(path: Path, allow_huge: bool = False) -> Iterator[Labels]:
    """Read the segmentations of one image, one per setting.

    A label map is one; of .mat files 'segs' holds any number, and an ultrametric
    contour map 'ucm2', of twice the size, is cut at `UCM_THRESHOLDS`.
    """
    if path.suffix.lower() != ".mat":
        yield read_labels(path, allow_huge)
        return
    content = _load(path, allow_huge)
    if "segs" in content:
        yield from _checked(path, content["segs"])
    else:
        ucm2 = _contour_map(path, content)
        yield from (cut_contour_map(ucm2, level) for level in UCM_THRESHOLDS)


def read_contours(path: Path, allow_huge: bool = False) -> list[Marks]:
    """Read the boundaries of one image as thin lines, one map per setting.

    A label map is one; of .mat files 'segs' holds any number, and the contours of 'ucm2' are taken
    at `UCM_THRESHOLDS`. Where a threshold changes nothing, the very same map comes again.
    """
    if path.suffix.lower() != ".mat":
        return [boundaries_of(read_labels(path, allow_huge))]
    content = _load(path, allow_huge)
    if "segs" in content:
        return [boundaries_of(labels) for labels in _checked(path, content["segs"])]
    return contours_of(_contour_map(path, content))


def contours_of(ucm2: NDArray[np.floating[Any]]) -> list[Marks]:
    """Return the contours of an ultrametric contour map at `UCM_THRESHOLDS` as thin lines."""
    maps: list[Marks] = []
    counts: list[int] = []
    for threshold in UCM_THRESHOLDS:
        counts.append(int((ucm2 >= threshold).sum()))
        unchanged = len(counts) > 1 and counts[-1] == counts[-2]
        maps.append(maps[-1] if unchanged else contours_at(ucm2, threshold))
    return maps


def write_segmentations(path: Path, segmentations: Sequence[Labels]) -> None:
    """Write segmentations of one image, one per setting, as the 'segs' of a .mat file.

    The benchmark counts labels from 1.
    """
    from scipy.io import savemat

    cells = np.empty(len(segmentations), dtype=object)
    for k, labels in enumerate(segmentations):
        cells[k] = labels.astype(np.uint16 if labels.max() < 65535 else np.uint32) + 1
    with replacing(path) as file:
        savemat(file, {"segs": cells}, do_compression=True)
        file.seek(0)
        file.write(BEGINNING)


def write_contour_map(path: Path, ucm2: NDArray[np.float32]) -> None:
    """Write an ultrametric contour map, (2 h + 1, 2 w + 1), as the 'ucm2' of a .mat file."""
    with replacing(path) as file:
        write_matrix(file, "ucm2", ucm2)


def cut_contour_map(ucm2: NDArray[np.float64], threshold: float) -> Labels:
    """Label the regions that contours stronger than a threshold enclose.

    Parameters
    ----------
    ucm2 : (2 h + 1, 2 w + 1) array
        Strength of the contours between and around the pixels.
    threshold : float
    """
    from scipy.ndimage import label

    regions: Labels = label(ucm2 <= threshold, np.ones((3, 3)))[0]
    return np.ascontiguousarray(regions[1::2, 1::2])


def _ground_truths(path: Path, field: str, allow_huge: bool) -> list[Labels]:
    content = _load(path, allow_huge)
    if "groundTruth" not in content:
        raise InvalidInputError(
            f"{path}: expected 'groundTruth', found {_names(content)}; is it a BSDS ground truth?"
        )
    try:
        truths = [structure[field][0] for structure in content["groundTruth"]]
    except (IndexError, KeyError, TypeError) as error:
        raise InvalidInputError(f"{path}: its 'groundTruth' is not laid out as BSDS's") from error
    return _checked(path, truths)


def _load(path: Path, allow_huge: bool) -> dict[str, Any]:
    try:
        return read_matrices(read_file(path), allow_huge)
    except InvalidInputError:
        raise
    except ValueError as error:
        raise InvalidInputError(f"{path}: not a MATLAB file that can be read ({error})") from error


def _contour_map(path: Path, content: dict[str, Any]) -> NDArray[np.float64]:
    if "ucm2" not in content:
        raise InvalidInputError(f"{path}: expected 'segs' or 'ucm2', found {_names(content)}")
    ucm2 = content["ucm2"]
    if not _is_map(ucm2) or min(ucm2.shape) < 3 or not all(side % 2 for side in ucm2.shape):
        raise InvalidInputError(f"{path}: 'ucm2' must be a matrix of 2 h + 1 by 2 w + 1 numbers")
    if not np.isfinite(ucm2).all():
        raise InvalidInputError(f"{path}: 'ucm2' holds a value that is not a finite number")
    return np.asarray(ucm2)


def _checked(path: Path, maps: Any) -> list[Labels]:
    if not isinstance(maps, list) or not maps:
        raise InvalidInputError(f"{path}: holds no segmentation")
    for labels in maps:
        if not _is_map(labels) or not _is_whole(labels):
            raise InvalidInputError(f"{path}: a segmentation must hold one whole number per pixel")
    return [labels.astype(np.int64) for labels in maps]


def _is_map(value: Any) -> bool:
    return isinstance(value, np.ndarray) and value.ndim == 2 and value.size > 0


def _is_whole(labels: NDArray[Any]) -> bool:
    within = (labels >= 0) & (labels <= MAX_LABEL)  # neither is NaN
    return bool(within.all() and not (labels % 1).any())


def _names(content: dict[str, Any]) -> str:
    return ", ".join(repr(name) for name in content if not name.startswith("__")) or "nothing"
