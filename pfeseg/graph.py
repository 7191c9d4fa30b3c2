"""Weighted graphs, and the pixel graph of an image."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from pfeseg.cooccurrence import colour_information
from pfeseg.errors import InvalidInputError
from pfeseg.image import as_lab, as_rgb, with_texture

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FloatArray = NDArray[np.float64]
Features = Literal["rgb", "lab", "pmi"]
FEATURES: tuple[Features, ...] = ("rgb", "lab", "pmi")

WEIGHT_FLOOR = 1e-30
"""Smallest weight. Its square vanishes in single precision: such an edge ties nothing together."""

MAX_WEIGHT = 1e12
"""Largest weight; the method is made for weights in (0, 1]."""

MAX_SIGMA = 1e6
"""Beyond it every weight is 1 anyway."""

FULL_WEIGHT_QUANTILE = 0.9
"""Edges of more mutual information than this share of them have weight 1."""

DEGREE_FLOOR = 1e-6
"""Smallest degree, in units of the mean degree, so that D is invertible for isolated nodes too."""


@dataclass(frozen=True, eq=False)
class Graph:
    """Undirected weighted graph, each edge stored once.

    Make one with `from_edges` or `build_pixel_graph`, which validate.

    Attributes
    ----------
    n_nodes : int
    edges : (m, 2) int32 array
        Node indices with ``edges[:, 0] < edges[:, 1]``.
    weights : (m,) float array
        At least `WEIGHT_FLOOR`.
    degrees : (n,) float array
        Sum of the weights at each node, at least `DEGREE_FLOOR` times their
        mean; 1 everywhere in a graph without edges.
    """

    n_nodes: int
    edges: NDArray[np.int32]
    weights: FloatArray
    degrees: FloatArray

    @classmethod
    def from_edges(cls, n_nodes: int, edges: ArrayLike, weights: ArrayLike) -> Graph:
        """Validate an edge list and make a graph of it.

        Parameters
        ----------
        n_nodes : int
            Number of nodes n; nodes without an edge are allowed.
        edges : (m, 2) integer array
            Pairs of different nodes, in either order, each pair once.
        weights : (m,) array
            From 0 to `MAX_WEIGHT`; zeros become `WEIGHT_FLOOR`.
        """
        pairs, values = np.asarray(edges), np.asarray(weights, dtype=np.float64)
        if pairs.size == 0:
            pairs = np.empty((0, 2), dtype=np.int32)
        _check_edges(n_nodes, pairs, values)
        ordered = np.sort(pairs, axis=1).astype(np.int32)
        _check_unique(n_nodes, ordered)
        return cls._of(n_nodes, ordered, values)

    @classmethod
    def _of(cls, n_nodes: int, edges: NDArray[np.int32], weights: FloatArray) -> Graph:
        weights = np.maximum(weights, WEIGHT_FLOOR)
        degrees = np.bincount(edges[:, 0], weights, n_nodes)
        degrees += np.bincount(edges[:, 1], weights, n_nodes)
        floor = DEGREE_FLOOR * degrees.mean() if len(edges) else 1.0
        return cls(n_nodes, edges, weights, np.maximum(degrees, floor))

    @property
    def n_edges(self) -> int:
        """Number of edges m."""
        return len(self.edges)

    @cached_property
    def M(self) -> csr_array:
        """(m, n) difference matrix: row e holds +w_e at i and -w_e at j."""
        from scipy.sparse import csr_array

        m = self.n_edges
        signed = np.stack([self.weights, -self.weights], axis=1)
        return csr_array(
            (signed.ravel(), self.edges.ravel(), np.arange(0, 2 * m + 1, 2)),
            shape=(m, self.n_nodes),
        )

    @cached_property
    def W(self) -> csr_array:
        """(n, n) symmetric weight matrix."""
        from scipy.sparse import coo_array

        i, j = self.edges.T
        rows, columns = np.concatenate([i, j]), np.concatenate([j, i])
        values = np.concatenate([self.weights, self.weights])
        return coo_array((values, (rows, columns)), shape=(self.n_nodes, self.n_nodes)).tocsr()


def build_pixel_graph(
    image: ArrayLike,
    neighbours: float = 4,
    features: Features = "rgb",
    sigma: str | float = "rms",
    texture: NDArray[np.floating[Any]] | None = None,
    seed: int = 0,
) -> Graph:
    """Join neighbouring pixels, by how alike their colours are or how often they meet.

    With colours x, ``w_ij = exp(-||x_i - x_j||^2 / (2 sigma^2))``. With pointwise mutual
    information, ``w_ij = exp(min(PMI(i, j) - q, 0))``, where q is exceeded by a tenth of the
    edges; see `pfeseg.cooccurrence`. Pixels are numbered row by row.

    Parameters
    ----------
    image : (h, w) or (h, w, 3) array
        uint8, uint16 or float in [0, 1].
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
    """
    check_graph_options(neighbours, features, sigma)
    x = as_rgb(image) if features == "rgb" else as_lab(image)
    height, width = x.shape[:2]
    if features == "pmi":
        classes, table = colour_information(with_texture(x, texture), seed)
    pixel = np.arange(height * width, dtype=np.int32).reshape(height, width)

    # One column per offset, sorted by the step in pixel number: reading the
    # table row by row gives the edges sorted by i, then by j.
    offsets = sorted(_offsets(neighbours, max(height, width)), key=lambda o: o[0] * width + o[1])
    joined = np.zeros((height, width, len(offsets)), dtype=bool)
    compared = np.zeros((height, width, len(offsets)))
    for k, (dy, dx) in enumerate(offsets):
        here = (slice(0, max(height - dy, 0)), slice(max(-dx, 0), max(width - max(dx, 0), 0)))
        there = (slice(dy, None), slice(max(dx, 0), max(width + min(dx, 0), 0)))
        joined[(*here, k)] = True
        if features == "pmi":
            compared[(*here, k)] = table[classes[here], classes[there]]
        else:
            compared[(*here, k)] = ((x[here] - x[there]) ** 2).sum(axis=2)

    step = np.array([dy * width + dx for dy, dx in offsets], dtype=np.int32)
    first = np.broadcast_to(pixel[..., None], joined.shape)[joined]
    second = (pixel[..., None] + step)[joined]
    edges = np.stack([first, second], axis=1)
    values = compared[joined]
    weights = _information_kernel(values) if features == "pmi" else _heat_kernel(values, sigma)
    return Graph._of(pixel.size, edges, weights)


def _information_kernel(information: FloatArray) -> FloatArray:
    enough = np.quantile(information, FULL_WEIGHT_QUANTILE) if information.size else 0.0
    return np.asarray(np.exp(np.minimum(information - enough, 0.0)))


def _heat_kernel(distance2: FloatArray, sigma: str | float) -> FloatArray:
    if isinstance(sigma, str):
        variance = float(distance2.mean()) if distance2.size else 0.0
        variance *= parse_rms(sigma) ** 2
    else:
        variance = float(sigma) ** 2
    if variance == 0.0:  # one flat colour: every neighbour is alike
        return np.ones_like(distance2)
    return np.asarray(np.exp(-distance2 / (2.0 * variance)))


def parse_rms(sigma: str) -> float:
    """Read a sigma such as "rms" or "0.8rms" as a multiple of the root mean square."""
    number = sigma.removesuffix("rms")
    try:
        multiple = float(number) if number else 1.0
    except ValueError:
        multiple = np.nan
    if sigma == number or not 0 < multiple < MAX_SIGMA:
        raise InvalidInputError(
            f'sigma must be "rms", a multiple such as "0.8rms" or a number, got {sigma!r}'
        )
    return multiple


def check_graph_options(neighbours: float, features: str, sigma: str | float) -> None:
    """Refuse what `build_pixel_graph` cannot take."""
    if not (_is_number(neighbours) and neighbours >= 1):
        raise InvalidInputError(
            f"neighbours must be 4, 8 or a radius of at least 1 pixel, got {neighbours!r}"
        )
    if features not in FEATURES:
        known = ", ".join(f'"{name}"' for name in FEATURES)
        raise InvalidInputError(f"features must be one of {known}, got {features!r}")
    if isinstance(sigma, str):
        parse_rms(sigma)
    elif not (_is_number(sigma) and 0 < float(sigma) < MAX_SIGMA):
        raise InvalidInputError(
            f'sigma must be "rms", a multiple such as "0.8rms" or a positive number below '
            f"{MAX_SIGMA:g}, got {sigma!r}"
        )


def _is_number(value: object) -> bool:
    return isinstance(value, int | float | np.number) and bool(np.isfinite(value))


def _offsets(neighbours: float, longest_side: int) -> list[tuple[int, int]]:
    """List the steps (dy, dx) to the later half of a pixel's neighbours."""
    named = {4: 1.0, 8: 2.0}  # squared radii
    is_named = isinstance(neighbours, int | np.integer) and neighbours in named
    radius2 = named[int(neighbours)] if is_named else float(neighbours) ** 2
    steps = min(int(radius2**0.5), longest_side)
    reach = range(-steps, steps + 1)
    return [
        (dy, dx)
        for dy in reach
        for dx in reach
        if (dy, dx) > (0, 0) and dy * dy + dx * dx <= radius2
    ]


