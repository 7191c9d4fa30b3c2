"""A data set laid out as BSDS500 is, segmented by several methods and scored; resumable.

One image is one task, which writes, for each method,

    OUT/segs/METHOD/NAME.mat        the segmentations of all d, as the benchmark's own format
    OUT/segs/METHOD-clean/NAME.mat  the same with connected regions, small ones absorbed
    OUT/rows/METHOD/NAME.csv        their scores and times; written last, so it marks what is done
"""

from __future__ import annotations

import csv
import io
import json
import time
from collections.abc import Generator, Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import __version__
from pfeseg.bsds_files import read_ground_truths, write_segmentations
from pfeseg.errors import InvalidInputError, PfesegError
from pfeseg.files import write_text
from pfeseg.metrics import compare
from pfeseg.parallel import run_unordered
from pfeseg.prepared import PreparedImage, Segmentation
from pfeseg.reading import read_image
from pfeseg.settings import METHODS, Method, Settings
from pfeseg.sweep import auto_pairs, sweep

AUTO = "auto"
"""Name of the method "pfe" with d and k chosen by `sweep`."""

CLEAN_SHARE = 0.005
"""Share of the image below which a region is absorbed in the cleaned segmentations."""

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff")


@dataclass(frozen=True)
class Row:
    """One segmentation of one image.

    `covered` over `pixels` is the covering; a data set's is the ratio of their sums.
    """

    image: str
    method: str
    cleaned: int
    d: int
    k: int
    regions: int
    covered: float
    pixels: float
    pri: float
    vi: float
    seconds_init: float
    seconds_embed: float
    seconds_cluster: float

    @property
    def seconds(self) -> float:
        """Time from the small image and its graph to the labels."""
        return self.seconds_init + self.seconds_embed + self.seconds_cluster


@dataclass(frozen=True)
class Item:
    """An image of the data set and its ground truth."""

    name: str
    image: Path
    ground_truth: Path


@dataclass(frozen=True)
class Plan:
    """What is to be run on every image."""

    output: Path
    split: str
    methods: tuple[str, ...]
    dims: tuple[int, ...]
    settings: Settings

    def rows_path(self, method: str, item: Item) -> Path:
        """Where the rows of one method and image go."""
        return self.output / "rows" / method / f"{item.name}.csv"

    def segs_path(self, method: str, item: Item, cleaned: bool) -> Path:
        """Where the segmentations of one method and image go."""
        folder = f"{method}-clean" if cleaned else method
        return self.output / "segs" / folder / f"{item.name}.mat"

    def missing(self, item: Item) -> tuple[str, ...]:
        """Return the methods that are yet to be run on an image."""
        return tuple(m for m in self.methods if not self.rows_path(m, item).exists())


def find_items(root: Path, split: str, limit: int | None = None) -> list[Item]:
    """List the images of a split, and check that each has its ground truth."""
    places = [root, root / "data", root / "BSDS500" / "data", root / "BSR" / "BSDS500" / "data"]
    data = next((place for place in places if (place / "images").is_dir()), None)
    if data is None or not (data / "groundTruth").is_dir():
        raise InvalidInputError(
            f"{root}: expected the folders 'images' and 'groundTruth' of BSDS500 in it"
        )
    folder = data / "images" / split
    if not folder.is_dir():
        splits = ", ".join(sorted(p.name for p in (data / "images").iterdir() if p.is_dir()))
        raise InvalidInputError(f"{folder}: there is no such split; there are: {splits or 'none'}")
    images = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_ENDINGS)
    if not images:
        raise InvalidInputError(f"{folder}: this folder holds no images")
    truths = data / "groundTruth" / split
    return [Item(p.stem, p, truths / f"{p.stem}.mat") for p in images[:limit]]


def start_run(plan: Plan) -> None:
    """Make the folder of a run, or check that the one there was made with the same settings."""
    unknown = [m for m in plan.methods if m not in (*METHODS, AUTO)]
    if unknown:
        raise InvalidInputError(
            f"there is no method {unknown[0]!r}; the methods are: {', '.join((*METHODS, AUTO))}"
        )
    present = {
        "pfeseg_version": __version__,
        "split": plan.split,
        "dims": list(plan.dims),
        "clean_share": CLEAN_SHARE,
        "settings": plan.settings.to_dict(),
    }
    path = plan.output / "run.json"
    if not path.exists():
        write_text(path, json.dumps(present, indent=2) + "\n")
        return
    try:
        stored = json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise InvalidInputError(f"{path}: cannot be read ({error})") from error
    different = [name for name in present if stored.get(name) != present[name]]
    if different:
        raise InvalidInputError(
            f"{plan.output} holds a run with other {', '.join(different)}; "
            "choose another folder, or delete this one"
        )


