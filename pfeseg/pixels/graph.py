"""The pixel graph of an image."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.checks import check_seed
from pfeseg.image.arrays import ImageLike
from pfeseg.image.masks import Mask
from pfeseg.image.neighbours import neighbours_at, steps_within
from pfeseg.pixels.cooccurrence import colour_information
from pfeseg.pixels.options import Features, check_graph_options, parse_rms, squared_radius
from pfeseg.pixels.small import SmallImage
from pfeseg.solver.graph import Graph

FloatArray = NDArray[np.float64]

FULL_WEIGHT_QUANTILE = 0.9
"""Edges of more mutual information than this share of them have weight 1."""


def build_pixel_graph(
    image: ImageLike,
    neighbours: float = 4,
    features: Features = "rgb",
    sigma: str | float = "rms",
    texture: NDArray[np.floating[Any]] | None = None,
    seed: int = 0,
) -> Graph:
    """Join neighbouring pixels, by how alike their colours are or how often they meet.

    With colours x, ``w_ij = exp(-||x_i - x_j||^2 / (2 sigma^2))``. With pointwise mutual
    information, ``w_ij = exp(min(PMI(i, j) - q, 0))``, where q is exceeded by a tenth of the
    edges; see `pfeseg.pixels.cooccurrence`. Pixels are numbered row by row.

    Parameters
    ----------
    image : (h, w) or (h, w, c) array
        As for `as_raster`.
    neighbours : number
        4 or 8 (integers), or any other number as a radius in pixels: each
        pixel is joined to all those within that distance.
    features : {"rgb", "lab", "pmi"}
        Colour space of x, RGB in [0, 1] or CIELAB with L in [0, 100]; or
        mutual information of the classes of CIELAB colours.
    sigma : str or float
        Width of the kernel of colours. "rms" takes the root mean square of
        the differences ``||x_i - x_j||`` over all edges of this image, and
        "0.8rms" that many times as much.
    texture : (h, w, c) array, optional
        Such as the local contrast, in units of CIELAB: what "pmi" looks at
        beside the colours.
    seed : int
        For the classes of "pmi".

    Returns
    -------
    Graph
        With a node for each pixel; where the image has a mask, for each pixel inside.

    Raises
    ------
    InvalidInputError
        For what is no image, and for other values than these; the message says which.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.array([[0.0, 0.0, 1.0]])
    >>> pfeseg.build_pixel_graph(image, sigma=0.5).weights.round(4)
    array([1.    , 0.0025])
    """
    small = SmallImage.of(image, texture)
    return pixel_graph(small, neighbours, features, sigma, check_seed(seed))


def pixel_graph(
    image: SmallImage, neighbours: float, features: Features, sigma: str | float, seed: int
) -> Graph:
    """Do as `build_pixel_graph` with an image that was checked."""
    check_graph_options(neighbours, features, sigma)
    height, width = image.shape
    steps = steps_within(squared_radius(neighbours), max(height, width))
    # Sorted by the step in pixel number, so that edges come sorted by i, then by j.
    steps.sort(key=lambda step: step[0] * width + step[1])
    if features == "pmi":
        classes, table = colour_information(image.lab_and_texture, seed, image.mask)
        edges, information = _compare(classes, steps, lambda a, b: table[a, b], image.mask)
        weights = _information_kernel(information)
    else:
        x = image.features if features == "rgb" else image.lab
        edges, distance2 = _compare(x, steps, lambda a, b: ((a - b) ** 2).sum(axis=2), image.mask)
        weights = heat_kernel(distance2, sigma)
    positions = pixel_positions((height, width), image.mask)
    return Graph.unchecked(len(positions), edges, weights, positions)


def pixel_positions(shape: tuple[int, int], mask: Mask | None = None) -> NDArray[np.int32]:
    """Return row and column of the pixels of an image of shape (h, w), numbered row by row.

    Those outside of a mask are left out, and have no number.
    """
    height, width = shape
    positions = np.indices((height, width), dtype=np.int32)
    return (positions.reshape(2, -1) if mask is None else positions[:, mask]).T.copy()


def _compare(
    x: NDArray[Any],
    steps: Sequence[tuple[int, int]],
    compare: Callable[..., FloatArray],
    mask: Mask | None,
) -> tuple[NDArray[np.int32], FloatArray]:
    """Compare each pixel of x, (h, w, ...), with those that `steps` lead to, inside of a mask.

    Returns
    -------
    (m, 2) int32 array
        The pixels that were compared, numbered row by row.
    (m,) array
        ``compare(x_i, x_j)`` of each pair.
    """
    height, width = x.shape[:2]
    pixel = np.arange(height * width, dtype=np.int32).reshape(height, width)
    # A table with a column for each step, read row by row.
    joined = np.zeros((height, width, len(steps)), dtype=bool)
    compared = np.zeros((height, width, len(steps)))
    for k, (dy, dx) in enumerate(steps):
        both = True if mask is None else np.logical_and(*neighbours_at(mask, dy, dx))
        neighbours_at(joined[..., k], dy, dx)[0][...] = both
        neighbours_at(compared[..., k], dy, dx)[0][...] = compare(*neighbours_at(x, dy, dx))
    step = np.array([dy * width + dx for dy, dx in steps], dtype=np.int32)
    first = np.broadcast_to(pixel[..., None], joined.shape)[joined]
    second = (pixel[..., None] + step)[joined]
    edges = np.stack([first, second], axis=1)
    if mask is not None:
        number = np.cumsum(mask, dtype=np.int32) - 1
        edges = number[edges].astype(np.int32)
    return edges, compared[joined]


def _information_kernel(information: FloatArray) -> FloatArray:
    enough = np.quantile(information, FULL_WEIGHT_QUANTILE) if information.size else 0.0
    return np.asarray(np.exp(np.minimum(information - enough, 0.0)))


def heat_kernel(distance2: FloatArray, sigma: str | float) -> FloatArray:
    """Return ``exp(-distance2 / (2 sigma^2))``; "0.8rms" is 0.8 times the root of their mean."""
    if isinstance(sigma, str):
        variance = float(distance2.mean()) if distance2.size else 0.0
        variance *= parse_rms(sigma) ** 2
    else:
        variance = float(sigma) ** 2
    if variance == 0.0:  # one flat colour: every neighbour is alike
        return np.ones_like(distance2)
    return np.asarray(np.exp(-distance2 / (2.0 * variance)))
