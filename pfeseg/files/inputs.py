"""Which files a command works on: files, folders, globs and lists of names."""

from __future__ import annotations

import glob
import os
import re
from codecs import BOM_UTF8
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from functools import cache
from itertools import product
from pathlib import Path
from typing import TypeVar

from pfeseg.errors import InvalidInputError
from pfeseg.files.kinds import KINDS, LABELS_FORMATS, OVERLAY_FORMATS, REPORT
from pfeseg.files.names import Identities
from pfeseg.files.reading import HEIF_SUFFIXES, IMAGE_SUFFIXES, RAW_SUFFIXES, reads_heif
from pfeseg.files.replacing import NUMBERED

STANDARD_INPUT = Path("-")

REMEDIES = {
    ".npy": ": name them to read them, as 'FOLDER/*.npy'",
    **dict.fromkeys(HEIF_SUFFIXES, ": pip install pillow-heif reads them"),
    **dict.fromkeys(RAW_SUFFIXES, ": convert raw photographs to TIFF first"),
}
"""What to do about files that are left out of folders, by their endings."""

T = TypeVar("T")


@dataclass(frozen=True)
class Input:
    """A file to work on, or why it cannot be.

    Attributes
    ----------
    path : Path
        ``-`` stands for standard input.
    subfolder : Path
        Where it lay below the folder that was asked for; results mirror it.
    problem : str
        Empty for a file that is there.
    """

    path: Path
    subfolder: Path = Path()
    problem: str = ""


@dataclass(frozen=True)
class Found:
    """What names stand for.

    Attributes
    ----------
    inputs : list of Input
    left_out : Counter of str
        How many files of folders were left out as no images, by their endings; no results.
    """

    inputs: list[Input]
    left_out: Counter[str]

    def left_out_line(self) -> str:
        """Say in one line what was left out of folders; empty if nothing was."""
        if not self.left_out:
            return ""
        counts = sorted(self.left_out.items(), key=lambda item: (-item[1], item[0]))
        parts: dict[str, list[str]] = {}
        for ending, count in counts:
            remedy = REMEDIES.get(ending, "")
            parts.setdefault(remedy, []).append(f"{count} {ending or 'without an ending'}")
        parts[""] = parts.pop("", [])  # the last
        said = [", ".join(counted) + remedy for remedy, counted in parts.items() if counted]
        return f"left out {'; '.join(said)}"


def expand_inputs(names: Iterable[str], recursive: bool = False) -> Found:
    """Find the files that names stand for, each once, in order.

    A name is a file, a folder (its images, and with `recursive` those of its
    subfolders), a glob pattern, or ``-`` for standard input.
    """
    found: dict[str, Input] = {}
    left_out: dict[str, Path] = {}
    identity = Identities()
    for name in names:
        items, others = _expand(name, recursive)
        left_out |= {identity(path): path for path in others}
        for item in items:
            is_file = not item.problem and item.path != STANDARD_INPUT
            found.setdefault(identity(item.path) if is_file else str(item.path), item)
    left = left_out.keys() - found.keys()
    endings = Counter(left_out[key].suffix.lower() for key in left)
    return Found(list(found.values()), endings)


def read_name_list(content: bytes) -> list[str]:
    """Split a list of names at NUL bytes if it holds any, else at line ends."""
    text = content.removeprefix(BOM_UTF8).decode("utf-8", errors="surrogateescape")
    if "\0" in text:
        names = text.split("\0")
    else:
        names = [line.removesuffix("\r") for line in text.split("\n")]
    return [name for name in names if name.strip()]


def parse_shard(text: str) -> tuple[int, int]:
    """Read ``i/n``, the i-th of n equal parts, counted from 1."""
    match = re.fullmatch(r"(\d{1,18})/(\d{1,18})", text, re.ASCII)
    if not match or not 1 <= int(match[1]) <= int(match[2]):
        raise InvalidInputError(
            f"a shard is written i/n with 1 <= i <= n, such as 1/4; got {text!r}"
        )
    return int(match[1]), int(match[2])


def take_shard(inputs: Sequence[T], shard: tuple[int, int]) -> list[T]:
    """Take every n-th input, beginning with the i-th."""
    i, n = shard
    return list(inputs[i - 1 :: n])


