"""The stages of a segmentation one by one: each reads files, makes one step and writes a file.

Chained, they give the labels of `pfeseg.segment` to the byte. Every file carries the settings of
all stages before it, and the sizes of the image.
"""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.embedding import cluster_embedding
from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.labels import write_labels
from pfeseg.files.opening import check_size
from pfeseg.files.stages import Stage, read_stage, write_stage
from pfeseg.image.arrays import Raster, as_raster
from pfeseg.image.detail import look_closely, measure_contrast
from pfeseg.image.masks import spread
from pfeseg.image.resize import enlarge_labels
from pfeseg.pixels.graph import pixel_positions
from pfeseg.pixels.small import SmallImage
from pfeseg.regions.hierarchy import Hierarchy
from pfeseg.segmentation import steps
from pfeseg.segmentation.cuts import DEFAULT_LEVEL, Clusters, Level
from pfeseg.segmentation.settings import Settings
from pfeseg.solver.embed import embed
from pfeseg.solver.embedding import Embedding, OnIteration
from pfeseg.solver.graph import Graph

Arrays = dict[str, NDArray[Any]]


def downsample_stage(image: Raster, output: Path, settings: Settings) -> Raster:
    """Shrink an image and measure its local contrast; returns the small image."""
    small = steps.shrink_image(image, settings)
    contrast = measure_contrast(look_closely(image, small.shape), small.shape)
    used = _chosen(settings, "stretch", "bands", "downsample", "max_size")
    pixels = small.rgb() if small.kind == "colours" else small.values
    content = {"image": pixels, "pixels": np.array(small.kind), "texture": contrast}
    content |= {"size": np.array(small.shape), "full_size": np.array(image.shape)}
    content |= _mask_array(small.mask)
    content["photograph"] = _digest({"values": image.values})
    write_stage(output, "image", used, content | {"digest": _digest(content)})
    return small


def graph_stage(image_file: Path, output: Path, settings: Settings) -> Graph:
    """Build the pixel graph of a downsampled image."""
    image = read_stage(image_file, "image")
    graph = steps.build_graph(_small_image(image.arrays, settings), settings)
    by_classes = settings.features == "pmi"
    names = ("neighbours", "features", *(("texture", "seed") if by_classes else ("sigma",)))
    used = image.settings | _chosen(settings, *names)
    content = {"n_nodes": np.array(graph.n_nodes), "edges": graph.edges, "weights": graph.weights}
    write_stage(output, "graph", used, content | _sizes(image.arrays))
    return graph


def init_stage(image_file: Path, output: Path, settings: Settings) -> NDArray[np.float32]:
    """Make the initial embedding of a downsampled image."""
    image = read_stage(image_file, "image")
    small = _small_image(image.arrays, settings)
    Y0 = steps.make_start(small, settings.dims_for(small.shape, small.n_pixels), settings)
    used = image.settings | _chosen(settings, "texture", "assignment", "seed")
    used |= {"n_dims": Y0.shape[1]}
    write_stage(output, "init", used, {"Y0": Y0} | _sizes(image.arrays))
    return Y0


def embed_stage(
    graph_file: Path,
    init_file: Path,
    output: Path,
    settings: Settings,
    on_iteration: OnIteration | None = None,
    threads: int | None = None,
) -> Embedding:
    """Solve for the embedding of a graph from its start."""
    edges, start = read_stage(graph_file, "graph"), read_stage(init_file, "init")
    _refuse_other_start(edges, start)
    graph, Y0 = _graph_of(edges), start.arrays["Y0"]
    result = embed(graph, Y0, settings.solver, on_iteration, threads=threads)
    used = edges.settings | start.settings | {"solver": asdict(settings.solver)}
    content = {
        "Y": result.Y,
        "degrees": graph.degrees,
        "channel_energies": result.channel_energies,
        "stop_reason": np.array(result.stop_reason),
        "objective": np.array([record.objective for record in result.history]),
        "seconds": np.array([record.seconds for record in result.history]),
    }
    write_stage(output, "embedding", used, content | _sizes(edges.arrays))
    return result


