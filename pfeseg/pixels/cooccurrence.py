"""How well pixels go together, by how often their colours meet in the image.

Two colours that lie side by side all over a texture belong together however different they
are, while the colours of two surfaces meet along a line only. Pointwise mutual information
says so (Isola, Zoran, Krishnan, Adelson: Crisp boundary detection using pointwise mutual
information, ECCV 2014); here it is that of classes of colour.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.kmeans import quantise
from pfeseg.image.masks import Mask, spread
from pfeseg.image.neighbours import neighbours_at, steps_within

FloatArray = NDArray[np.float64]

N_CLASSES = 48
"""Classes into which colours are sorted before their meetings are counted."""

REACH = 4.2
"""Distance, in pixels, within which two colours meet."""

JOINT_EXPONENT = 1.25
"""Exponent of the joint probability, which favours what is frequent; the value of Isola et al."""

KERNEL_WIDTH = 0.7
"""Width of the Gaussian by which classes share their counts, in units of the typical distance
from a class to the next."""

RARE = 1e-8
"""Probability added to that of each pair of classes."""


def colour_information(
    colours: NDArray[np.floating[Any]], seed: int, mask: Mask | None = None
) -> tuple[NDArray[np.int32], FloatArray]:
    """Sort the colours of an image into classes, and tell how well these go together.

    Parameters
    ----------
    colours : (h, w, c) array
        CIELAB, with texture or without.
    seed : int
    mask : (h, w) array of bool, optional
        Colours outside of it are not looked at.

    Returns
    -------
    (h, w) int32 array
        Class of each pixel; 0 outside of the mask.
    (K, K) array
        `mutual_information` of the classes.
    """
    counted = colours if mask is None else colours[mask][None]
    classes, centres = quantise(counted, N_CLASSES, np.random.default_rng(seed))
    # An image of few colours leaves classes empty, which must not share in the counts.
    used, inverse = np.unique(classes, return_inverse=True)
    classes = inverse.reshape(classes.shape).astype(np.int32)
    if mask is not None:
        classes = spread(classes[0], mask)
    return classes, mutual_information(classes, centres[used], mask)


def mutual_information(
    classes: NDArray[np.int32], centres: NDArray[np.floating[Any]], mask: Mask | None = None
) -> FloatArray:
    """Return the pointwise mutual information of each pair of classes, (K, K).

    ``log(P(a, b)^rho / (P(a) P(b)))``, P being the frequency of pairs within `REACH` and rho
    the `JOINT_EXPONENT`.

    Parameters
    ----------
    classes : (h, w) array
    centres : (K, c) array
    mask : (h, w) array of bool, optional
        Pixels outside of it meet none.
    """
    joint = _shared(_meetings(classes, len(centres), mask), centres)
    joint = joint / max(joint.sum(), 1.0) + RARE
    joint /= joint.sum()
    single = joint.sum(axis=1)
    return np.asarray(JOINT_EXPONENT * np.log(joint) - np.log(np.outer(single, single)))


def _meetings(classes: NDArray[np.int32], n: int, mask: Mask | None = None) -> FloatArray:
    """Count the pairs of pixels within `REACH` by their classes, (K, K), symmetric."""
    counts = np.zeros(n * n)
    for dy, dx in steps_within(REACH**2, max(classes.shape)):
        here, there = neighbours_at(classes, dy, dx)
        pairs = here * n + there
        if mask is not None:
            pairs = pairs[np.logical_and(*neighbours_at(mask, dy, dx))]
        counts += np.bincount(pairs.ravel(), minlength=n * n)
    table = counts.reshape(n, n)
    return table + table.T


def _shared(counts: FloatArray, centres: NDArray[np.floating[Any]]) -> FloatArray:
    """Let each class share its counts with similar ones, so that few pixels tell enough.

    Where there are fewer than `N_CLASSES`, each is one colour that need not share.
    """
    if len(centres) < N_CLASSES:
        return counts
    distance2 = ((centres[:, None] - centres[None]) ** 2).sum(axis=2)
    to_next = distance2 + np.where(np.eye(len(centres), dtype=bool), np.inf, 0.0)
    typical2 = np.median(to_next.min(axis=1))
    kernel = np.exp(-distance2 / (2 * KERNEL_WIDTH**2 * typical2))
    kernel /= kernel.sum(axis=0)
    # Not by matrix products, whose bytes may depend on the number of threads.
    return np.asarray(np.einsum("ij,kj->ik", np.einsum("ij,jk->ik", kernel, counts), kernel))
