"""How much memory a segmentation needs, told beforehand from sizes and settings alone.

It is linear in the pixels of the image, in those of the hierarchy, and in those that are embedded
times the dimension. The constants were fitted to peaks of whole runs of the command, see
benchmarks/memory.py, which prints estimates beside them.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from pfeseg.errors import InvalidInputError, argument
from pfeseg.image.arrays import Raster
from pfeseg.image.detail import DETAIL, working_side
from pfeseg.image.resize import small_size
from pfeseg.pixels.options import squared_radius
from pfeseg.segmentation.cuts import Clusters
from pfeseg.segmentation.methods import METHODS
from pfeseg.segmentation.pairs import AUTO_DIMS, Pair
from pfeseg.segmentation.settings import Settings

PROGRAM = 65e6
"""Bytes of the program and its libraries."""

PER_IMAGE_PIXEL = 20
"""Bytes for each pixel of an image of 8 bits and three bands: itself, labels, markers, pictures."""

USUAL_BYTES, PER_FURTHER_BYTE = 3, 1.75
"""Bytes of a pixel of such an image, and bytes for each further one of deeper or wider images."""

PER_COMPONENTS_PIXEL = 6
"""Bytes for each pixel of an image whose bands are reduced to components."""

PER_MASKED_PIXEL, PER_MASKED_BYTE, MOST_MASKED_BYTES = 9, 3, 6
"""Bytes that a mask adds for each pixel of the image, and for each byte of such a pixel, of which
no more than the last number count."""

PER_CONTOUR_PIXEL = 16
"""Bytes for each pixel of the image where contours are drawn at full size."""

PER_CLEANED_PIXEL = 4
"""Bytes for each pixel of the image where labels are cleaned: the regions that they split into."""

PER_DETAIL_PIXEL = 90
"""Bytes for each pixel of the hierarchy: colours, contrasts, basins."""

PER_NODE, PER_EDGE = 120, 70
"""Bytes for each pixel that is embedded and each of its edges: image, graph and start."""

FACTOR = 20
"""Entries of the factor for each edge."""

COPIES = 7
"""Numbers kept for each pixel that is embedded and each dimension, beside one for each edge."""

KEPT = 4
"""How many of these stay from one of many segmentations to the next: what the other system of the
solver keeps, and the embedding itself."""

PER_FURTHER_DIMENSION = 40
"""Bytes for each pixel that is embedded and each further dimension that is tried: arrays of other
sizes than before leave gaps."""

PER_TRIAL = 4
"""Bytes for each pixel of the hierarchy and each way to cut that is tried: its labels."""


def estimate_memory(
    shape: tuple[int, ...],
    settings: Settings,
    hierarchy: bool = False,
    *,
    tried: Sequence[Pair] = (),
    image: Raster | None = None,
    writing: float = 0,
) -> float:
    """Return about how many bytes the segmentation of an image takes at most.

    Parameters
    ----------
    shape : (H, W, ...)
        Of the image.
    settings : Settings
        If they name the preconditioner "cholesky", the graph must not have too many edges for it.
    hierarchy : bool
        Whether the hierarchy is asked for.
    tried : sequence of (d, cut)
        What a sweep tries, for which both systems of the solver are kept, and all labels. The
        settings have the largest d.
    image : Raster, optional
        The image itself, of three bands of 8 bits and without a mask unless given.
    writing : float
        Bytes for each pixel of the image that its results take while they are written.
    """
    height, width = small_size(shape, settings.shrinking(shape))
    open_ = settings.n_dims == "auto"
    n_dims = max(AUTO_DIMS) if open_ else settings.dims_for((height, width))
    n_dims = min(n_dims, height * width)  # more are refused for another reason
    number = 8 if settings.solver.precision == "double" else 4
    edges, columns = _edges_per_node(settings.neighbours), 8 * math.ceil(n_dims / 8)
    node = PER_NODE + PER_EDGE * edges + number * (FACTOR * edges + columns * (COPIES + edges))
    if tried or settings.is_open:
        node += number * (FACTOR * edges + columns * (KEPT + edges))
        many = len({d for d, _ in tried}) or (len(AUTO_DIMS) if open_ else 1)
        node += PER_FURTHER_DIMENSION * (many - 1)
    per_pixel = PER_IMAGE_PIXEL + max(PER_CONTOUR_PIXEL if hierarchy else 0, writing)
    per_pixel += _beyond_the_usual(image) if image is not None else 0
    per_pixel += PER_CLEANED_PIXEL if settings.min_region else 0
    total = PROGRAM + per_pixel * shape[0] * shape[1]
    if METHODS[settings.method].has_graph:
        total += node * height * width
    clusters_pixels = isinstance(settings.resolved_cut, Clusters) and not settings.clusters_regions
    if hierarchy or not clusters_pixels or settings.texture:
        side = working_side(DETAIL, (height, width), shape)
        detail = side * side * min(shape[:2]) / max(shape[:2])
        total += (PER_DETAIL_PIXEL + PER_TRIAL * len(tried)) * detail
    return total


def refuse_too_large(
    shape: tuple[int, ...],
    settings: Settings,
    limit: float | None,
    hierarchy: bool = False,
    *,
    tried: Sequence[Pair] = (),
    image: Raster | None = None,
    writing: float = 0,
) -> None:
    """Refuse an image whose segmentation would take more than a limit in bytes."""
    needed = estimate_memory(shape, settings, hierarchy, tried=tried, image=image, writing=writing)
    if limit is None or needed <= limit:
        return
    height, width = small_size(shape, settings.shrinking(shape))
    at_full_size = PROGRAM + PER_IMAGE_PIXEL * shape[0] * shape[1]
    remedy = f"raise {argument('memory_limit')}"
    if at_full_size < limit:
        name = "max_size" if settings.max_size else "downsample"
        remedy = f"{'lower' if settings.max_size else 'raise'} {argument(name)} or " + remedy
    raise InvalidInputError(
        f"{shape[1]} x {shape[0]} pixels, solved at {width} x {height}, need about "
        f"{in_words(needed)} of memory, but {in_words(limit)} are allowed; {remedy}"
    )


def _beyond_the_usual(image: Raster) -> float:
    """Return how many bytes a pixel takes beyond one of three bands of 8 bits."""
    stored = image.n_bands * image.measured.dtype.itemsize
    bytes_ = PER_FURTHER_BYTE * max(stored - USUAL_BYTES, 0)
    bytes_ += PER_COMPONENTS_PIXEL if image.kind == "components" else 0
    if image.mask is not None:
        bytes_ += PER_MASKED_PIXEL + PER_MASKED_BYTE * min(stored, MOST_MASKED_BYTES)
    return bytes_


def in_words(size: float) -> str:
    """Write a number of bytes as people do."""
    return f"{size / 1e9:.1f} GB" if size >= 1e9 else f"{size / 1e6:.0f} MB"


def _edges_per_node(neighbours: float) -> float:
    """Return about how many edges of a pixel graph there are for each pixel."""
    radius2 = squared_radius(neighbours)
    few = {1.0: 2.0, 2.0: 4.0}  # of four and of eight neighbours, an edge for each two
    return few.get(radius2, math.pi / 2 * radius2)
