"""Damaged files, given to everything that reads: ``readers.py [SECONDS [SEED [NAME...]]]``."""

from __future__ import annotations

import gzip
import io
import json
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache, partial
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import tifffile
from PIL import Image
from running import Try, allowed, mutate, run_all
from scipy.io import savemat
from scipy.sparse import random_array, save_npz

from pfeseg import InvalidInputError, PfesegError, Settings
from pfeseg.benchmark.rows import Row, read_rows, rows_text
from pfeseg.cli.settings import _read_config
from pfeseg.files.edge_lists import read_graph
from pfeseg.files.inputs import expand_inputs, read_name_list
from pfeseg.files.labels import read_labels
from pfeseg.files.matlab import read_contours, read_ground_truths, read_segmentations
from pfeseg.files.raster import read_raster
from pfeseg.files.report import read_report
from pfeseg.files.tables import read_table
from pfeseg.files.volumes import read_volume
from pfeseg.run.stages import (
    cluster_stage,
    describe_stage,
    downsample_stage,
    embed_stage,
    graph_stage,
    init_stage,
    read_embedding,
)

PIXELS = np.random.default_rng(0).integers(0, 256, (12, 17, 3), dtype=np.uint8)
LABELS = (np.indices((12, 17))[0] // 4).astype(np.uint16)


def _saved(write: Callable[[io.BytesIO], object]) -> bytes:
    stream = io.BytesIO()
    write(stream)
    return stream.getvalue()


@cache
def pictures() -> list[bytes]:
    """Make an image in each format and of many kinds of pixels."""
    rgb = Image.fromarray(PIXELS)
    made = [
        _saved(lambda s, f=f: rgb.save(s, f))
        for f in ("PNG", "JPEG", "GIF", "BMP", "PPM", "TGA", "TIFF", "WEBP", "JPEG2000", "AVIF")
    ]
    made += [
        _saved(lambda s, m=m: rgb.convert(m).save(s, "PNG")) for m in ("1", "L", "LA", "P", "RGBA")
    ]
    made.append(_saved(lambda s: Image.fromarray(LABELS).save(s, "PNG")))
    made.append(_saved(lambda s: rgb.save(s, "GIF", save_all=True, append_images=[rgb, rgb])))
    for kind in ("u1", "u2", "i4", "f4", "f8"):
        for compression in (None, "zlib"):
            for photometric in ("rgb", "minisblack"):
                deep = PIXELS.astype(kind) if photometric == "rgb" else LABELS.astype(kind)
                made.append(_saved(partial(tifffile.imwrite, data=deep, photometric=photometric,
                                           compression=compression)))  # fmt: skip
    many = PIXELS.repeat(2, 2)
    made.append(_saved(partial(tifffile.imwrite, data=many, photometric="minisblack")))
    made.append(_saved(partial(tifffile.imwrite, data=many.transpose(2, 0, 1), imagej=True)))
    made += [_saved(lambda s, a=a: np.save(s, a)) for a in (PIXELS, LABELS, PIXELS / 255)]
    return made


@cache
def matrices() -> list[bytes]:
    """Make ground truths, segmentations and contour maps, compressed or not."""
    cells = np.empty((1, 2), dtype=object)
    cells[0, :] = [{"Segmentation": LABELS + 1, "Boundaries": LABELS.astype(np.uint8)}] * 2
    segs = np.empty((1, 2), dtype=object)
    segs[0, :] = [LABELS, LABELS.astype(np.uint32)]
    contents = (
        {"groundTruth": cells},
        {"segs": segs},
        {"ucm2": np.random.default_rng(0).random((25, 35))},
    )
    return [
        _saved(lambda s, c=c, z=z: savemat(s, c, do_compression=z))
        for c in contents
        for z in (False, True)
    ]


@cache
def stages() -> dict[str, bytes]:
    """Make a file of each stage."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        settings = Settings(n_dims=3).changed(soc_iterations=0, relaxed_iterations=1)
        names = {kind: place / f"{kind}.npz" for kind in ("image", "graph", "init", "embedding")}
        (place / "a.npy").write_bytes(_saved(lambda s: np.save(s, PIXELS)))
        downsample_stage(read_raster(place / "a.npy"), names["image"], settings)
        graph_stage(names["image"], names["graph"], settings)
        init_stage(names["image"], names["init"], settings)
        embed_stage(names["graph"], names["init"], names["embedding"], settings)
        return {kind: path.read_bytes() for kind, path in names.items()}


def _damaged(rng: np.random.Generator, seeds: list[bytes], path: Path) -> Path:
    path.write_bytes(mutate(rng, seeds[rng.integers(len(seeds))]))
    return path


def _named(rng: np.random.Generator, seeds: list[bytes], path: Path, ending: str) -> Path:
    """Write a damaged file under a name that ends as its reader wants it."""
    named = path.with_suffix(ending)
    _damaged(rng, seeds, named)
    return named


def try_image(rng: np.random.Generator, path: Path) -> None:
    """Read an image with its masks."""
    _damaged(rng, pictures(), path)
    mask = "alpha" if rng.random() < 0.2 else None
    with allowed(InvalidInputError):
        read_raster(path, page=int(rng.integers(3)), mask=mask, nodata=(0.0,))


def try_labels(rng: np.random.Generator, path: Path) -> None:
    """Read a label map."""
    named = _named(rng, pictures(), path, str(rng.choice([".png", ".tif", ".npy"])))
    with allowed(InvalidInputError):
        read_labels(named)
    named.unlink()


def try_matlab(rng: np.random.Generator, path: Path) -> None:
    """Read ground truths, segmentations and contours."""
    named = _named(rng, matrices(), path, ".mat")
    for read in (read_ground_truths, read_segmentations, read_contours):
        with allowed(InvalidInputError):
            list(read(named))
    named.unlink()


def try_stage(rng: np.random.Generator, path: Path) -> None:
    """Read a stage file, of which an array may be damaged and the rest whole, and go on with it."""
    kind = str(rng.choice(list(stages())))
    whole = dict(np.load(io.BytesIO(stages()[kind])))
    name = str(rng.choice(list(whole)))
    if rng.random() < 0.3:
        content = mutate(rng, stages()[kind])
    else:
        content = _saved(lambda s: np.savez(s, **whole | {name: _odd_array(rng, whole[name])}))
    path.write_bytes(content)
    others = {k: path.with_name(f"{path.name}-{k}") for k in ("graph", "init")}
    for other, place in others.items():
        place.write_bytes(stages()[other])
    out = path.with_suffix(".npz")
    settings = Settings().changed(soc_iterations=0, relaxed_iterations=1)
    with allowed(InvalidInputError):
        describe_stage(path)
    with allowed(PfesegError):
        if kind == "image":
            graph_stage(path, out, settings)
            init_stage(path, out, settings)
        elif kind == "graph":
            embed_stage(path, others["init"], out, settings)
        elif kind == "init":
            embed_stage(others["graph"], path, out, settings)
        else:
            pixels = settings.changed(cluster="pixels")
            cluster_stage(read_embedding(path), out.with_suffix(".npy"), pixels)
    for place in (*others.values(), out, out.with_suffix(".npy")):
        place.unlink(missing_ok=True)


def _odd_array(rng: np.random.Generator, array: np.ndarray) -> np.ndarray:
    flat = np.array(array)
    match rng.integers(0, 5):
        case 0 if flat.size and flat.dtype.kind in "fiu":
            with np.errstate(all="ignore"):
                flat.flat[rng.integers(flat.size)] = rng.choice([0, -1, 1e9, 2, 7])
        case 1 if flat.size and flat.dtype.kind == "f":
            flat.flat[rng.integers(flat.size)] = rng.choice([np.nan, np.inf, -np.inf, 1e300, -0.0])
        case 2 if flat.ndim:
            return flat[: rng.integers(len(flat) + 1)]
        case 3:
            return np.array(json.dumps([1, {"a": "b"}]))
        case 4 if flat.dtype.kind in "fiu":
            return flat.astype(rng.choice(["u1", "i8", "f4", "f8", "c16"]))
    return flat


def try_settings(rng: np.random.Generator, path: Path) -> None:
    """Read settings and reports in JSON."""
    text = json.dumps({"pfeseg_version": "1", "settings": Settings().to_dict()})
    _damaged(rng, [text.encode(), Settings().to_json().encode()], path)
    for read in (partial(_read_config, is_cut=False), read_report):
        with allowed(InvalidInputError):
            read(path)


def try_rows(rng: np.random.Generator, path: Path) -> None:
    """Read a table in CSV."""
    row = Row(image="a", method="pfe", cleaned=0, d=3, regions=2, covered=1.0, pixels=2.0, pri=0.5,
              vi=0.2)  # fmt: skip
    _damaged(rng, [rows_text([row] * 3).encode()], path)
    with allowed(InvalidInputError):
        read_rows(path)


def try_names(rng: np.random.Generator, path: Path) -> None:
    """Read a list of names, and look for the files; patterns may mean any number, so none."""
    seeds = [b"a.png\nb c.png\n\xff.png\r\n\n", b"a\0b\0-\0", b"\xef\xbb\xbfa\n"]
    names = read_name_list(_damaged(rng, seeds, path).read_bytes())
    expand_inputs([f"nowhere/{name}" for name in names if not set(name) & set("*?[/.")])


@cache
def tables() -> dict[str, list[bytes]]:
    """Make a table in each format, and a graph as a sparse matrix and as a text."""
    numbers = np.random.default_rng(0).normal(size=(9, 3))
    weights = random_array((9, 9), density=0.4, rng=np.random.default_rng(0))
    text = b"id,x,y\nann,1,2\nbob,3,4\n"
    seeds = {
        ".csv": [text, text.replace(b",", b"\t"), gzip.compress(text)],
        ".txt": [b"ann bob 3\nbob cid 2\n", b"1,2\n2,3\n"],
        ".npy": [_saved(lambda s, a=a: np.save(s, a)) for a in (numbers, numbers.astype("f4"))],
        ".npz": [
            _saved(lambda s: np.savez_compressed(s, X=numbers)),
            _saved(partial(np.savez, X=9)),
        ],
    }
    seeds[".npz"] += [
        _saved(lambda s, kind=kind, z=z: save_npz(s, weights.asformat(kind), compressed=z))
        for kind in ("csr", "csc", "coo", "bsr", "dia")
        for z in (False, True)
    ]
    with suppress(ImportError):  # the extra parquet
        from pyarrow import parquet, table

        columns = {"id": [f"row {k}" for k in range(9)], "x": numbers[:, 0], "k": range(9)}
        seeds[".parquet"] = [
            _saved(lambda s, z=z: parquet.write_table(table(columns), s, compression=z))
            for z in ("NONE", "snappy", "zstd")
        ]
    return seeds


def try_table(rng: np.random.Generator, path: Path) -> None:
    """Read a table, and a graph."""
    ending = str(rng.choice(list(tables())))
    named = _named(rng, tables()[ending], path, ending)
    for read in (read_table, read_graph):
        if ending != ".parquet" or read is read_table:  # which is no graph
            with allowed(InvalidInputError):
                read(named)
    named.unlink()


def try_volume(rng: np.random.Generator, path: Path) -> None:
    """Read a volume."""
    _damaged(rng, volumes(), path)
    with allowed(InvalidInputError):
        read_volume(path, name=str(path))


@cache
def volumes() -> list[bytes]:
    """Make stacks of pages, of microscopes and of NumPy's."""
    stack = np.random.default_rng(0).integers(0, 256, (4, 9, 8), dtype=np.uint8)
    told = {"axes": "ZYX", "spacing": 2.0}
    return [
        _saved(partial(tifffile.imwrite, data=stack, imagej=True, metadata=told)),
        _saved(partial(tifffile.imwrite, data=stack, compression="zlib", photometric="minisblack")),
        _saved(partial(tifffile.imwrite, data=stack, ome=True, metadata={"axes": "ZYX"})),
        _saved(lambda s: np.save(s, stack)),
    ]


TARGETS: dict[str, Try] = {
    "image": try_image, "labels": try_labels, "matlab": try_matlab, "stage": try_stage,
    "settings": try_settings, "rows": try_rows, "names": try_names,
    "table": try_table, "volume": try_volume,
}  # fmt: skip

if __name__ == "__main__":
    sys.exit(run_all(__file__, TARGETS, sys.argv[1:]))
