"""Many images: one task an image, the same function alone or side by side in processes."""

from __future__ import annotations

import json
import time
import warnings
from collections.abc import Generator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from numpy.typing import NDArray

from pfeseg import __version__, exports, pictures
from pfeseg.bsds_files import write_contour_map
from pfeseg.errors import PfesegError, SolverWarning
from pfeseg.files import write_labels, write_png, write_text
from pfeseg.kernels import variant
from pfeseg.parallel import run_unordered
from pfeseg.pipeline import segment
from pfeseg.reading import read_image
from pfeseg.segmentation import Segmentation
from pfeseg.settings import Settings
from pfeseg.solver import OnIteration


@dataclass(frozen=True)
class Task:
    """One image to segment.

    Attributes
    ----------
    source : Path
    results : dict
        Path of each kind of result, the report last; see `pfeseg.outputs`.
    settings : Settings
    content : bytes or None
        The image, where it does not come from the file `source`.
    page : int
    allow_huge : bool
    """

    source: Path
    results: dict[str, Path]
    settings: Settings
    content: bytes | None = None
    page: int = 0
    allow_huge: bool = False


def run_task(
    task: Task, on_iteration: OnIteration | None = None, threads: int | None = None
) -> dict[str, Any]:
    """Segment one image and write its results.

    Never raises: a failure comes back as a row that says why. `threads` is for
    the solver where the settings leave their number open.
    """
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", SolverWarning)
        row = _run_task(task, on_iteration, threads)
    for warning in caught:
        if issubclass(warning.category, SolverWarning):
            row.setdefault("warnings", []).append(f"{task.source}: {warning.message}")
    return row


def _run_task(task: Task, on_iteration: OnIteration | None, threads: int | None) -> dict[str, Any]:
    started = time.perf_counter()
    row: dict[str, Any] = {"input": str(task.source)}
    try:
        name = "standard input" if task.content is not None else str(task.source)
        image = read_image(
            task.source if task.content is None else task.content,
            page=task.page,
            allow_huge=task.allow_huge,
            name=name,
        )
        try:
            chosen = task.settings.changed(threads=task.settings.solver.threads or threads)
            wants_tree = bool({"ucm", "contours"} & set(task.results))
            result = segment(image, chosen, on_iteration, hierarchy=wants_tree)
            result = replace(result, settings=task.settings)
        except PfesegError as error:
            raise type(error)(f"{name}: {error}") from error
        _write(task, image, result)
    except PfesegError as error:
        row |= {"status": "failed", "error": str(error)}
    except MemoryError:
        row |= {"status": "failed", "error": f"{task.source}: not enough memory; downsample more"}
    except Exception as error:
        # A fault of ours in one image must not cost the others.
        row |= {
            "status": "failed",
            "error": f"{task.source}: internal error, please report it "
            f"({type(error).__name__}: {error})",
        }
    else:
        row |= {
            "status": "done",
            "regions": result.n_regions,
            "results": {kind: str(path) for kind, path in task.results.items()},
            "timings": result.report()["timings"],
        }
    row["seconds"] = round(time.perf_counter() - started, 3)
    return row


def _write(task: Task, image: NDArray[Any], result: Segmentation) -> None:
    labels = result.labels
    wants_map = bool({"ucm", "contours"} & set(task.results))
    contour_map = result.hierarchy.contour_map() if result.hierarchy and wants_map else None
    for kind, path in task.results.items():
        match kind:
            case "labels":
                write_labels(path, labels)
            case "overlay":
                write_png(path, pictures.draw_overlay(image, labels))
            case "boundaries":
                write_png(path, pictures.draw_boundaries(labels))
            case "ucm" if contour_map is not None:
                write_contour_map(path, contour_map)
            case "contours" if contour_map is not None:
                write_png(path, pictures.draw_contour_map(contour_map))
            case "embedding":
                shape = result.small_image.shape
                write_png(path, pictures.draw_embedding(result.coordinates, (shape[0], shape[1])))
            case "regions":
                write_text(path, exports.regions_csv(image, labels))
            case "coco":
                write_text(path, exports.coco_json(image, labels, task.source.name))
            case "geojson":
                write_text(path, exports.geojson(labels))
            case "report":
                write_text(path, report_text(task, result))


def report_text(task: Task, result: Segmentation) -> str:
    """Return the sidecar report as JSON text."""
    report = {
        "input": str(task.source),
        "pfeseg_version": __version__,
        "kernels": variant(),
        **result.report(),
    }
    return json.dumps(report, indent=2) + "\n"


def run_batch(tasks: Sequence[Task], jobs: int) -> Generator[dict[str, Any], None, None]:
    """Run tasks in `jobs` processes and yield their rows as they are done.

    Each of several processes computes with one thread unless the settings say otherwise; the
    results do not depend on that.
    """
    threads = None if jobs == 1 else 1
    return run_unordered(run_task, [(task, None, threads) for task in tasks], jobs)
