"""A picture of clusters: points in the plane, principal components or eigenvectors of a graph."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.pictures.colours import palette
from pfeseg.solver.graph import Graph
from pfeseg.solver.spectral import laplacian_eigenmaps

FloatArray = NDArray[np.floating[Any]]

SIDE = 900
"""Pixels of the square in which the points lie."""

MARGIN = 60
FONT = 18

FINER = 2
"""Points are drawn so many times as large and shrunk, for smooth edges."""

INK_PIXELS = 0.15
"""Share of the square that all points together would cover if none overlapped."""


def draw_points(
    places: FloatArray, labels: NDArray[np.integer[Any]], axes: Sequence[str]
) -> NDArray[np.uint8]:
    """Draw points in the plane, one colour a cluster.

    Parameters
    ----------
    places : (n, 2) array
    labels : (n,) array
        Clusters 0, 1, ...
    axes : two texts
        What the horizontal and the vertical place are.

    Returns
    -------
    (height, width, 3) uint8 array
    """
    from PIL import Image, ImageDraw, ImageFont

    spots, radius = _lay_out(places)
    colours = np.rint(palette(int(labels.max()) + 1) * 255).astype(int)
    side = (SIDE + 2 * MARGIN) * FINER
    sheet = Image.new("RGB", (side, side), "white")
    pen = ImageDraw.Draw(sheet)
    order = np.random.default_rng(0).permutation(len(spots))  # so that none hides behind others
    for (x, y), label in zip(spots[order].tolist(), labels[order].tolist(), strict=True):
        box = (x - radius, y - radius, x + radius, y + radius)
        pen.ellipse(box, fill=tuple(colours[label].tolist()))
    picture = sheet.reduce(FINER)
    pen = ImageDraw.Draw(picture)
    font = ImageFont.load_default(FONT)
    low, high = MARGIN // 2, side // FINER - MARGIN // 2
    pen.rectangle((low, low, high, high), outline=(170, 170, 170))
    middle = side // (2 * FINER)
    pen.text((middle, high + 4), axes[0], fill="black", font=font, anchor="ma")
    upright = Image.new("RGB", (SIDE, MARGIN // 2 - 4), "white")
    ImageDraw.Draw(upright).text((SIDE // 2, 2), axes[1], fill="black", font=font, anchor="ma")
    picture.paste(upright.rotate(90, expand=True), (2, MARGIN))
    return np.asarray(picture)


def _lay_out(places: FloatArray) -> tuple[NDArray[np.float64], float]:
    """Return where the points lie on the sheet, both axes at one scale, and their radius."""
    low, high = places.min(axis=0), places.max(axis=0)
    span = float((high - low).max()) or 1.0
    unit = (places - (low + high) / 2) / span
    unit[:, 1] *= -1  # upwards
    radius = np.clip(SIDE * np.sqrt(INK_PIXELS / (np.pi * len(places))), 1.0, 7.0)
    return (unit * SIDE + SIDE / 2 + MARGIN) * FINER, float(radius) * FINER


def principal_plane(values: Any) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return places in the plane for rows of numbers, (n, 2), and what its axes are.

    Of more than two columns, sparse or not, the first two principal components.
    """
    n, columns = values.shape
    if columns <= 2:
        dense = np.asarray(values.todense() if hasattr(values, "todense") else values, dtype=float)
        places = np.zeros((n, 2))
        places[:, :columns] = dense
        return places, ("", "")
    gram, mean = _moments(values)
    variances, axes = np.linalg.eigh(gram)
    leading = axes[:, ::-1][:, :2]
    leading = leading * np.where(leading[np.abs(leading).argmax(axis=0), [0, 1]] < 0, -1, 1)
    places = np.asarray(values @ leading) - mean @ leading
    shares = variances[::-1][:2] / max(float(variances.sum()), np.finfo(float).tiny)
    titles = [f"principal component {k + 1} ({share:.0%})" for k, share in enumerate(shares)]
    return places, (titles[0], titles[1])


def spectral_plane(weights: Any) -> tuple[NDArray[np.float64], tuple[str, str]]:
    """Return places in the plane for the nodes of a graph, (n, 2), and what its axes are.

    `weights` is a sparse matrix, (n, n). The places are the first eigenvectors of the graph that
    are not constant: nodes that are joined lie near each other.
    """
    from scipy.sparse import triu

    upper = triu(weights, k=1).tocoo()
    pairs = np.stack([upper.row, upper.col], axis=1).astype(np.int32)
    graph = Graph.unchecked(weights.shape[0], pairs, upper.data / max(upper.data.max(), 1e-300))
    vectors = laplacian_eigenmaps(graph, 3).vectors[:, 1:3]
    places = np.zeros((graph.n_nodes, 2))
    spread = np.abs(vectors).max(axis=0, initial=0)
    places[:, : vectors.shape[1]] = vectors / np.where(spread > 0, spread, 1)
    return places, ("second eigenvector of the graph", "third eigenvector")


def _moments(values: Any) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the covariance of the columns and their means."""
    n = values.shape[0]
    mean = np.asarray(values.mean(axis=0), dtype=float).ravel()
    product = values.T @ values
    product = np.asarray(product.todense() if hasattr(product, "todense") else product, dtype=float)
    return product / n - np.outer(mean, mean), mean
