"""The stages of a segmentation one by one: each reads files, makes one step and writes a file.

Chained, they give the labels of `pfeseg.segment` to the byte. Every file carries the settings of
all stages before it, and the sizes of the image.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.clustering.embedding import cluster_embedding
from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.labels import write_labels
from pfeseg.files.opening import check_size
from pfeseg.files.stages import read_stage, write_stage
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
    header, arrays = read_stage(image_file, "image")
    graph = steps.build_graph(_small_image(arrays, settings), settings)
    by_classes = settings.features == "pmi"
    names = ("neighbours", "features", *(("texture", "seed") if by_classes else ("sigma",)))
    used = header["settings"] | _chosen(settings, *names)
    content = {"n_nodes": np.array(graph.n_nodes), "edges": graph.edges, "weights": graph.weights}
    write_stage(output, "graph", used, content | _sizes(arrays))
    return graph


def init_stage(image_file: Path, output: Path, settings: Settings) -> NDArray[np.float32]:
    """Make the initial embedding of a downsampled image."""
    header, arrays = read_stage(image_file, "image")
    small = _small_image(arrays, settings)
    Y0 = steps.make_start(small, settings.dims_for(small.shape, small.n_pixels), settings)
    used = header["settings"] | _chosen(settings, "texture", "assignment", "seed")
    used |= {"n_dims": Y0.shape[1]}
    write_stage(output, "init", used, {"Y0": Y0} | _sizes(arrays))
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
    header, arrays = read_stage(graph_file, "graph")
    start_header, start = read_stage(init_file, "init")
    if (arrays["size"] != start["size"]).any():
        raise InvalidInputError(
            f"{graph_file} and {init_file} belong to images of different sizes, "
            f"{_times(arrays['size'])} and {_times(start['size'])}"
        )
    if arrays["digest"] != start["digest"]:
        raise InvalidInputError(
            f"{graph_file} and {init_file} belong to different images; make both from one file of "
            "'pfeseg downsample'"
        )
    for name, value in header["settings"].items():
        if start_header["settings"].get(name, value) != value:
            raise InvalidInputError(
                f"{graph_file} was made with {argument(name, value)}, {init_file} with "
                f"{argument(name, start_header['settings'][name])}; make both with the same"
            )
    positions = pixel_positions(_pair(arrays["size"]), arrays.get("mask"))
    try:
        nodes, edges = int(arrays["n_nodes"]), arrays["edges"]
        graph = Graph.from_edges(nodes, edges, arrays["weights"], positions)
    except InvalidInputError as error:
        raise InvalidInputError(f"{graph_file}: damaged, as {error.marked}") from error
    result = embed(graph, start["Y0"], settings.solver, on_iteration, threads=threads)
    used = header["settings"] | start_header["settings"] | {"solver": asdict(settings.solver)}
    content = {
        "Y": result.Y,
        "degrees": graph.degrees,
        "channel_energies": result.channel_energies,
        "stop_reason": np.array(result.stop_reason),
        "objective": np.array([record.objective for record in result.history]),
        "seconds": np.array([record.seconds for record in result.history]),
    }
    write_stage(output, "embedding", used, content | _sizes(arrays))
    return result


def cluster_stage(
    embedding_file: Path,
    output: Path,
    settings: Settings,
    image: Raster | None = None,
    allow_huge: bool = False,
) -> NDArray[np.int32]:
    """Cluster regions or pixels and write the label map at full size.

    Without the image there are no regions, and the boundaries of pixels are not refined; the file
    alone then tells the full size, which is to be no huge one unless that is allowed.
    """
    _, arrays = read_stage(embedding_file, "embedding")
    Y = arrays["Y"]
    cut = settings.cut if isinstance(settings.cut, Clusters) else Clusters("dims")
    k = cut.count(Y.shape[1])
    if image is None:
        height, width = _pair(arrays["full_size"])
        check_size((width, height), str(embedding_file), allow_huge)
    else:
        image = _checked(image, arrays, embedding_file)
    if settings.cluster == "pixels":
        clusters = cluster_embedding(Y, k, settings.seed)
        if "mask" in arrays:
            small = spread(clusters + np.int32(1), arrays["mask"])
        else:
            small = clusters.reshape(arrays["size"])
        if image is None:
            labels = enlarge_labels(small, _pair(arrays["full_size"]))
        else:
            labels = steps.enlarge_clusters(small, image, settings.refine)
    elif image is None:
        raise InvalidInputError(
            "clusters of regions need the photograph; give it after the embedding, or "
            f"{argument('cluster', 'pixels')}"
        )
    else:
        labels = steps.cluster_regions(
            image,
            Y,
            arrays["degrees"],
            _pair(arrays["size"]),
            k,
            seed=settings.seed,
            refine=settings.refine,
        )
    write_labels(output, labels, image=image)
    return labels


def merge_stage(
    embedding_file: Path, image: Raster, output: Path, settings: Settings
) -> tuple[NDArray[np.int32], Hierarchy]:
    """Build the hierarchy of regions, cut it and write the label map; returns both."""
    _, arrays = read_stage(embedding_file, "embedding")
    tree = steps.build_hierarchy(
        _checked(image, arrays, embedding_file),
        arrays["Y"],
        arrays["degrees"],
        _pair(arrays["size"]),
        seed=settings.seed,
        refine=settings.refine,
    )
    cut = settings.resolved_cut
    labels = steps.cut_finally(tree, Level(DEFAULT_LEVEL) if isinstance(cut, Clusters) else cut)
    write_labels(output, labels, image=image)
    return labels, tree


def is_masked(embedding_file: Path) -> bool:
    """Tell whether an embedding is one of an image with a mask."""
    return "mask" in read_stage(embedding_file, "embedding")[1]


def with_stored(settings: Settings, embedding_file: Path, names: Sequence[str]) -> Settings:
    """Take some settings of the stages before, such as the seed, as in one run of all stages."""
    stored = read_stage(embedding_file, "embedding")[0]["settings"]
    return settings.changed(**{name: stored[name] for name in names if name in stored})


def describe_stage(path: Path) -> dict[str, Any]:
    """Tell what a stage file holds."""
    header, arrays = read_stage(path)
    held = {
        name: str(array) if array.ndim == 0 else f"{_times(array.shape)} {array.dtype}"
        for name, array in arrays.items()
        if name not in ("size", "full_size", "digest", "photograph")
    }
    return {
        "kind": header["kind"],
        "format_version": header["format_version"],
        "pfeseg_version": header["pfeseg_version"],
        "image_size": _times(arrays["full_size"][::-1]),
        "solved_size": _times(arrays["size"][::-1]),
        **held,
        "settings": header["settings"],
    }


def _small_image(arrays: Arrays, settings: Settings) -> SmallImage:
    texture = steps.weighted_texture(lambda: arrays["texture"], settings)
    pixels = arrays["image"]
    if arrays.get("pixels", "colours") == "components":
        raster = Raster(pixels, pixels.min(), pixels.max(), "none", kind="components")
    else:
        raster = as_raster(pixels)
    return SmallImage.of(replace(raster, mask=arrays.get("mask")), texture)


def _checked(image: Raster, arrays: Arrays, embedding_file: Path) -> Raster:
    """Return the image if it is the one that the embedding belongs to."""
    if image.shape != _pair(arrays["full_size"]):
        raise InvalidInputError(
            f"{embedding_file} belongs to an image of {_times(arrays['full_size'][::-1])} pixels, "
            f"but this one has {image.shape[1]} x {image.shape[0]}"
        )
    if (image.mask is not None) != ("mask" in arrays):
        made = "with" if "mask" in arrays else "without"
        raise InvalidInputError(
            f"{embedding_file} was made {made} a mask; give the same {argument('mask')} and "
            f"{argument('nodata')} to all stages"
        )
    if arrays.get("photograph", photograph := _digest({"values": image.values})) != photograph:
        raise InvalidInputError(
            f"{embedding_file} belongs to another image of this size, or to another "
            f"{argument('page')} or {argument('bands')} of this one; give what 'pfeseg downsample' "
            "was given"
        )
    return image


def _pair(sides: NDArray[Any]) -> tuple[int, int]:
    height, width = (int(side) for side in sides)
    return height, width


def _chosen(settings: Settings, *names: str) -> dict[str, Any]:
    values = settings.to_dict()
    return {name: values[name] for name in names}


def _sizes(arrays: Arrays) -> Arrays:
    """Return what every stage hands on of the image."""
    names = ("size", "full_size", "digest", "photograph")
    sizes = {name: arrays[name] for name in names if name in arrays}
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
