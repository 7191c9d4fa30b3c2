"""The page of a batch: all images in one file, or with a folder beside it where they are many."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Sequence
from os.path import commonpath
from pathlib import Path
from typing import Any

from pfeseg.engines.local import Local
from pfeseg.engines.parts import run_parts
from pfeseg.errors import InvalidInputError
from pfeseg.files.replacing import replacing_folder
from pfeseg.page.html import page_html, write_page
from pfeseg.page.packing import script_json
from pfeseg.page.record import Record, failed_record, make_record
from pfeseg.page.results import Failure
from pfeseg.pictures.uri import as_uri

MOST_INSIDE = 200
"""Images that one file holds; of more, thumbnails and large views lie in a folder beside it."""

OWN_FILES = re.compile(r"\d{5,}\.(jpg|js)")
"""Names of the files in that folder."""


def write_batch_page(
    path: Path,
    reports: Sequence[Path],
    failures: Sequence[Failure] = (),
    *,
    jobs: int = 1,
    on_image: Callable[[], None] = lambda: None,
) -> list[Path]:
    """Write the page of some results and failures; returns what was written.

    Parameters
    ----------
    path : Path
        Of the HTML file.
    reports : sequence of Path
        Those of `pfeseg.files.report`; all else is found beside them.
    failures : sequence of Failure
    jobs : int
        Processes to share the work; never changes the page.
    on_image : callable, optional
        Called after each image.
    """
    if not reports and not failures:
        raise InvalidInputError(
            f"{path.parent}: expected results of 'pfeseg segment', found no report (STEM.json)"
        )
    folder = path.with_name(f"{path.stem}_files")
    beside = len(reports) > MOST_INSIDE
    names = _names(reports)
    failed = [failed_record(failure.name, failure.reason).summary for failure in failures]
    title = names[0] if len(names) == 1 and not failed else Path(os.path.realpath(path)).parent.name
    if not beside:
        records = _make_records(reports, names, jobs, on_image)
        images = [_with_thumbnail(record) for record in records]
        details = {
            f"image-{index}": record.detail
            for index, record in enumerate(records)
            if record.detail is not None
        }
        write_page(path, page_html("batch", title, _data([*images, *failed], None), details))
        return [path]
    summaries: list[dict[str, Any]] = [{}] * len(reports)
    with replacing_folder(folder, OWN_FILES) as temporary:
        for index, record in _run(reports, names, jobs):
            summaries[index] = _keep_beside(record, index, temporary, folder.name)
            on_image()
    data = _data([*summaries, *failed], folder.name)
    write_page(path, page_html("batch", title, data, beside=True))
    return [path, folder]


def _data(images: list[dict[str, Any]], folder: str | None) -> dict[str, Any]:
    return {"images": images, "folder": folder}


def _names(reports: Sequence[Path]) -> list[str]:
    """Name each result by its place below the folder that all lie in."""
    if len(reports) < 2:
        return [path.stem for path in reports]
    common = Path(commonpath([path.parent.absolute() for path in reports]))
    return [str(path.absolute().relative_to(common).with_suffix("")) for path in reports]


def _make_records(
    reports: Sequence[Path], names: Sequence[str], jobs: int, on_image: Callable[[], None]
) -> list[Record]:
    records: dict[int, Record] = {}
    for index, record in _run(reports, names, jobs):
        records[index] = record
        on_image()
    return [records[index] for index in range(len(reports))]


def _run(reports: Sequence[Path], names: Sequence[str], jobs: int) -> Any:
    calls = [(index, *pair) for index, pair in enumerate(zip(reports, names, strict=True))]
    return run_parts(Local(jobs), _numbered_record, calls)


def _numbered_record(index: int, path: Path, name: str) -> tuple[int, Record]:
    return index, make_record(path, name)


def _with_thumbnail(record: Record) -> dict[str, Any]:
    if record.detail is None:
        return record.summary
    return record.summary | {"thumbnail": as_uri(record.thumbnail)}


def _keep_beside(record: Record, index: int, folder: Path, shown_as: str) -> dict[str, Any]:
    """Write thumbnail and large view of one image into the folder; returns its summary."""
    if record.detail is None:
        return record.summary
    name = f"{index:05d}"
    (folder / f"{name}.jpg").write_bytes(record.thumbnail)
    script = f"receiveImage({index},{script_json(record.detail)});\n"
    (folder / f"{name}.js").write_text(script, encoding="utf-8")
    return record.summary | {"thumbnail": f"{shown_as}/{name}.jpg"}
