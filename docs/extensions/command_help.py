"""Put the help of a command into its page, where ``<!-- help of NAME -->`` stands.

Everything comes from the command itself, under the headings of ``--help``, so that a page can
leave nothing out. Options become targets that other pages, and the index, can link to.
"""

from __future__ import annotations

import re
from inspect import cleandoc
from textwrap import dedent
from typing import Any

import click
from docutils import nodes
from sphinx.application import Sphinx

from pfeseg.cli import main
from pfeseg.cli.help import Command, Heading

PLACE = re.compile(r"^<!-- help of ([\w-]+) -->$", re.MULTILINE)
MARKUP = re.compile(r"([\\`*_{}\[\]<>#|~$^])")
LITERAL = re.compile(r"(?<!\w)'([^']+)'(?!\w)|(?<![\w-])(--?[a-z][\w-]*|STEM\w*\.\w+|\{\w+\})")
"""What is to be typed as it stands: what help quotes, options, and names of files."""

WIDE: dict[str, Any] = {
    "resilient_parsing": True,
    "terminal_width": 10_000,
    "max_content_width": 10_000,
}


def command_help(name: str) -> str:
    """Return the help of a command as Markdown."""
    parent = main.make_context("pfeseg", [], **WIDE)
    command = main.get_command(parent, name)
    assert command is not None
    context = command.make_context(name, [], parent=parent, **WIDE)
    usage = " ".join(["pfeseg", name, *command.collect_usage_pieces(context)])
    text = cleandoc(command.help or "")
    parts = ["## Synopsis", _block(usage), f"```{{program}} pfeseg {name}\n```", "## Description"]
    parts += [_paragraph(paragraph) for paragraph in re.split(r"\n\n+", text)]
    for heading, options in _by_heading(command).items():
        parts.append(f"## {heading}")
        parts += [_option(option, context) for option in options]
    return "\n\n".join(parts) + "\n"


def _by_heading(command: click.Command) -> dict[str, list[click.Option]]:
    """Sort options by the headings of the help page, without those that all commands have."""
    common = command.common if isinstance(command, Command) else ()
    sections: dict[str, list[click.Option]] = {"Common options": []}
    sections |= {heading.value: [] for heading in Heading}
    for option in command.params:
        if isinstance(option, click.Option):
            heading = getattr(option, "heading", Heading.OTHER).value
            sections["Common options" if option.name in common else heading].append(option)
    sections["Common options"].sort(key=lambda option: list(common).index(option.name or ""))
    return {heading: options for heading, options in sections.items() if options}


def _option(option: click.Option, context: click.Context) -> str:
    record = option.get_help_record(context)
    assert record is not None
    names, text = record
    names = names.replace(" / ", ", ")
    return f"```{{option}} {names}\n{_escaped(' '.join(text.split()))}\n```"


def _paragraph(text: str) -> str:
    """Write a paragraph; of one that begins with a backspace, click keeps the lines as they are."""
    kept = text.startswith("\b\n")
    lines = text.removeprefix("\b\n").splitlines()
    if not kept:
        return _escaped(" ".join(line.strip() for line in lines))
    if lines[0].endswith(":"):
        return _escaped(lines[0]) + "\n\n" + _block(dedent("\n".join(lines[1:])))
    return _block("\n".join(lines))


def _block(text: str) -> str:
    return f"```text\n{text}\n```"


def _escaped(text: str) -> str:
    """Write prose as Markdown, what is literal as code."""
    parts, end = [], 0
    for found in LITERAL.finditer(text):
        parts += [MARKUP.sub(r"\\\1", text[end : found.start()]), f"`{found[1] or found[2]}`"]
        end = found.end()
    return "".join([*parts, MARKUP.sub(r"\\\1", text[end:])])


def fill_in(app: Sphinx, page: str, source: list[str]) -> None:
    """Replace the places in a page that is read by the help of their commands."""
    source[0] = PLACE.sub(lambda found: command_help(found[1]), source[0])


def without_links(app: Sphinx, doctree: nodes.document, page: str) -> None:
    """Leave the words of links to other pages, which man pages cannot follow."""
    if app.builder.name == "man":
        for link in list(doctree.findall(nodes.reference)):
            if "://" not in link.get("refuri", ""):
                link.replace_self(link.children)


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen for pages."""
    app.connect("source-read", fill_in)
    app.connect("doctree-resolved", without_links)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
