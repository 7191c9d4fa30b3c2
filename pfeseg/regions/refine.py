"""Boundaries at full size: labels of a small image, moved to the edges of the large one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.checks import small_labels
from pfeseg.errors import InvalidInputError
from pfeseg.image.arrays import ImageLike, Raster, as_raster
from pfeseg.image.masks import Mask
from pfeseg.image.resize import enlarge_labels, shrink_to
from pfeseg.image.smoothing import gaussian
from pfeseg.labels.maps import count_pixels, labels_of, split_regions
from pfeseg.machine import available_threads

Labels = NDArray[np.int32]

GRADIENT_BLUR = 1.0
"""Width, in pixels, of the Gaussian derivatives whose norm is the relief of the watershed."""


def refine_labels(labels: ArrayLike, image: ImageLike) -> Labels:
    """Enlarge a label map, and draw its boundaries anew along the edges of the image.

    The map is doubled in size until it has that of the image. Each time, pixels within two
    steps of a boundary are assigned anew: they are flooded from both sides, in the order of the
    gradient of the colours. What was connected stays connected.

    Parameters
    ----------
    labels : (h, w) integer array
        None of them negative.
    image : (H, W) or (H, W, c) array
        As for `as_raster`, and of at least the size of the labels.

    Returns
    -------
    (H, W) int32 array
        The same labels.

    Raises
    ------
    InvalidInputError
        For what is no label map or no image, and for labels that are larger than the image.

    Examples
    --------
    The boundary moves to the edge of the image:

    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((12, 12))
    >>> image[:, 7:] = 1
    >>> pfeseg.refine_labels(np.array([[0, 1]]).repeat(2, axis=0), image)[0].tolist()
    [0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 1]
    """
    raster, small = as_raster(image), small_labels(labels)
    if small.shape[0] > raster.shape[0] or small.shape[1] > raster.shape[1]:
        raise InvalidInputError(
            f"labels of shape {small.shape} are larger than the image of shape {raster.shape}; "
            "give the image that they are to be brought to"
        )
    return _refine(small, raster, available_threads())


def to_full_size(labels: Labels, image: Raster, refine: bool, threads: int | None = None) -> Labels:
    """Bring labels to the size of an image, refined or merely enlarged.

    Those of an image that was enlarged are shrunk; what was connected stays so. `threads`, all
    processors unless given, never change the result.
    """
    if labels.shape[0] > image.shape[0] or labels.shape[1] > image.shape[1]:
        return _rejoin(enlarge_labels(labels, image.shape))
    if not refine:
        return enlarge_labels(labels, image.shape)
    return _refine(labels, image, threads or available_threads())


def keep_mask(full: Labels, labels: Labels, outside: int, mask: Mask) -> Labels:
    """Give labels of full size the mask of the image, exactly.

    Parameters
    ----------
    full, labels : int32 array
        Labels of full size, (H, W), and what they were made from, of a smaller size.
    outside : int
        The label of what does not belong to the image.
    mask : (H, W) array of bool
        Each pixel inside lies in a pixel of the smaller size that is inside.
    """
    strays = mask & (full == outside)
    kept = np.where(strays, enlarge_labels(labels, full.shape), full)
    return np.where(mask, kept, np.int32(outside))


def _rejoin(labels: Labels) -> Labels:
    """Give the splinters of each label but its largest piece to what they touch."""
    pieces = split_regions(labels)
    order = np.argsort(count_pixels(pieces), kind="stable")
    largest = np.full(int(labels.max()) + 1, -1)
    largest[labels_of(pieces, labels)[order]] = order  # of several values, the last stays
    markers = np.where(largest[labels] == pieces, labels, -1).astype(np.int32)
    return kernels.watershed(np.zeros(labels.shape, dtype=np.float32), markers)


def _refine(labels: Labels, image: Raster, threads: int) -> Labels:
    ratio = max(large / small for large, small in zip(image.shape, labels.shape, strict=True))
    doublings = max(1, round(np.log2(ratio)))
    for left in range(doublings - 1, 0, -1):
        height, width = (max(1, round(side / 2**left)) for side in image.shape)
        labels = _refine_once(labels, shrink_to(image, (height, width), threads), threads)
    return _refine_once(labels, image, threads)


def _refine_once(labels: Labels, image: Raster, threads: int) -> Labels:
    height, width = image.shape
    reach = round(max(height / labels.shape[0], width / labels.shape[1]))
    if reach <= 1 or labels.min() == labels.max():
        return enlarge_labels(labels, image.shape)
    # What is connected stays so when it is enlarged, so the small map is split.
    pieces = split_regions(labels)
    owners = labels_of(pieces, labels)
    redrawn = redraw_boundaries(
        enlarge_labels(pieces, image.shape), image.values, reach, threads, image.black, image.white
    )
    return redrawn if np.array_equal(owners, np.arange(len(owners))) else owners[redrawn]


def redraw_boundaries(
    pieces: Labels,
    image: NDArray[Any],
    reach: int,
    threads: int = 1,
    black: float = -np.inf,
    white: float = np.inf,
) -> Labels:
    """Draw the boundaries of connected pieces 0, 1, ... anew along the edges of an image.

    Pixels within `reach` steps of a boundary are flooded from both sides, in the order of the
    gradient of the channels of the image, (h, w, c), whatever the unit of these; values beyond
    black and white count as these. A flood comes from one connected spot, and so stays
    connected: the largest of what lies away from all boundaries, or the whole piece where
    nothing does.
    """
    blur, slope = (gaussian(GRADIENT_BLUR, order).astype(np.float32) for order in (0, 1))
    return kernels.redraw_boundaries(pieces, image, black, white, reach, blur, slope, threads)