def _check_edges(n_nodes: int, edges: NDArray[np.generic], weights: FloatArray) -> None:
    if n_nodes < 1:
        raise InvalidInputError(f"a graph needs at least one node, got n_nodes={n_nodes}")
    if edges.ndim != 2 or edges.shape[1] != 2 or not np.issubdtype(edges.dtype, np.integer):
        raise InvalidInputError(
            f"edges must be an (m, 2) integer array, got shape {edges.shape} of {edges.dtype}"
        )
    if weights.shape != (len(edges),):
        raise InvalidInputError(
            f"weights must have shape ({len(edges)},), one per edge, got {weights.shape}"
        )
    if not ((weights >= 0) & (weights <= MAX_WEIGHT)).all():
        raise InvalidInputError(
            f"weights must be numbers from 0 to {MAX_WEIGHT:g}, got {weights.min():g} to "
            f"{weights.max():g}; scale them into (0, 1]"
        )
    if edges.size and (edges.min() < 0 or edges.max() >= n_nodes):
        raise InvalidInputError(
            f"edges must name nodes 0 to {n_nodes - 1}, found {edges.min()} to {edges.max()}"
        )
    loops = np.flatnonzero(edges[:, 0] == edges[:, 1])
    if loops.size:
        raise InvalidInputError(
            f"self-loops are not allowed: edge {loops[0]} joins node {edges[loops[0], 0]} to itself"
        )


def _check_unique(n_nodes: int, edges: NDArray[np.int32]) -> None:
    keys = edges[:, 0].astype(np.int64) * n_nodes + edges[:, 1]
    order = np.argsort(keys, kind="stable")
    repeated = np.flatnonzero(np.diff(keys[order]) == 0)
    if repeated.size:
        i, j = edges[order[repeated[0]]]
        raise InvalidInputError(
            f"duplicate edge: nodes {i} and {j} are joined more than once; "
            "add their weights and pass each pair once"
        )
