"""What several test files share."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from click.testing import CliRunner, Result
from scipy.io import savemat

from pfeseg import Graph
from pfeseg.cli import main
from pfeseg.labels.boundaries import boundaries_of

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "sample_images"


def run(*args: object) -> Result:
    """Run a command in this process."""
    return CliRunner().invoke(main, [str(arg) for arg in args])


def names(folder: Path) -> list[str]:
    """List what lies in a folder."""
    return sorted(path.name for path in folder.iterdir())


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
