"""What a batch says about its images; owns the wording and the exit code."""

from __future__ import annotations

import json
import time
from dataclasses import replace
from typing import TYPE_CHECKING

import click

from pfeseg.cli.wording import in_options, one_line, say

if TYPE_CHECKING:
    from pfeseg.run.rows import Row


class Reporter:
    """Prints a line for each image or other file, and a summary of many."""

    def __init__(
        self,
        total: int,
        *,
        as_json: bool,
        quiet: bool,
        verbose: bool,
        fail_fast: bool,
        noun: str = "images",
    ) -> None:
        self._noun = noun
        self._total, self._as_json, self._fail_fast = total, as_json, fail_fast
        self.quiet, self._verbose = quiet, verbose
        self._done = self._skipped = 0
        self._failures: list[str] = []
        self.failures: dict[str, str] = {}
        """Why each input that failed did, by its name."""
        self._is_broken_off = False
        self._started = time.perf_counter()

    @property
    def wants_more(self) -> bool:
        """Whether the batch is to go on."""
        return not (self._fail_fast and self._failures)

    def add(self, row: Row) -> None:
        """Say what became of one image."""
        warnings = tuple(in_options(warning) for warning in row.warnings)
        error = in_options(row.error) if row.error else None
        if self._as_json:
            note = in_options(row.note)
            spelled = replace(row, error=error, warnings=warnings, note=note)
            click.echo(json.dumps(spelled.to_dict()))
        for warning in () if self.quiet else warnings:
            say(f"Warning: {warning}")
        if error:
            self.failures[row.input] = error
            self._failures.append(one_line(error))
            say(f"Error: {self._failures[-1]}")
        elif row.status == "skipped":
            self._skipped += 1
            if self._total == 1 and not self.quiet:
                say(f"{row.input}: done before; its results are left as they are")
        else:
            self._done += 1
            if not self.quiet:
                self._tell(row)

    def _tell(self, row: Row) -> None:
        written = ", ".join(row.results.values())
        say(f"{row.input}: {_counted(row)} in {row.seconds:.1f} s -> {written}")
        if self._total == 1 and row.next_steps:
            now = row.regions or 0
            which = " or ".join("fewer" if n < now else "more" for n in row.next_steps)
            steps = " or ".join(map(str, row.next_steps))
            say(f"  for {which} regions, give --regions {steps}")
        if self._verbose:
            stages = (f"{stage} {seconds:.3f} s" for stage, seconds in row.timings.items())
            say("  " + ", ".join(stages))

    def break_off(self, error: str) -> None:
        """Say why no more images can be worked on."""
        self._is_broken_off = True
        rest = "; the same command with --skip-existing continues from here"
        say(f"Error: {in_options(error)}{rest}")

    def finish(self) -> int:
        """Sum up many images, and return the exit code."""
        failed = len(self._failures)
        if self._total > 1 and not self.quiet:
            counts = [f"{self._done} done", f"{failed} failed"]
            if self._skipped:
                counts.append(f"{self._skipped} skipped")
            left = self._total - self._done - failed - self._skipped
            if left:
                counts.append(f"{left} not tried")
            seconds = time.perf_counter() - self._started
            say(f"{self._total} {self._noun}: {', '.join(counts)} in {seconds:.1f} s")
            if failed:
                say("failures:")
                for failure in self._failures:
                    say(f"  {failure}")
        return 1 if failed or self._is_broken_off else 0


def _counted(row: Row) -> str:
    """Say how many regions there are, or clusters of data, or in how many pieces these lie."""
    if row.clusters is not None:
        clusters = "1 cluster" if row.clusters == 1 else f"{row.clusters} clusters"
        return f"{in_options(row.note)}: {clusters}"
    if row.pieces is not None and row.pieces != row.regions:
        clusters = "1 cluster" if row.regions == 1 else f"{row.regions} clusters"
        return f"{clusters} in {row.pieces} pieces"
    return "1 region" if row.regions == 1 else f"{row.regions} regions"
