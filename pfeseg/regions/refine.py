"""Boundaries at full size: labels of a small image, moved to the edges of the large one."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg import kernels
from pfeseg.image.arrays import as_rgb
from pfeseg.image.resize import area_average, enlarge_labels
from pfeseg.image.smoothing import gradient_norm
from pfeseg.labels.maps import split_regions

Labels = NDArray[np.int32]

GRADIENT_BLUR = 1.0
"""Width, in pixels, of the Gaussian derivatives whose norm is the relief of the watershed."""


def refine_labels(labels: Labels, image: ArrayLike) -> Labels:
    """Enlarge a label map, and draw its boundaries anew along the edges of the image.

    The map is doubled in size until it has that of the image. Each time, pixels within two
    steps of a boundary are given anew: they are flooded from both sides, in the order
    of the gradient of the colours. What was connected stays so.

    Parameters
    ----------
    labels : (h, w) int32 array
    image : (H, W) or (H, W, 3) array
        uint8, uint16 or float in [0, 1].
    """
    return _refine(labels, as_rgb(image))


def to_full_size(labels: Labels, rgb: NDArray[np.float64], refine: bool) -> Labels:
    """Bring labels to the size of an image, (H, W, 3), refined or merely enlarged.

    Those of an image that was enlarged are shrunk; what was connected stays so.
    """
    shape = (rgb.shape[0], rgb.shape[1])
    if labels.shape[0] > shape[0] or labels.shape[1] > shape[1]:
        return _rejoin(enlarge_labels(labels, shape))
    return _refine(labels, rgb) if refine else enlarge_labels(labels, shape)


def _rejoin(labels: Labels) -> Labels:
    """Give the splinters of each label but its largest piece to what they touch."""
    pieces = split_regions(labels)
    largest = _largest(pieces, labels)
    markers = np.where(largest[labels] == pieces, labels + 1, 0).astype(np.int32)
    return kernels.watershed(np.zeros(labels.shape, dtype=np.float32), markers) - 1


def _largest(pieces: Labels, owner: Labels) -> NDArray[np.intp]:
    """Return the largest piece of each owner, -1 for those that have none."""
    owner_of_piece = np.zeros(int(pieces.max()) + 1, dtype=np.int32)
    owner_of_piece[pieces.ravel()] = owner.ravel()
    order = np.argsort(np.bincount(pieces.ravel()), kind="stable")
    largest = np.full(int(owner.max()) + 1, -1)
    largest[owner_of_piece[order]] = order  # of several values, the last stays
    return largest


def _refine(labels: Labels, image: NDArray[np.float64]) -> Labels:
    shape = (image.shape[0], image.shape[1])
    ratio = max(large / small for large, small in zip(shape, labels.shape, strict=True))
    doublings = max(1, round(np.log2(ratio)))
    for left in range(doublings - 1, 0, -1):
        height, width = (max(1, round(side / 2**left)) for side in shape)
        labels = _refine_once(labels, area_average(image, (height, width)))
    return _refine_once(labels, image)


def _refine_once(labels: Labels, image: NDArray[np.float64]) -> Labels:
    height, width = image.shape[:2]
    large = enlarge_labels(labels, (height, width))
    reach = round(max(height / labels.shape[0], width / labels.shape[1]))
    if reach <= 1:
        return large
    if large.min() == large.max():
        return large
    pieces = split_regions(large)
    label_of_piece = np.zeros(int(pieces.max()) + 1, dtype=np.int32)
    label_of_piece[pieces.ravel()] = large.ravel()
    return np.asarray(label_of_piece[redraw_boundaries(pieces, image, reach)])


def redraw_boundaries(pieces: Labels, image: NDArray[np.float64], reach: int) -> Labels:
    """Draw the boundaries of connected pieces 0, 1, ... anew along the edges of an image.

    Pixels within `reach` steps of a boundary are flooded from both sides, in the order of the
    gradient of the channels of the image, (h, w, c).
    """
    relief = gradient_norm(image, GRADIENT_BLUR)
    return kernels.watershed(relief, _markers(pieces, reach)) - 1


def _markers(pieces: Labels, reach: int) -> Labels:
    """Mark the inside of each connected piece by its number + 1.

    That is one connected spot, from which a flood stays connected: the largest of what lies
    away from all boundaries, or the whole piece where nothing does.
    """
    inside = np.where(_near_boundary(pieces, reach), 0, pieces + 1)
    spots = split_regions(inside)
    found = _largest(spots, inside)
    largest = np.full(int(pieces.max()) + 2, -1)
    largest[: len(found)] = found
    markers: Labels = np.where(largest[inside] == spots, inside, 0)
    hidden = np.flatnonzero(largest[1:] < 0)
    return np.where(np.isin(pieces, hidden), pieces + 1, markers)


def _near_boundary(labels: Labels, reach: int) -> NDArray[np.bool_]:
    """Mark the pixels within `reach` steps of another label; steps but one may be diagonal."""
    near = np.zeros(labels.shape, dtype=bool)
    beside, above = labels[:, 1:] != labels[:, :-1], labels[1:] != labels[:-1]
    near[:, 1:] |= beside
    near[:, :-1] |= beside
    near[1:] |= above
    near[:-1] |= above
    for _ in range(reach - 1):
        wider = near.copy()
        wider[:, 1:] |= near[:, :-1]
        wider[:, :-1] |= near[:, 1:]
        near = wider.copy()
        near[1:] |= wider[:-1]
        near[:-1] |= wider[1:]
    return near
