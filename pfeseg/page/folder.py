"""The pages of a folder of results: of a batch, of each sweep, or of a run over a data set."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from pfeseg.errors import InvalidInputError
from pfeseg.page.batch import write_batch_page
from pfeseg.page.bsds import is_bsds_run, write_bsds_page
from pfeseg.page.results import find_reports
from pfeseg.page.sweep import find_sweeps, page_of, write_page_again


@dataclass(frozen=True)
class FolderPages:
    """Which pages a folder gets.

    Attributes
    ----------
    folder : Path
    reports : sequence of Path
        Of the images of a batch.
    sweeps : dict
        Where the page of each sweep goes, by its data.
    main : Path or None
        Where the page of the batch, or of the run, goes; None where there are sweeps only.
    is_run : bool
        Whether the folder is that of a run over a data set.
    """

    folder: Path
    reports: Sequence[Path]
    sweeps: Mapping[Path, Path]
    main: Path | None
    is_run: bool = False

    @property
    def paths(self) -> list[Path]:
        """All pages."""
        return [*self.sweeps.values(), *([self.main] if self.main else [])]

    def write(self, jobs: int = 1, on_image: Callable[[], None] = lambda: None) -> list[Path]:
        """Write them; returns what was written, with the folder beside the page of a large batch.

        `jobs` and `on_image` are those of `write_batch_page`.
        """
        written: list[Path] = []
        if self.main and self.is_run:
            write_bsds_page(self.main, self.folder)
            written = [self.main]
        elif self.main:
            written = write_batch_page(self.main, self.reports, jobs=jobs, on_image=on_image)
        for data, place in self.sweeps.items():
            write_page_again(place, data)
            written.append(place)
        return written


def plan_pages(folder: Path, output: Path | None = None) -> FolderPages:
    """Find what a folder holds; the one page goes to `output`, or else into the folder.

    Raises
    ------
    InvalidInputError
        If `output` is given and there are pages of several sweeps.
    """
    main = output or folder / "report.html"
    if is_bsds_run(folder):
        return FolderPages(folder, [], {}, main, is_run=True)
    reports = find_reports(folder)
    sweeps = {path: page_of(path) for path in find_sweeps(folder)}
    if not sweeps or reports:
        return FolderPages(folder, reports, sweeps, main)
    if len(sweeps) > 1 and output:
        raise InvalidInputError(
            f"{folder} holds {len(sweeps)} sweeps, each with a page of its own; leave out -o"
        )
    return FolderPages(folder, [], {path: output or page for path, page in sweeps.items()}, None)