def _expand(name: str, recursive: bool) -> tuple[list[Input], list[Path]]:
    """Return the inputs that a name stands for, and what of a folder was left out."""
    # A file that is really called "-" must not look like standard input.
    path = Path(name) if Path(name) != STANDARD_INPUT else Path(name).absolute()
    try:
        if name not in ("-", "") and path.is_dir():
            return _in_folder(path, recursive)
    except OSError as error:
        return [Input(path, problem=f"{path}: cannot be read ({error.strerror})")], []
    return _outside_folders(name, path), []


def _outside_folders(name: str, path: Path) -> list[Input]:
    if name == "-":
        return [Input(STANDARD_INPUT)]
    if not name:
        return [Input(Path(name), problem="an empty name was given; is a variable unset?")]
    try:
        if path.exists():
            return [Input(path)]
        if path.is_symlink():
            return [Input(path, problem=f"{path}: broken link to {path.readlink()}")]
    except OSError as error:
        return [Input(path, problem=f"{path}: cannot be read ({error.strerror})")]
    if glob.has_magic(name):
        matches = sorted(Path(match) for match in glob.glob(name, recursive=True))  # noqa: PTH207
        files = [
            Input(match)
            for match in matches
            if match.is_file() and not _is_result(match) and not _is_numbered_result(match)
        ]
        return files or [Input(path, problem=f"{path}: no file matches this pattern")]
    if name.startswith(("http://", "https://")):
        return [Input(path, problem=f"{name}: an address; download the image, and give its file")]
    return [Input(path, problem=f"{path}: no such file")]


def _in_folder(folder: Path, recursive: bool) -> tuple[list[Input], list[Path]]:
    """Return the images in a folder, and the files that are neither images nor results."""
    readable = IMAGE_SUFFIXES | HEIF_SUFFIXES if reads_heif() else IMAGE_SUFFIXES
    images: list[Input] = []
    others: list[Path] = []
    for path, subfolder in _files_in(folder, Path(), recursive):
        if path.name.startswith(".") or _is_result(path):
            continue
        if subfolder != Path() and _is_numbered_result(path):
            continue
        if path.suffix.lower() in readable:
            images.append(Input(path, subfolder))
        else:
            others.append(path)
    if not images:
        deeper = not recursive and any(entry.is_dir() for entry in folder.iterdir())
        hint = "; use -r to look into its subfolders too" if deeper else ""
        return [Input(folder, problem=f"{folder}: this folder holds no images{hint}")], others
    return images, others


def _files_in(folder: Path, subfolder: Path, recursive: bool) -> Iterator[tuple[Path, Path]]:
    """Yield the files and links in a folder, in the order of their names, and their subfolders."""
    with os.scandir(folder / subfolder) as entries:
        in_order = sorted(entries, key=lambda entry: entry.name)
    for entry in in_order:
        if recursive and entry.is_dir(follow_symlinks=False):
            with suppress(PermissionError):
                yield from _files_in(folder, subfolder / entry.name, recursive)
        elif entry.is_symlink() or entry.is_file():
            yield folder / subfolder / entry.name, subfolder


def _is_numbered_result(path: Path) -> bool:
    """Tell whether a run wrote this picture into a folder of its own, such as that of masks."""
    return bool(NUMBERED.fullmatch(path.name)) and _is_result(path.parent)


def _is_result(path: Path) -> bool:
    """Tell whether a run wrote this picture: its image or its report lies beside it."""
    if not path.name.endswith(_result_endings()):
        return False
    beside = (KINDS[REPORT].suffix, *IMAGE_SUFFIXES)
    bases = (path.name.removesuffix(end) for end in _result_endings() if path.name.endswith(end))
    return any(path.with_name(base + end).exists() for base in bases if base for end in beside)


@cache
def _result_endings() -> tuple[str, ...]:
    """List what the names of results end in, in all formats."""
    endings: dict[str, None] = {}
    for kind, labels, overlay in product(KINDS.values(), LABELS_FORMATS, OVERLAY_FORMATS):
        result = Path("x" + kind.suffix.format(labels_format=labels, overlay_format=overlay))
        endings |= dict.fromkeys(path.name[1:] for path in (result, *kind.beside(result)))
    return tuple(endings)
