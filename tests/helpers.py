"""What several test files share."""

from __future__ import annotations

import struct
import time
import zlib
from collections.abc import Callable
from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result
from scipy.io import savemat

from pfeseg import Graph
from pfeseg.cli import main
from pfeseg.files.names import ResultPaths
from pfeseg.labels.boundaries import boundaries_of
from pfeseg.labels.maps import split_regions
from pfeseg.regions.chance import CHANCE
from pfeseg.regions.graph import RegionGraph

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_images"


def run(*args: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def names(folder: Path) -> list[str]:
    """List what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


def png_of_size(
    width: int, height: int, bits: int = 8, colour: int = 2, rows=b"", *chunks
) -> bytes:
    """Make a PNG that claims a size, and holds no pixels unless they are given."""

    def chunk(kind: bytes, data: bytes) -> bytes:
        check = zlib.crc32(kind + data)
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I", check)

    header = struct.pack(">IIBBBBB", width, height, bits, colour, 0, 0, 0)
    content = ((b"IHDR", header), *chunks, (b"IDAT", zlib.compress(rows)), (b"IEND", b""))
    return b"\x89PNG\r\n\x1a\n" + b"".join(chunk(*part) for part in content)


def relative_error(Y: np.ndarray, exact: np.ndarray) -> float:
    return float(np.abs(Y - exact).max() / np.abs(exact).max())


def same_partition(a: np.ndarray, b: np.ndarray) -> bool:
    """Tell whether two label maps differ by the names of their labels only."""
    pairs = set(zip(a.ravel().tolist(), b.ravel().tolist(), strict=True))
    return len(pairs) == len(np.unique(a)) == len(np.unique(b))


def random_graph(n: int, m: int, rng: np.random.Generator) -> Graph:
    pairs = np.stack(np.triu_indices(n, 1), axis=1)
    chosen = rng.choice(len(pairs), min(m, len(pairs)), replace=False)
    return Graph.from_edges(n, pairs[chosen], rng.uniform(0.01, 1, len(chosen)))


def save_truth(path: Path, *maps: np.ndarray) -> None:
    """Write ground truths as BSDS500 has them."""
    cells = np.empty((1, len(maps)), dtype=object)
    for k, labels in enumerate(maps):
        cells[0, k] = {
            "Segmentation": labels.astype(np.uint16) + 1,
            "Boundaries": boundaries_of(labels).astype(np.uint8),
        }
    savemat(path, {"groundTruth": cells})


def random_regions(rng, n=30) -> tuple[np.ndarray, RegionGraph]:
    """Make n Voronoi cells with random contents."""
    y, x = np.indices((40, 50))
    centres = rng.random((n, 2)) * [40, 50]
    base = ((y[..., None] - centres[:, 0]) ** 2 + (x[..., None] - centres[:, 1]) ** 2).argmin(2)
    base = split_regions(base.astype(np.int32))
    n = int(base.max()) + 1
    touching = {
        tuple(sorted(pair))
        for a, b in ((base[:, 1:], base[:, :-1]), (base[1:], base[:-1]))
        for pair in zip(a[a != b].tolist(), b[a != b].tolist(), strict=True)
    }
    pairs = np.array(sorted(touching), np.int32)
    columns = dict(zip(CHANCE.regions, (1, 2, 4, 3, 2, 1), strict=True))
    areas = np.bincount(base.ravel()).astype(float)
    sums = {name: rng.random((n, c)) * areas[:, None] for name, c in columns.items()}
    lengths = rng.integers(1, 20, len(pairs)).astype(float)
    along = {name: rng.random(len(pairs)) * lengths for name in CHANCE.contrasts}
    return base, RegionGraph(areas, sums, pairs, lengths, along)


def wait_until(holds: Callable[[], bool], seconds: float = 20) -> None:
    """Wait until something holds; fails if it never does."""
    end = time.monotonic() + seconds
    while not holds():
        assert time.monotonic() < end, "waited in vain"
        time.sleep(0.02)


def is_running(pid: int) -> bool:
    """Tell whether a process is at work: neither gone nor a zombie."""
    try:
        return "Z" not in Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0]
    except FileNotFoundError:
        return False


def children(pid: int) -> list[int]:
    """List the processes that a process started; none of one that is gone."""
    try:
        tasks = list(Path(f"/proc/{pid}/task").iterdir())
        found = [(task / "children").read_text().split() for task in tasks]
    except FileNotFoundError:
        return []
    return [int(child) for ids in found for child in ids]


def planned(kind: str, path: Path) -> ResultPaths:
    """Plan one result of a kind."""
    return ResultPaths(path.parent, path.stem, {kind: path.suffix})