def _refuse_other_start(graph: Stage, start: Stage) -> None:
    """Refuse a graph and a start that were made of different images, or with other settings."""
    both = f"{graph.path} and {start.path} belong to"
    sizes = graph.arrays["size"], start.arrays["size"]
    if (sizes[0] != sizes[1]).any():
        raise InvalidInputError(
            f"{both} images of different sizes, {_times(sizes[0])} and {_times(sizes[1])}"
        )
    if graph.arrays["digest"] != start.arrays["digest"]:
        raise InvalidInputError(
            f"{both} different images; make both from one file of 'pfeseg downsample'"
        )
    for name, value in graph.settings.items():
        other = start.settings.get(name, value)
        if other != value:
            raise InvalidInputError(
                f"{graph.path} was made with {argument(name, value)}, {start.path} with "
                f"{argument(name, other)}; make both with the same"
            )


def _graph_of(stage: Stage) -> Graph:
    arrays = stage.arrays
    positions = pixel_positions(_pair(arrays["size"]), arrays.get("mask"))
    try:
        nodes, edges = int(arrays["n_nodes"]), arrays["edges"]
        return Graph.from_edges(nodes, edges, arrays["weights"], positions)
    except InvalidInputError as error:
        raise InvalidInputError(f"{stage.path}: damaged, as {error.marked}") from error


@dataclass(frozen=True, eq=False)
class StoredEmbedding:
    """What 'embed' left on disk.

    Attributes
    ----------
    path : Path
    settings : dict
        Of all stages before, by their names.
    Y : (n, d) array
        The embedding.
    degrees : (n,) array
        Of the pixels in the graph.
    shape, full_shape : (height, width)
        Of the image that was solved, and of the photograph.
    photograph : str
        Digest that tells it from others.
    mask : (h, w) bool array or None
        Where the n pixels are in the small image; None if they are all of it.
    """

    path: Path
    settings: dict[str, Any]
    Y: NDArray[np.floating[Any]]
    degrees: NDArray[np.floating[Any]]
    shape: tuple[int, int]
    full_shape: tuple[int, int]
    photograph: str
    mask: NDArray[np.bool_] | None


def read_embedding(path: Path) -> StoredEmbedding:
    """Read what `embed_stage` wrote."""
    stage = read_stage(path, "embedding")
    arrays = stage.arrays
    return StoredEmbedding(
        path,
        stage.settings,
        arrays["Y"],
        arrays["degrees"],
        _pair(arrays["size"]),
        _pair(arrays["full_size"]),
        str(arrays["photograph"]),
        arrays.get("mask"),
    )


def cluster_stage(
    stored: StoredEmbedding,
    output: Path,
    settings: Settings,
    image: Raster | None = None,
    allow_huge: bool = False,
) -> NDArray[np.int32]:
    """Cluster regions or pixels and write the label map at full size.

    Without the image there are no regions, and the boundaries of pixels are not refined; the file
    alone then tells the full size, which is to be no huge one unless that is allowed.
    """
    if image is None:
        height, width = stored.full_shape
        check_size((width, height), str(stored.path), allow_huge)
    else:
        _refuse_other(image, stored)
    cut = settings.cut if isinstance(settings.cut, Clusters) else Clusters("dims")
    k = cut.count(stored.Y.shape[1])
    if settings.cluster == "pixels":
        labels = _cluster_pixels(stored, k, settings, image)
    elif image is None:
        raise InvalidInputError(
            "clusters of regions need the photograph; give it after the embedding, or "
            f"{argument('cluster', 'pixels')}"
        )
    else:
        labels = steps.cluster_regions(
            image,
            stored.Y,
            stored.degrees,
            stored.shape,
            k,
            seed=settings.seed,
            refine=settings.refine,
        )
    write_labels(output, labels, image=image)
    return labels


def _cluster_pixels(
    stored: StoredEmbedding, k: int, settings: Settings, image: Raster | None
) -> NDArray[np.int32]:
    clusters = cluster_embedding(stored.Y, k, settings.seed)
    if stored.mask is not None:
        small = spread(clusters + np.int32(1), stored.mask)
    else:
        small = clusters.reshape(stored.shape)
    if image is None:
        return enlarge_labels(small, stored.full_shape)
    return steps.enlarge_clusters(small, image, settings.refine)


