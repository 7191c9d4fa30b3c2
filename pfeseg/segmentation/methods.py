"""The methods: how each makes coordinates of pixels, and how it makes labels of these.

The table `METHODS` is all there is to a method. It can be read without importing NumPy.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pfeseg.segmentation.prepared import PreparedImage
    from pfeseg.solver.embedding import Embedding, OnIteration

    Rows = NDArray[np.floating[Any]]
    Labels = NDArray[np.int32]

METHOD_VERSION = 2
"""Goes up whenever the same image and settings give other labels than before.

2: a level of the hierarchy is the share of people who draw what is left; the default is the same
cut. ``n_dims="auto"`` looks at the labels that are asked for."""

LEVELS_SINCE = 2
"""The first version in which a level means what it means now."""

MethodName = Literal["pfe", "le", "sc", "wsc", "ncut", "gmm", "kmeans"]


@dataclass(frozen=True, eq=False)
class Coordinates:
    """What a method knows of each pixel, by which pixels are clustered or regions merged.

    Attributes
    ----------
    rows : (n, c) array
        One row for each pixel of the small image.
    Y0 : (n, d) array or None
        The start, if there was one.
    embedding : Embedding or None
        Of the method "pfe".
    """

    rows: Rows
    Y0: NDArray[np.float32] | None = None
    embedding: Embedding | None = None


@dataclass(frozen=True)
class Method:
    """One way to cut an image.

    Attributes
    ----------
    title : str
        For tables and help pages.
    stages : tuple of str
        Stages that lead to its coordinates, by the names they have in timings.
    place : callable
        ``place(image, d, k, on_iteration)`` makes the `Coordinates`.
    label : callable
        ``label(rows, k, seed)`` makes labels of the rows, (n,).
    has_dims : bool
        Whether it knows a dimension d beside the number of clusters k.
    follows_k : bool
        Whether its coordinates depend on k.
    has_hierarchy : bool
        Whether regions can be merged by its coordinates.
    """

    title: str
    stages: tuple[str, ...]
    place: Callable[[PreparedImage, int, int, OnIteration | None], Coordinates]
    label: Callable[[Rows, int, int], Labels]
    has_dims: bool = True
    follows_k: bool = False
    has_hierarchy: bool = False

    @property
    def has_graph(self) -> bool:
        """Whether it looks at the pixel graph."""
        return "graph" in self.stages


def _by_solver(
    image: PreparedImage, d: int, k: int, on_iteration: OnIteration | None
) -> Coordinates:
    solver = image.solver
    Y0 = image.start(d)
    embedding = image.embed(solver, Y0, on_iteration)
    return Coordinates(embedding.Y, Y0, embedding)


def _by_mixture(image: PreparedImage, d: int, k: int, _: OnIteration | None) -> Coordinates:
    Y0 = image.start(k)
    return Coordinates(Y0, Y0)


def _by_colour(image: PreparedImage, d: int, k: int, _: OnIteration | None) -> Coordinates:
    return Coordinates(image.small.rows(image.small.features))


def _eigenmaps(image: PreparedImage, d: int, k: int, _: OnIteration | None) -> Coordinates:
    return Coordinates(image.eigenmaps(d).vectors[:, :d])


def _normalised_cuts(image: PreparedImage, d: int, k: int, _: OnIteration | None) -> Coordinates:
    return Coordinates(image.eigenmaps(k).vectors[:, :k])


def _spectral(image: PreparedImage, d: int, k: int, _: OnIteration | None) -> Coordinates:
    from pfeseg.solver.spectral import spectral_coordinates

    return Coordinates(spectral_coordinates(image.eigenmaps(d + 1), d))


def _weighted(image: PreparedImage, d: int, k: int, _: OnIteration | None) -> Coordinates:
    from pfeseg.solver.spectral import weighted_coordinates

    return Coordinates(weighted_coordinates(image.eigenmaps(d + 1), d))


def _by_kmeans(rows: Rows, k: int, seed: int) -> Labels:
    from pfeseg.clustering.embedding import cluster_embedding

    return cluster_embedding(rows, k, seed)


def _by_likeliest(rows: Rows, k: int, seed: int) -> Labels:
    from pfeseg.labels.maps import consecutive

    return consecutive(rows.argmax(axis=1))


def _by_rotation(rows: Rows, k: int, seed: int) -> Labels:
    import numpy as np

    from pfeseg.labels.maps import consecutive
    from pfeseg.solver.spectral import discretise

    return consecutive(discretise(np.asarray(rows, dtype=np.float64), np.random.default_rng(seed)))


_SPECTRAL_STAGES = ("downsample", "graph", "embed")

METHODS: dict[MethodName, Method] = {
    "pfe": Method(
        "PFE",
        ("downsample", "graph", "init", "embed"),
        _by_solver,
        _by_kmeans,
        has_hierarchy=True,
    ),
    "le": Method("Laplacian eigenmaps", _SPECTRAL_STAGES, _eigenmaps, _by_kmeans),
    "sc": Method("spectral clustering (SC)", _SPECTRAL_STAGES, _spectral, _by_kmeans),
    "wsc": Method("weighted SC", _SPECTRAL_STAGES, _weighted, _by_kmeans),
    "ncut": Method(
        "normalised cuts (NCut)",
        _SPECTRAL_STAGES,
        _normalised_cuts,
        _by_rotation,
        has_dims=False,
        follows_k=True,
    ),
    "gmm": Method(
        "GMM of the colours",
        ("downsample", "init"),
        _by_mixture,
        _by_likeliest,
        has_dims=False,
        follows_k=True,
    ),
    "kmeans": Method(
        "k-means of the colours", ("downsample",), _by_colour, _by_kmeans, has_dims=False
    ),
}
