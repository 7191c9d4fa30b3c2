"""Stage files: the result of one stage, with the settings that made it, for the next to read."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import __version__
from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import parse_npz, read_file
from pfeseg.files.replacing import replacing

FORMAT_VERSION = 1

STAGES = {
    "image": "pfeseg downsample",
    "graph": "pfeseg graph",
    "init": "pfeseg init",
    "embedding": "pfeseg embed",
}
"""Kinds of stage files, and the command that makes each."""

STAGE_ARRAYS = {
    "image": ("image", "texture", "size", "full_size"),
    "graph": ("n_nodes", "edges", "weights", "size", "full_size"),
    "init": ("Y0", "size", "full_size"),
    "embedding": ("Y", "degrees", "size", "full_size"),
}
"""What a file of each kind must hold."""


def write_stage(
    path: Path, kind: str, settings: dict[str, Any], arrays: dict[str, NDArray[Any]]
) -> None:
    """Write the result of a stage: its arrays, and the settings that made them."""
    header = {
        "format_version": FORMAT_VERSION,
        "kind": kind,
        "pfeseg_version": __version__,
        "settings": settings,
    }
    with replacing(path) as file:
        np.savez(file, pfeseg=np.array(json.dumps(header)), **arrays)  # type: ignore[arg-type]


def read_stage(path: Path, kind: str | None = None) -> tuple[dict[str, Any], dict[str, Any]]:
    """Read what `write_stage` wrote: its header and its arrays, of one kind or any."""
    wanted = f"a file made by '{STAGES[kind]}'" if kind else "a file made by pfeseg"
    content = read_file(path)
    try:
        arrays = parse_npz(content)
        header = json.loads(str(arrays.pop("pfeseg")))
        version, found = int(header["format_version"]), STAGES[header["kind"]]
        dict(header["settings"])
    except Exception as error:  # zip, header and array errors are all the same to the user
        raise InvalidInputError(f"{path}: expected {wanted}; this is not one") from error
    if version > FORMAT_VERSION:
        raise InvalidInputError(
            f"{path}: its format {version} is newer than this pfeseg reads "
            f"({FORMAT_VERSION}); upgrade pfeseg"
        )
    if kind and header["kind"] != kind:
        raise InvalidInputError(f"{path}: expected {wanted}, found one made by '{found}'")
    missing = set(STAGE_ARRAYS[header["kind"]]) - set(arrays)
    if missing:
        raise InvalidInputError(f"{path}: damaged, as it lacks {', '.join(sorted(missing))}")
    return header, arrays
