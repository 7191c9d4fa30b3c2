"""Boundaries at full size: labels of a small image, moved to the edges of the large one."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.image import enlarge_labels
from pfeseg.regions import split_regions

Labels = NDArray[np.int32]

GRADIENT_BLUR = 1.0
"""Width, in pixels, of the Gaussian derivatives whose norm is the relief of the watershed."""


def refine_labels(labels: Labels, lab: NDArray[np.floating[Any]]) -> Labels:
    """Enlarge a label map, and draw its boundaries anew along the edges of the image.

    What lies farther from a boundary than one pixel of the small map keeps its label. The
    band between is flooded from both sides, in the order of the gradient of the colours. What
    was connected stays so.

    Parameters
    ----------
    labels : (h, w) int32 array
    lab : (H, W, 3) array
        Colours of the image at full size.
    """
    from scipy.ndimage import gaussian_gradient_magnitude
    from skimage.segmentation import watershed

    height, width = lab.shape[:2]
    large = enlarge_labels(labels, (height, width))
    reach = round(max(height / labels.shape[0], width / labels.shape[1]))
    if reach <= 1:
        return large
    pieces = split_regions(large)
    label_of_piece = np.zeros(int(pieces.max()) + 1, dtype=np.int32)
    label_of_piece[pieces.ravel()] = large.ravel()
    relief = sum(
        gaussian_gradient_magnitude(channel, GRADIENT_BLUR) for channel in np.moveaxis(lab, 2, 0)
    )
    flooded = watershed(relief, _markers(pieces, reach))  # type: ignore[no-untyped-call]
    return np.asarray(label_of_piece[flooded - 1])


def _markers(pieces: Labels, reach: int) -> Labels:
    """Mark the inside of each connected piece by its number + 1.

    That is one connected spot, from which a flood stays connected: the largest of what lies
    away from all boundaries, or the whole piece where nothing does.
    """
    inside = np.where(_near_boundary(pieces, reach), 0, pieces + 1)
    spots = split_regions(inside)
    piece_of_spot = np.zeros(int(spots.max()) + 1, dtype=np.int32)
    piece_of_spot[spots.ravel()] = inside.ravel()
    order = np.argsort(np.bincount(spots.ravel()), kind="stable")
    largest = np.full(int(pieces.max()) + 2, -1)
    largest[piece_of_spot[order]] = order  # of several values, the last stays
    markers: Labels = np.where(largest[inside] == spots, inside, 0)
    hidden = np.flatnonzero(largest[1:] < 0)
    return np.where(np.isin(pieces, hidden), pieces + 1, markers)


def _near_boundary(labels: Labels, reach: int) -> NDArray[np.bool_]:
    """Mark the pixels within `reach` steps, straight or diagonal, of another label."""
    from scipy.ndimage import maximum_filter, minimum_filter

    size = 2 * reach + 1
    return np.asarray(maximum_filter(labels, size) != minimum_filter(labels, size))
