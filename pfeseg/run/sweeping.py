"""One image tried in many ways: read, swept on an engine, and what was found written."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from pfeseg.engines.engine import Engine
from pfeseg.errors import InvalidInputError
from pfeseg.files.matlab import Labels, check_size, read_ground_truths
from pfeseg.files.raster import Reading, read_raster
from pfeseg.files.sweep_data import SweepData, write_sweep_data
from pfeseg.files.temporaries import clear_strays
from pfeseg.files.writing import refuse_existing, refuse_unwritable, write_png, write_text
from pfeseg.image.arrays import Raster
from pfeseg.run.sweep import (
    SweepRow,
    best_rows,
    cut_words,
    recommendation,
    shown_rows,
    sweep_csv,
    sweep_data,
    sweep_facts,
    sweep_rows,
    sweep_sheet,
    sweep_table,
)
from pfeseg.segmentation.memory import refuse_too_large
from pfeseg.segmentation.pairs import Pair, sweep_pairs
from pfeseg.segmentation.settings import Settings
from pfeseg.segmentation.sweep import Sweep, sweep


@dataclass(frozen=True)
class SweepTask:
    """An image, and the ways in which it is to be tried.

    Attributes
    ----------
    image : Path
    settings : Settings
    reading : dict
        How the image is read.
    command : sequence of str
        Words of a command that does the same, but for dimension and cut.
    dims, n_clusters, n_regions : sequence of int or None
    levels : sequence of float or None
        As for `pfeseg.sweep`.
    ground_truth : Path or None
    """

    image: Path
    settings: Settings
    reading: Reading
    command: Sequence[str]
    dims: Sequence[int] | None = None
    n_clusters: Sequence[int] | None = None
    levels: Sequence[float] | None = None
    n_regions: Sequence[int] | None = None
    ground_truth: Path | None = None

    def pairs(self, shape: tuple[int, int] = (1, 1)) -> tuple[list[Pair], list[Pair]]:
        """Return what is asked for in an image of some size, and what to choose from.

        Raises
        ------
        InvalidInputError
            For what does not go together, whatever the size.
        """
        return sweep_pairs(
            self.settings,
            shape,
            self.dims,
            n_clusters=self.n_clusters,
            levels=self.levels,
            n_regions=self.n_regions,
        )

    def read(self) -> Raster:
        """Read the image."""
        return read_raster(self.image, self.settings.stretch, self.settings.bands, **self.reading)


def plan_sweep(
    image: Path, folder: Path, endings: Sequence[str], *, replaces: bool
) -> dict[str, Path]:
    """Name the results by their endings, and refuse to begin where they cannot be written."""
    results = {ending: folder / f"{image.stem}_sweep.{ending}" for ending in endings}
    if not replaces:
        refuse_existing(results.values())
    refuse_unwritable(folder)
    clear_strays([folder])
    return results


def open_sweep(task: SweepTask) -> OpenSweep:
    """Read the image of a task, and the ground truths if there are any."""
    truths: list[Labels] = []
    if task.ground_truth:
        truths = read_ground_truths(task.ground_truth, task.reading["allow_huge"])
    image = task.read()
    if task.ground_truth:
        check_size(task.ground_truth, truths, image.shape)
    return OpenSweep(task, image, truths, *task.pairs(image.shape))


@dataclass(frozen=True, eq=False)
class OpenSweep:
    """An image that was read, and what is to be tried of it."""

    task: SweepTask
    image: Raster
    truths: Sequence[Labels]
    asked: Sequence[Pair]
    candidates: Sequence[Pair]

    @property
    def dims(self) -> set[int]:
        """The dimensions to try."""
        return {d for d, _ in self.asked}

    def refuse_too_large(self, limit: float | None) -> None:
        """Refuse an image that would take more bytes than this for its largest dimension."""
        largest = self.task.settings.changed(n_dims=max(self.dims))
        try:
            refuse_too_large(
                self.image.shape,
                largest,
                limit,
                tried=list({*self.asked, *self.candidates}),
                image=self.image,
            )
        except InvalidInputError as error:
            raise InvalidInputError(f"{self.task.image}: {error.marked}") from error

    def run(
        self,
        engine: Engine,
        on_dimension: Callable[[int], None] | None = None,
        threads: int | None = None,
        *,
        reads_again: bool = False,
    ) -> Swept:
        """Try all on an engine, whose workers read the image again or are sent it."""
        result = sweep(
            self.image,
            self.asked,
            self.candidates,
            self.task.settings,
            engine=engine,
            reader=self.task.read if reads_again else None,
            on_dimension=on_dimension,
            threads=threads,
        )
        return Swept(self, result, sweep_rows(result, self.truths))


@dataclass(frozen=True, eq=False)
class Swept:
    """What a sweep has found."""

    of: OpenSweep
    result: Sweep
    rows: Sequence[SweepRow]

    @property
    def _n_asked(self) -> int:
        return len(self.of.asked)

    @cached_property
    def _words(self) -> list[list[str]]:
        """The options that make each trial."""
        with_d = self.of.task.dims is not None
        return [cut_words(trial, with_d=with_d) for trial in self.result.trials]

    @cached_property
    def data(self) -> SweepData:
        """What a page is made of."""
        task = self.of.task
        commands = [shlex.join([*task.command, *words]) for words in self._words]
        return sweep_data(task.image, task.reading, self.result, self.rows, commands)

    def write(self, results: Mapping[str, Path]) -> None:
        """Write the table, the sheet of pictures and the data."""
        shown = shown_rows(self.result, self._n_asked)
        write_text(results["csv"], sweep_csv(self.rows))
        write_png(results["png"], sweep_sheet(self.of.image, self.result, self.rows, shown))
        write_sweep_data(results["npz"], self.data)

    def facts(self) -> dict[str, Any]:
        """Return what was asked for and found, for JSON."""
        return sweep_facts(self.rows, self._n_asked, self.result.best)

    def lines(self) -> list[str]:
        """Return what was asked for and found as a table, and what is best, for people."""
        shown = shown_rows(self.result, self._n_asked)
        words = self._words[self.result.recommended]
        return [
            *sweep_table(self.rows, shown, self.result.recommended),
            *(
                f"best by {metric}: {row.title(with_d=True)} ({row.to_dict()[metric]:.4f})"
                for metric, row in best_rows(self.rows[: self._n_asked]).items()
            ),
            f"recommended: {' '.join(words)}{recommendation(self.result.best)}",
        ]
