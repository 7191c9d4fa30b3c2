"""Files and folders that appear whole or not at all, alone or several together.

Each is written under a temporary name, see `pfeseg.files.temporaries`, and brought to the disk
before it gets its own.
"""

from __future__ import annotations

import filecmp
import os
import re
import shutil
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from contextvars import ContextVar
from functools import partial
from pathlib import Path
from typing import BinaryIO

from pfeseg.errors import InvalidInputError, argument
from pfeseg.files.holding import allow_renaming, hold, hold_new, lock, longest_name, sync
from pfeseg.files.temporaries import create_folder, new_name, new_temporary, take_over

NUMBERED = re.compile(r"\d{4,}\.png")
"""Names of the pictures in a folder of results, one a region."""

SYNCS_AT_ONCE = 16
"""Files that are brought to the disk side by side."""


class Made:
    """A result that has been written, and waits for its name.

    `stale` names what may lie beside the one that it replaces, and goes with that unless it is
    written anew.
    """

    def __init__(self, temporary: Path, final: Path, held: int, stale: Iterable[Path] = ()) -> None:
        self.temporary, self.final, self._held = temporary, final, held
        self.stale = tuple(stale)

    @property
    def size(self) -> int:
        """Bytes of the file, or of all files in the folder."""
        return size_of(self.temporary)

    def syncs(self) -> list[Callable[[], None]]:
        """Return what brings its bytes to the disk, a call for each file."""
        if not self.temporary.is_dir():
            return [partial(sync, self._held)]  # not by its name, which could lead elsewhere
        return [partial(_sync, path) for path in self.temporary.iterdir()]

    def appear(self) -> None:
        """Take the name, from what has it so far."""
        try:
            allow_renaming(self._held)
            former = self.final.is_dir() and self.temporary.is_dir()
            if former:
                self._replace_folder()
            else:
                self.temporary.replace(self.final)
        except OSError as error:
            raise _unwritable(self.final, error) from error

    def _replace_folder(self) -> None:
        former = new_name(self.final.parent)
        self.final.rename(former)
        try:
            self.temporary.rename(self.final)
        except OSError:
            former.rename(self.final)
            raise
        shutil.rmtree(former, ignore_errors=True)

    def equals_former(self) -> bool:
        """Whether what has the name already holds the same bytes; a link that leads nowhere not."""
        if not self.final.exists():
            return False
        if self.temporary.is_dir():
            names = [path.name for path in self.temporary.iterdir()]
            same = sorted(names) == sorted(path.name for path in self.final.iterdir())
            return same and not any(
                filecmp.cmpfiles(self.temporary, self.final, names, shallow=False)[1:]
            )
        return filecmp.cmp(self.temporary, self.final, shallow=False)

    def discard(self) -> None:
        """Give up the lock, and what was not given its name."""
        with suppress(OSError):
            allow_renaming(self._held)
            self.temporary.unlink(missing_ok=True)
        shutil.rmtree(self.temporary, ignore_errors=True)
        with suppress(OSError):
            os.close(self._held)


_together: ContextVar[list[Made] | None] = ContextVar("results that appear together", default=None)


@contextmanager
def appearing_together(replaces: bool = True) -> Iterator[list[Made]]:
    """Let all that is replaced inside the block appear at its end, in one go, or nothing of it.

    Yields what has been made so far. Of two processes that do so with the same names at a time, the
    later one's results are there in the end, all of them.

    Parameters
    ----------
    replaces : bool
        Whether files that are there may be replaced by others. If not, they may be empty or hold
        the same bytes, but for the last, which tells of the others and differs each time.
    """
    made: list[Made] = []
    token = _together.set(made)
    try:
        yield made
        _bring_to_disk(made)
        with _locked({part.final.parent for part in made}):
            if not replaces:
                _refuse_others(made[:-1])
            _refuse_folders(made)
            stale = _stale(made)
            if len(made) > 1:  # what marks all as done must not lie beside half of them
                made[-1].final.unlink(missing_ok=True)
            for part in made:
                part.appear()
            for path in stale:
                path.unlink(missing_ok=True)
    finally:
        _together.reset(token)
        for part in made:
            part.discard()


