"""Files of segmentations against files of ground truth: their pairs, and their figures."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import numpy as np

from pfeseg.errors import InvalidInputError
from pfeseg.files.matlab import (
    read_contours,
    read_ground_truths,
    read_segmentations,
    read_true_boundaries,
)
from pfeseg.labels.boundaries import (
    BoundaryCounts,
    Marks,
    count_boundaries,
    summarise_boundaries,
)
from pfeseg.labels.metrics import Comparison, compare, summarise

REGION_METRICS = ("covering", "pri", "vi", "ari", "iou", "dice")
BOUNDARY_METRICS = ("precision", "recall", "f")

ENDINGS = (".mat", ".png", ".tif", ".tiff", ".npy")


@dataclass(frozen=True)
class Pair:
    """A segmentation and its ground truth, None where there is no file of its name.

    Both may be of any size if `allow_huge`.
    """

    name: str
    segmentation: Path
    truth: Path | None
    allow_huge: bool = False


@dataclass(frozen=True)
class ScoreRow:
    """The figures of one image, or of all by some rule; those that have no meaning are missing."""

    image: str
    figures: dict[str, float]


def find_pairs(segmentations: Path, truths: Path, allow_huge: bool = False) -> list[Pair]:
    """Pair a file with a file, or the files of a folder with those of a folder by their names."""
    for path in (segmentations, truths):
        if not path.exists():
            raise InvalidInputError(f"{path}: no such file or folder")
    if not segmentations.is_dir():
        return [Pair(_name(segmentations), segmentations, truths, allow_huge)]
    files = sorted(p for p in segmentations.iterdir() if p.suffix.lower() in ENDINGS)
    if not files:
        raise InvalidInputError(f"{segmentations}: this folder holds no label maps")
    named = [p for p in files if p.stem.endswith("_labels")]
    pairs = []
    for path in named or files:  # beside *_labels.png lie overlays, which are no label maps
        candidates = (truths / f"{_name(path)}{ending}" for ending in ENDINGS)
        truth = next((c for c in candidates if c.exists()), None)
        pairs.append(Pair(_name(path), path, truth, allow_huge))
    return pairs


def _name(path: Path) -> str:
    return path.stem.removesuffix("_labels").removesuffix("_ucm")


def compare_regions(pair: Pair) -> list[Comparison]:
    """Compare the regions of one image, one comparison per setting."""
    truths = read_ground_truths(_truth(pair), pair.allow_huge)
    segmentations = read_segmentations(pair.segmentation, pair.allow_huge)
    return [compare(labels, truths) for labels in segmentations]


def compare_contours(pair: Pair) -> list[BoundaryCounts]:
    """Compare the boundaries of one image, one count per setting."""
    maps = read_contours(pair.segmentation, pair.allow_huge)
    return count_contours(maps, read_true_boundaries(_truth(pair), pair.allow_huge))


def count_contours(maps: Sequence[Marks], truths: Sequence[Marks]) -> list[BoundaryCounts]:
    """Match each of some maps with the ground truths; a map that comes again counts again."""
    counts: list[BoundaryCounts] = []
    for k, marks in enumerate(maps):
        again = k > 0 and marks is maps[k - 1]
        counts.append(counts[-1] if again else count_boundaries(marks, truths))
    return counts


def _truth(pair: Pair) -> Path:
    if pair.truth is None:
        raise InvalidInputError(f"{pair.segmentation}: there is no ground truth {pair.name}.*")
    return pair.truth


def region_rows(compared: Mapping[str, Sequence[Comparison]]) -> list[ScoreRow]:
    """Make a row of each image, its best setting by each metric; then those of the data set."""
    rows = [
        ScoreRow(name, asdict(summarise([settings]).ois) | _means([settings], per_image=True))
        for name, settings in compared.items()
    ]
    if _is_data_set(compared):
        images = list(compared.values())
        total = summarise(images)
        rows += [
            ScoreRow("all (ODS)", asdict(total.ods) | _means(images, per_image=False)),
            ScoreRow("all (OIS)", asdict(total.ois) | _means(images, per_image=True)),
            ScoreRow("all (best)", {"covering": total.best_covering}),
        ]
    return rows


def boundary_rows(compared: Mapping[str, Sequence[BoundaryCounts]]) -> list[ScoreRow]:
    """Make a row of each image at its best threshold; then those of the data set."""
    rows = [
        ScoreRow(name, asdict(summarise_boundaries([counts]).ois))
        for name, counts in compared.items()
    ]
    if _is_data_set(compared):
        total = summarise_boundaries(list(compared.values()))
        rows += [
            ScoreRow("all (ODS)", asdict(total.ods)),
            ScoreRow("all (OIS)", asdict(total.ois)),
            ScoreRow("all (average precision)", {"precision": total.average_precision}),
        ]
    return rows


def _is_data_set(compared: Mapping[str, Sequence[object]]) -> bool:
    return len(compared) > 1 or any(len(settings) > 1 for settings in compared.values())


def _means(images: Sequence[Sequence[Comparison]], *, per_image: bool) -> dict[str, float]:
    """Means over the images of the metrics that the benchmark does not have, of the best setting.

    That is the best of each image, or the one that is best for all.
    """
    figures = {}
    for metric in ("ari", "iou", "dice"):
        table = np.array([[getattr(c, metric) for c in settings] for settings in images])
        best = table.max(axis=1).mean() if per_image else table.mean(axis=0).max()
        figures[metric] = float(best)
    return figures
