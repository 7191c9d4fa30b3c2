"""Stage files: the result of one stage, with the settings that made it, for the next to read."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg import __version__
from pfeseg.errors import InvalidInputError
from pfeseg.files.opening import parse_npz, read_file
from pfeseg.files.replacing import replacing
from pfeseg.segmentation.settings import Settings

FORMAT_VERSION = 2

STAGES = {
    "image": "pfeseg downsample",
    "graph": "pfeseg graph",
    "init": "pfeseg init",
    "embedding": "pfeseg embed",
}
"""Kinds of stage files, and the command that makes each."""

NUMBERS, WHOLE, TRUTH, TEXT = "f", "iu", "b", "U"
"""Kinds of numbers, as NumPy calls them."""

_OF_ALL = {
    "size": (WHOLE, "2"),
    "full_size": (WHOLE, "2"),
    "digest": (TEXT, ""),
    "photograph": (TEXT, ""),
}

STAGE_ARRAYS = {
    "image": _OF_ALL | {"image": (NUMBERS, "h w c"), "texture": (NUMBERS, "h w t")},
    "graph": _OF_ALL | {"n_nodes": (WHOLE, ""), "edges": (WHOLE, "m 2"), "weights": (NUMBERS, "m")},
    "init": _OF_ALL | {"Y0": (NUMBERS, "n d")},
    "embedding": _OF_ALL | {"Y": (NUMBERS, "n d"), "degrees": (NUMBERS, "n")},
}
"""What a file of each kind must hold: kinds of numbers, and shapes.

Of the letters, h and w are the size, n the pixels that belong to the image, and the others any
numbers of at least 1 (m of at least 0), the same wherever they stand.
"""

_OPTIONAL = {"mask": (TRUTH, "h w"), "pixels": (TEXT, "")}

MAX_SIDE = 10**6

LARGEST = 1e12
"""Number of any array; no stage makes larger ones."""


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


@dataclass(frozen=True, eq=False)
class Stage:
    """A stage file that was read.

    Attributes
    ----------
    path : Path
    kind : str
        One of `STAGES`.
    format_version : int
    pfeseg_version : str
        That wrote it.
    settings : dict
        Of this stage and all before, by their names.
    arrays : dict
        See `STAGE_ARRAYS`.
    """

    path: Path
    kind: str
    format_version: int
    pfeseg_version: str
    settings: dict[str, Any]
    arrays: dict[str, NDArray[Any]]


def read_stage(path: Path, kind: str | None = None) -> Stage:
    """Read what `write_stage` wrote, of one kind or any."""
    wanted = f"a file made by '{STAGES[kind]}'" if kind else "a file made by pfeseg"
    content = read_file(path)
    try:
        arrays = parse_npz(content)
        header = json.loads(str(arrays.pop("pfeseg")))
        version, found = header["format_version"], STAGES[header["kind"]]
        if type(version) is not int or not isinstance(header["pfeseg_version"], str):
            raise ValueError("its versions are none")
        dict(header["settings"])
    except MemoryError:
        raise
    except Exception as error:  # zip, header and array errors are all the same to the user
        raise InvalidInputError(f"{path}: expected {wanted}; this is not one") from error
    if version > FORMAT_VERSION:
        raise InvalidInputError(
            f"{path}: its format {version} is newer than this pfeseg reads "
            f"({FORMAT_VERSION}); upgrade pfeseg"
        )
    if version < FORMAT_VERSION:
        raise InvalidInputError(
            f"{path}: its format {version} is older than this pfeseg reads ({FORMAT_VERSION}); "
            f"make it again with '{found}'"
        )
    if kind and header["kind"] != kind:
        raise InvalidInputError(f"{path}: expected {wanted}, found one made by '{found}'")
    try:
        Settings.from_dict(header["settings"])
        _check(arrays, STAGE_ARRAYS[header["kind"]])
    except (ValueError, TypeError, AttributeError, OverflowError) as error:
        text = error.marked if isinstance(error, InvalidInputError) else error
        raise InvalidInputError(f"{path}: damaged, as {text}") from error
    return Stage(
        path, header["kind"], version, header["pfeseg_version"], header["settings"], arrays
    )


def _check(arrays: dict[str, NDArray[Any]], wanted: dict[str, tuple[str, str]]) -> None:
    """Refuse arrays that are not of the kinds, shapes and values of a stage."""
    missing = wanted.keys() - arrays.keys()
    if missing:
        raise ValueError(f"it lacks {', '.join(sorted(missing))}")
    known = wanted | {name: form for name, form in _OPTIONAL.items() if name in arrays}
    for name in ("size", "full_size"):
        _check_form(name, arrays[name], known[name], {})
        if not all(1 <= side <= MAX_SIDE for side in arrays[name]):
            raise ValueError(f"its {name} is {arrays[name].tolist()}")
    if (arrays["size"] > arrays["full_size"]).any():
        raise ValueError("it is larger than its photograph")
    sides = dict(zip("hw", map(int, arrays["size"]), strict=True))
    if "mask" in arrays:
        _check_form("mask", arrays["mask"], known["mask"], sides)
    inside = int(arrays["mask"].sum()) if "mask" in arrays else sides["h"] * sides["w"]
    sides["n"] = inside
    if not inside or int(arrays.get("n_nodes", inside)) != inside:
        raise ValueError(f"it has {inside} pixels")
    for name, form in known.items():
        _check_form(name, arrays[name], form, sides)


def _check_form(
    name: str, array: NDArray[Any], form: tuple[str, str], sides: dict[str, int]
) -> None:
    """Refuse one array of another kind or shape than its form; `sides` learns what letters are."""
    kinds, letters = form
    shape = letters.split()
    if array.dtype.kind not in kinds or array.ndim != len(shape):
        raise ValueError(f"its {name} is {array.dtype} of shape {array.shape}")
    for letter, side in zip(shape, array.shape, strict=True):
        expected = int(letter) if letter.isdigit() else sides.setdefault(letter, side)
        if side != expected or (side < 1 and letter != "m"):
            raise ValueError(f"its {name} has shape {array.shape}")
    if kinds == NUMBERS and not (np.abs(array) <= LARGEST).all():
        raise ValueError(f"its {name} holds more than {LARGEST:g}, or a value that is not a number")
    if name == "degrees" and not (array > 0).all():
        raise ValueError("its degrees are not all positive")