@contextmanager
def replacing(path: Path) -> Iterator[BinaryIO]:
    """Offer a new file to write that becomes `path` if the block succeeds, and else vanishes."""
    made = _together.get()
    if made is None:
        with appearing_together(), replacing(path) as file:
            yield file
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_long(path)
        temporary, held = new_temporary(path.parent, hold_new)
        made.append(Made(temporary, path, held))
        # By what is held already, and not by its name, which could lead elsewhere by now.
        with open(temporary, "w+b", opener=lambda *_: os.dup(held)) as file:
            yield file
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def replacing_folder(path: Path, own: re.Pattern[str] = NUMBERED) -> Iterator[Path]:
    """Offer a new folder that becomes `path` if the block succeeds, and else vanishes.

    A folder that is there already is replaced as a whole if all names in it are `own`, those of
    numbered pictures; any other is not, as more would be lost than a result.
    """
    made = _together.get()
    if made is None:
        with appearing_together(), replacing_folder(path, own) as folder:
            yield folder
        return
    try:
        _refuse_foreign(path, own)
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary, held = new_temporary(path.parent, create_folder)
        made.append(Made(temporary, path, held))
        yield temporary
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def replacing_group(path: Path, beside: Iterable[Path] = ()) -> Iterator[Path]:
    """Offer a new folder; what is written there, by `path`'s name, becomes `path` at the end.

    This is for libraries that write files by their names only. Other files there become those
    beside `path`. If `path` is replaced, those of `beside` that are not written anew are removed.
    """
    made = _together.get()
    if made is None:
        with appearing_together(), replacing_group(path, beside) as folder:
            yield folder
        return
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        _refuse_long(path)
        with scratch_folder(path.parent) as folder:
            yield folder
            for file in sorted(folder.iterdir(), key=lambda file: (file.name == path.name, file)):
                temporary, held = take_over(file, path.parent)
                stale = beside if file.name == path.name else ()
                made.append(Made(temporary, path.with_name(file.name), held, stale))
    except OSError as error:
        raise _unwritable(path, error) from error


@contextmanager
def scratch_folder(beside: Path) -> Iterator[Path]:
    """Offer a new folder inside another; it vanishes, at the latest when the next run begins."""
    folder, held = new_temporary(beside, create_folder)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        os.close(held)


def size_of(path: Path) -> int:
    """Return the bytes of a file, or of all files in a folder; links are not followed."""
    files = path.iterdir() if path.is_dir() else [path]
    return sum(file.lstat().st_size for file in files)


def _bring_to_disk(made: Sequence[Made]) -> None:
    """Bring all files to the disk before any gets its name, so that none can turn out empty.

    All at once: the disk then writes its journal once for several files, which takes a fraction of
    the time that they take one after the other.
    """
    syncs = [(part.final, sync) for part in made for sync in part.syncs()]
    if not syncs:
        return
    with ThreadPoolExecutor(min(len(syncs), SYNCS_AT_ONCE)) as threads:
        for final, done in [(final, threads.submit(sync)) for final, sync in syncs]:
            try:
                done.result()
            except OSError as error:
                raise _unwritable(final, error) from error


def _sync(path: Path) -> None:
    held = hold(path)
    try:
        os.fsync(held)
    finally:
        os.close(held)


def _unwritable(path: Path, error: OSError) -> InvalidInputError:
    return InvalidInputError(f"{path}: cannot be written ({error.strerror or error})")


def _refuse_long(path: Path) -> None:
    if len(os.fsencode(path.name)) > longest_name(path.parent):
        raise OSError("the name is too long")


@contextmanager
def _locked(folders: Iterable[Path]) -> Iterator[None]:
    """Keep other processes from giving names in some folders meanwhile."""
    with ExitStack() as stack:
        for folder in sorted({folder.resolve() for folder in folders}):
            held = hold(folder)
            stack.callback(os.close, held)
            with suppress(OSError):  # some network drives have no locks
                lock(held, wait=True)
        yield


def _stale(made: Sequence[Made]) -> list[Path]:
    """List what belongs to that which is replaced, and is not written anew."""
    anew = {part.final for part in made}
    replaced = [part for part in made if part.stale and os.path.lexists(part.final)]
    stale = (path for part in replaced for path in part.stale if path not in anew)
    return [path for path in stale if os.path.lexists(path)]


def _refuse_others(made: Iterable[Made]) -> None:
    for part in made:
        exists = os.path.lexists(part.final) and size_of(part.final) > 0
        if exists and not part.equals_former():
            raise InvalidInputError(
                f"{part.final}: is there, but is not what this run makes; "
                f"use {argument('overwrite', True)} to replace it"
            )


def _refuse_folders(made: Iterable[Made]) -> None:
    """Refuse to put a file in the place of a folder, before anything is replaced."""
    for part in made:
        if part.final.is_dir() and not part.final.is_symlink() and not part.temporary.is_dir():
            raise InvalidInputError(f"{part.final}: cannot be written, as it is a folder")


def _refuse_foreign(folder: Path, own: re.Pattern[str]) -> None:
    """Refuse to replace a file, a link, or a folder that holds anything but what is our own."""
    if folder.is_symlink():
        raise InvalidInputError(f"{folder}: cannot be made, as it is a link; remove it first")
    if folder.exists() and not folder.is_dir():
        raise InvalidInputError(f"{folder}: cannot be made, as it is a file")
    entries = sorted(entry.name for entry in folder.iterdir()) if folder.exists() else []
    foreign = [name for name in entries if not own.fullmatch(name)]
    if foreign:
        raise InvalidInputError(
            f"{folder}: not replaced, as it holds {foreign[0]}, which is not a result; "
            "move or remove it first"
        )
