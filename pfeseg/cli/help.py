"""Help pages: their headings, and the options and commands that are listed below them."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from enum import Enum
from inspect import cleandoc
from typing import Any, TypeVar

import click

F = TypeVar("F", bound=Callable[..., Any])


class Heading(Enum):
    """Headings of a help page, in their order."""

    CUT = "Segmentation"
    RESULTS = "Results"
    INPUTS = "Inputs"
    RUN = "Run"
    START = "Settings"
    METHOD = "Graph and start"
    SOLVER = "Solver"
    OTHER = "Other options"


RANGES = (
    (re.compile(r"(; |  \[)x>=1(?=\])"), r"\1"),
    (re.compile(r"(; |  \[)x>=(\S+?)(?=\])"), r"\1at least \2"),
    (re.compile(r"(; |  \[)(\S+)<=x<=1000000000(?=\])"), r"\1at least \2"),
    (re.compile(r"(; |  \[)(\S+)<=x<=(\S+?)(?=\])"), r"\1from \2 to \3"),
    (re.compile(r"  \[\]|; (?=\])"), ""),
)
"""How help pages say what numbers an option takes.

That a count is at least 1 goes without, and so does the largest number that nobody reaches.
"""


class Option(click.Option):
    """An option that knows its heading."""

    def __init__(self, *args: Any, heading: Heading = Heading.OTHER, **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.heading = heading

    def get_help_record(self, ctx: click.Context) -> tuple[str, str] | None:
        """Say ranges of numbers in words."""
        record = super().get_help_record(ctx)
        if record is None:
            return None
        names, text = record
        for pattern, words in RANGES:
            text = pattern.sub(words, text)
        return names, text


def option(*names: str, heading: Heading, **attributes: Any) -> Callable[[F], F]:
    """Add an option below a heading."""
    return click.option(*names, cls=Option, heading=heading, **attributes)


class Command(click.Command):
    """Lists its options by their headings, those that are named as `common` before all others.

    The common ones follow the first lines of the help page, so that the first screen has them.
    """

    def __init__(self, *args: Any, common: Sequence[str] = (), **attributes: Any) -> None:
        super().__init__(*args, **attributes)
        self.common = common

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Say of commands that take no volumes which one does."""
        takes = {parameter.name for parameter in self.params}
        if "--volume" in args and "volume" not in takes:
            raise click.UsageError(f"'{self.name}' takes no volumes; 'pfeseg segment' does")
        return super().parse_args(ctx, args)

    def format_help_text(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write what the command does, and its common options before the details."""
        summary, _, details = cleandoc(self.help or "").partition("\n\n")
        if not self.common:
            return super().format_help_text(ctx, formatter)
        self._write_text(formatter, summary)
        records = {p.name: p.get_help_record(ctx) for p in self.get_params(ctx)}
        common = [record for name in self.common if (record := records[name]) is not None]
        with formatter.section("Common options"):
            formatter.write_dl(common)
        return self._write_text(formatter, details)

    def _write_text(self, formatter: click.HelpFormatter, text: str) -> None:
        formatter.write_paragraph()
        with formatter.indentation():
            formatter.write_text(text)

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write a section for each heading."""
        sections: dict[Heading, list[tuple[str, str]]] = {heading: [] for heading in Heading}
        for parameter in self.get_params(ctx):
            record = parameter.get_help_record(ctx)
            if isinstance(parameter, click.Option) and record and parameter.name not in self.common:
                sections[getattr(parameter, "heading", Heading.OTHER)].append(record)
        for heading, records in sections.items():
            if records:
                with formatter.section(heading.value):
                    formatter.write_dl(records)
