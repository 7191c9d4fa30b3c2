"""The stages of a segmentation one by one, with a file between each two.

Chained, they give the labels of `pfeseg.pipeline.segment` to the byte. Every
file carries the settings of all stages before it, and the sizes of the image.
"""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.appearance import describe, detailed_lab
from pfeseg.cluster import cluster_embedding
from pfeseg.errors import InvalidInputError
from pfeseg.files import read_stage, write_labels, write_stage
from pfeseg.graph import Graph, build_pixel_graph
from pfeseg.hierarchy import Hierarchy, build_hierarchy, unit_rows
from pfeseg.image import area_average, as_rgb, downsample, enlarge_labels
from pfeseg.initial import gmm_initial_embedding
from pfeseg.refine import to_full_size
from pfeseg.settings import Settings
from pfeseg.solver import Embedding, OnIteration, embed
from pfeseg.texture import local_contrast


def downsample_stage(image: NDArray[Any], output: Path, settings: Settings) -> NDArray[Any]:
    """Shrink an image and measure its texture; returns the small image."""
    full = as_rgb(image)
    factor = settings.shrinking(full.shape)
    small = downsample(full, factor)
    contrast = local_contrast(detailed_lab(full, small.shape)[..., 0])
    texture = area_average(contrast, (small.shape[0], small.shape[1]))
    used = _chosen(settings, "downsample", "max_size")
    sizes = {"size": np.array(small.shape[:2]), "full_size": np.array(full.shape[:2])}
    write_stage(output, "image", used, {"image": small, "texture": texture, **sizes})
    return small


def graph_stage(image_file: Path, output: Path, settings: Settings) -> Graph:
    """Build the pixel graph of a downsampled image."""
    header, arrays = read_stage(image_file, "image")
    by_classes = settings.features == "pmi"
    graph = build_pixel_graph(
        arrays["image"],
        settings.neighbours,
        settings.features,
        settings.sigma,
        _texture(arrays, settings) if by_classes else None,
        settings.seed,
    )
    names = ("neighbours", "features", *(("texture", "seed") if by_classes else ("sigma",)))
    used = header["settings"] | _chosen(settings, *names)
    content = {"n_nodes": np.array(graph.n_nodes), "edges": graph.edges, "weights": graph.weights}
    write_stage(output, "graph", used, content | _sizes(arrays))
    return graph


def init_stage(image_file: Path, output: Path, settings: Settings) -> NDArray[np.float32]:
    """Make the initial embedding of a downsampled image."""
    header, arrays = read_stage(image_file, "image")
    n_dims = _number(settings.n_dims, "-d")
    texture = _texture(arrays, settings)
    Y0 = gmm_initial_embedding(arrays["image"], n_dims, settings.assignment, settings.seed, texture)
    used = header["settings"] | _chosen(settings, "n_dims", "texture", "assignment", "seed")
    write_stage(output, "init", used, {"Y0": Y0} | _sizes(arrays))
    return Y0


def embed_stage(
    graph_file: Path,
    init_file: Path,
    output: Path,
    settings: Settings,
    on_iteration: OnIteration | None = None,
) -> Embedding:
    """Solve for the embedding of a graph from its start."""
    header, arrays = read_stage(graph_file, "graph")
    start_header, start = read_stage(init_file, "init")
    if (arrays["size"] != start["size"]).any():
        raise InvalidInputError(
            f"{graph_file} and {init_file} belong to images of different sizes, "
            f"{_times(arrays['size'])} and {_times(start['size'])}"
        )
    for name, value in header["settings"].items():
        if start_header["settings"].get(name, value) != value:
            raise InvalidInputError(
                f"{graph_file} was made with {name} {value}, {init_file} with "
                f"{start_header['settings'][name]}; make both with the same"
            )
    graph = Graph.from_edges(int(arrays["n_nodes"]), arrays["edges"], arrays["weights"])
    result = embed(graph, start["Y0"], settings.solver, on_iteration)
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
    embedding_file: Path, output: Path, settings: Settings, image: NDArray[Any] | None = None
) -> NDArray[np.int32]:
    """Cluster an embedding and write the label map at full size, refined by the image if given."""
    _, arrays = read_stage(embedding_file, "embedding")
    Y = arrays["Y"]
    k = Y.shape[1] if settings.n_segments in (None, "dims") else settings.n_segments
    flat = cluster_embedding(Y, _number(k, "-k"), settings.seed)
    small = flat.reshape(arrays["size"])
    if image is None:
        labels = enlarge_labels(small, _full_size(arrays))
    else:
        full = _checked(image, arrays, embedding_file)
        labels = to_full_size(small, full, settings.refine)
    write_labels(output, labels)
    return labels


def merge_stage(
    embedding_file: Path, image: NDArray[Any], output: Path, settings: Settings
) -> tuple[NDArray[np.int32], Hierarchy]:
    """Build the hierarchy of regions, cut it and write the label map; returns both."""
    _, arrays = read_stage(embedding_file, "embedding")
    full = _checked(image, arrays, embedding_file)
    size = tuple(int(side) for side in arrays["size"])
    detailed = detailed_lab(full, size)
    contrast = local_contrast(detailed[..., 0])
    appearance = describe(detailed, contrast, size, full.shape, settings.seed)
    Y = unit_rows(arrays["Y"], arrays["degrees"])
    tree = build_hierarchy(appearance, Y.reshape(*arrays["size"], -1))
    tree = tree.resized(to_full_size(tree.base, full, settings.refine))
    labels = tree.choose(settings.n_regions, settings.level)
    write_labels(output, labels)
    return labels, tree


def describe_stage(path: Path) -> dict[str, Any]:
    """Tell what a stage file holds."""
    header, arrays = read_stage(path)
    held = {
        name: str(array) if array.ndim == 0 else f"{_times(array.shape)} {array.dtype}"
        for name, array in arrays.items()
        if name not in ("size", "full_size")
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


def _texture(arrays: dict[str, NDArray[Any]], settings: Settings) -> NDArray[Any] | None:
    return settings.texture * arrays["texture"] if settings.texture else None


def _full_size(arrays: dict[str, NDArray[Any]]) -> tuple[int, int]:
    height, width = (int(side) for side in arrays["full_size"])
    return height, width


def _checked(
    image: NDArray[Any], arrays: dict[str, NDArray[Any]], embedding_file: Path
) -> NDArray[np.float64]:
    """Return the image as RGB, if it is of the size that the embedding belongs to."""
    full = as_rgb(image)
    if full.shape[:2] != _full_size(arrays):
        raise InvalidInputError(
            f"{embedding_file} belongs to an image of {_times(arrays['full_size'][::-1])} pixels, "
            f"but this one has {full.shape[1]} x {full.shape[0]}"
        )
    return full


def _number(value: int | str, option: str) -> int:
    if isinstance(value, str):
        raise InvalidInputError(
            f"{option} {value} needs all stages at once, as in 'segment' and 'sweep'; give a number"
        )
    return value


def _chosen(settings: Settings, *names: str) -> dict[str, Any]:
    values = settings.to_dict()
    return {name: values[name] for name in names}


def _sizes(arrays: dict[str, NDArray[Any]]) -> dict[str, NDArray[Any]]:
    return {"size": arrays["size"], "full_size": arrays["full_size"]}


def _times(sides: Any) -> str:
    return " x ".join(str(int(side)) for side in sides)