def run_items(
    plan: Plan, items: Sequence[Item], jobs: int
) -> Generator[dict[str, Any], None, None]:
    """Work on the images that are not done, and yield what became of each, as it is done.

    A row has the keys "image", "seconds" and, for an image that failed, "error".
    """
    calls = [(plan, item) for item in items if plan.missing(item)]
    return run_unordered(run_item, calls, jobs)


def run_item(plan: Plan, item: Item) -> dict[str, Any]:
    """Run the missing methods on one image, and write their files; never raises."""
    started = time.perf_counter()
    outcome: dict[str, Any] = {"image": item.name}
    try:
        _run_item(plan, item)
    except PfesegError as error:
        known = str(error).startswith(str(item.image)) or str(error).startswith(
            str(item.ground_truth)
        )
        outcome["error"] = str(error) if known else f"{item.image}: {error}"
    except Exception as error:
        # A fault of ours in one image must not cost the others.
        outcome["error"] = (
            f"{item.image}: internal error, please report it ({type(error).__name__}: {error})"
        )
    outcome["seconds"] = time.perf_counter() - started
    return outcome


def _run_item(plan: Plan, item: Item) -> None:
    truths = read_ground_truths(item.ground_truth)
    image = read_image(item.image)
    if any(truth.shape != image.shape[:2] for truth in truths):
        shape = next(t.shape for t in truths if t.shape != image.shape[:2])
        raise InvalidInputError(
            f"{item.ground_truth}: a ground truth of {shape[1]} x {shape[0]} pixels for an image "
            f"of {image.shape[1]} x {image.shape[0]}"
        )
    # One thread: the images run side by side, and times are comparable between methods.
    prepared = PreparedImage(image, plan.settings.changed(threads=1))
    methods = plan.missing(item)
    done: dict[str, list[tuple[NDArray[np.int32], NDArray[np.int32], list[Row]]]] = {
        method: [] for method in methods
    }
    for method, result in _results(prepared, methods, plan.dims):
        cleaned = prepared.clean(result.labels, CLEAN_SHARE)
        rows = [
            _row(item.name, method, clean, labels, result, truths)
            for clean, labels in ((0, result.labels), (1, cleaned))
        ]
        done[method].append((result.labels, cleaned, rows))
    for method, results in done.items():
        write_segmentations(plan.segs_path(method, item, False), [raw for raw, _, _ in results])
        write_segmentations(plan.segs_path(method, item, True), [clean for _, clean, _ in results])
        rows = [row for _, _, pair in results for row in pair]
        write_text(plan.rows_path(method, item), rows_text(rows))


def _results(
    prepared: PreparedImage, methods: Sequence[str], dims: tuple[int, ...]
) -> Iterator[tuple[str, Segmentation]]:
    """Yield every segmentation of an image, those of one d together: they share the start Y0."""
    known: dict[str, Method] = {name: name for name in METHODS}
    for d in dims:
        for method in methods:
            if method != AUTO:
                yield method, prepared.segment(d, None, known[method])
    if AUTO in methods:
        chosen = prepared.settings.changed(n_dims="auto", n_segments="auto")
        best = sweep(prepared.full_image, auto_pairs(chosen), settings=chosen).best
        yield AUTO, prepared.segment(best.n_dims, best.n_segments, "pfe")


def _row(
    name: str,
    method: str,
    clean: int,
    labels: NDArray[np.int32],
    result: Segmentation,
    truths: Sequence[NDArray[Any]],
) -> Row:
    compared = compare(labels, truths)
    return Row(
        image=name,
        method=method,
        cleaned=clean,
        d=result.n_dims,
        k=result.n_segments,
        regions=int(labels.max()) + 1,
        covered=round(compared.covered, 3),
        pixels=float(compared.region_sizes.sum()),
        pri=round(compared.pri, 6),
        vi=round(compared.vi, 6),
        seconds_init=round(result.timings.get("init", 0.0), 4),
        seconds_embed=round(result.timings.get("embed", 0.0), 4),
        seconds_cluster=round(result.timings["cluster"], 4),
    )


def rows_text(rows: Sequence[Row]) -> str:
    """Return rows as CSV."""
    text = io.StringIO()
    writer = csv.DictWriter(text, list(Row.__dataclass_fields__), lineterminator="\n")
    writer.writeheader()
    writer.writerows(asdict(row) for row in rows)
    return text.getvalue()


def read_rows(path: Path) -> list[Row]:
    """Read rows that `rows_text` made."""
    kinds = {"image": str, "method": str, "cleaned": int, "d": int, "k": int, "regions": int}
    try:
        with path.open(encoding="utf-8", newline="") as file:
            return [
                Row(**{name: kinds.get(name, float)(value) for name, value in row.items()})
                for row in csv.DictReader(file)
            ]
    except (OSError, ValueError, TypeError) as error:
        raise InvalidInputError(
            f"{path}: not a table of this version ({error}); delete it and run again"
        ) from error