def merge_stage(
    stored: StoredEmbedding, image: Raster, output: Path, settings: Settings
) -> tuple[NDArray[np.int32], Hierarchy]:
    """Build the hierarchy of regions, cut it and write the label map; returns both."""
    _refuse_other(image, stored)
    tree = steps.build_hierarchy(
        image,
        stored.Y,
        stored.degrees,
        stored.shape,
        seed=settings.seed,
        refine=settings.refine,
    )
    cut = settings.resolved_cut
    labels = steps.cut_finally(tree, Level(DEFAULT_LEVEL) if isinstance(cut, Clusters) else cut)
    write_labels(output, labels, image=image)
    return labels, tree


def describe_stage(path: Path) -> dict[str, Any]:
    """Tell what a stage file holds."""
    stage = read_stage(path)
    arrays = stage.arrays
    held = {
        name: str(array) if array.ndim == 0 else f"{_times(array.shape)} {array.dtype}"
        for name, array in arrays.items()
        if name not in ("size", "full_size", "digest", "photograph")
    }
    return {
        "kind": stage.kind,
        "format_version": stage.format_version,
        "pfeseg_version": stage.pfeseg_version,
        "image_size": _times(arrays["full_size"][::-1]),
        "solved_size": _times(arrays["size"][::-1]),
        **held,
        "settings": stage.settings,
    }


def _small_image(arrays: Arrays, settings: Settings) -> SmallImage:
    texture = steps.weighted_texture(lambda: arrays["texture"], settings)
    pixels = arrays["image"]
    if arrays.get("pixels", "colours") == "components":
        raster = Raster(pixels, pixels.min(), pixels.max(), "none", kind="components")
    else:
        raster = as_raster(pixels)
    return SmallImage.of(replace(raster, mask=arrays.get("mask")), texture)


def _refuse_other(image: Raster, stored: StoredEmbedding) -> None:
    """Refuse an image, or a mask, to which the embedding does not belong."""
    if image.shape != stored.full_shape:
        raise InvalidInputError(
            f"{stored.path} belongs to an image of {_times(stored.full_shape[::-1])} pixels, "
            f"but this one has {image.shape[1]} x {image.shape[0]}"
        )
    if (image.mask is not None) != (stored.mask is not None):
        made = "without" if stored.mask is None else "with"
        raise InvalidInputError(
            f"{stored.path} was made {made} a mask; give the same {argument('mask')} and "
            f"{argument('nodata')} to all stages"
        )
    if _digest({"values": image.values}) != stored.photograph:
        raise InvalidInputError(
            f"{stored.path} belongs to another image of this size, or to another "
            f"{argument('page')} or {argument('bands')} of this one; give what 'pfeseg downsample' "
            "was given"
        )


def _pair(sides: NDArray[Any]) -> tuple[int, int]:
    height, width = (int(side) for side in sides)
    return height, width


def _chosen(settings: Settings, *names: str) -> dict[str, Any]:
    values = settings.to_dict()
    return {name: values[name] for name in names}


def _sizes(arrays: Arrays) -> Arrays:
    """Return what every stage hands on of the image."""
    sizes = {name: arrays[name] for name in ("size", "full_size", "digest", "photograph")}
    return sizes | _mask_array(arrays.get("mask"))


def _digest(arrays: Arrays) -> NDArray[np.str_]:
    """Tell an image from others, so that the files of two never come together."""
    digest = hashlib.sha256()
    for name, array in arrays.items():
        digest.update(f"{name} {array.dtype} {array.shape}".encode())
        digest.update(array.tobytes())
    return np.array(digest.hexdigest())


def _mask_array(mask: NDArray[np.bool_] | None) -> Arrays:
    """Return the mask of the small image as stage files hold it, if it has one."""
    return {} if mask is None else {"mask": mask}


def _times(sides: Any) -> str:
    return " x ".join(str(int(side)) for side in sides)
