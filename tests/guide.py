"""The pages that show how pfeseg is used: their examples, links and headings."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from helpers import ROOT

_BLOCK = re.compile(
    r"^(?:<!-- not run: (?P<reason>[^\n]+) -->\n)?```(?P<language>\w*)\n(?P<text>.*?)^```$",
    re.DOTALL | re.MULTILINE,
)
_VALUE = re.compile(r"^(\S.*?)  # (array\(.*\)|True|False|\(.*\)|'.*'|-?\d[\d.]*)$", re.MULTILINE)
"""A line of Python whose comment is its value."""

_TIMES = re.compile(r"\d+\.\d+ s\b|(?<=  )\d+\.\d\d(?=\n|  <-|$)")
"""Times, in sentences and at the ends of the rows of a table, which differ from run to run."""


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, its text, and why it is not run, if it is not."""

    language: str
    text: str
    reason: str | None


@dataclass(frozen=True)
class Page:
    """A page of Markdown below the root of the project."""

    path: Path

    @property
    def name(self) -> str:
        return str(self.path.relative_to(ROOT))

    @cached_property
    def text(self) -> str:
        return self.path.read_text(encoding="utf-8")

    @property
    def blocks(self) -> list[Block]:
        found = _BLOCK.finditer(self.text)
        return [Block(m["language"], m["text"], m["reason"]) for m in found]

    @property
    def prose(self) -> str:
        """The page without its blocks and comments."""
        return re.sub(r"<!--.*?-->", "", _BLOCK.sub("", self.text), flags=re.DOTALL)

    @property
    def links(self) -> list[str]:
        """What the page links to, pictures too."""
        return re.findall(r"\]\(([^)\s]+)\)", self.prose)

    @property
    def anchors(self) -> set[str]:
        """What a link can name behind a #, as GitHub makes it of the headings."""
        titles = re.findall(r"^#+ (.+)$", self.prose, re.MULTILINE)
        kept = (re.sub(r"[^\w\- ]", "", title.replace("`", "").lower()) for title in titles)
        return {words.replace(" ", "-") for words in kept}

    def run(self, folder: Path) -> None:
        """Run all examples in a folder, and compare with what the page says they print or are."""
        printed, names = "", dict[str, Any]()
        for block in self.blocks:
            if block.reason:
                continue
            if block.language == "sh":
                printed = run_shell(block.text, folder)
            elif block.language == "python":
                run_python(block.text, names)
            elif block.language == "text":
                shown = without_times(block.text)
                assert shown.strip() in without_times(printed), (
                    f"{block.text}\nis not in\n{printed}"
                )


def without_times(text: str) -> str:
    return _TIMES.sub("TIME", text)


def run_shell(text: str, folder: Path) -> str:
    """Run a block as a script of bash; returns all that it printed."""
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}{os.pathsep}{os.environ['PATH']}"}
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text], cwd=folder, env=environment, text=True,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False,
    )  # fmt: skip
    assert done.returncode == 0, f"{text}\nended with {done.returncode}:\n{done.stdout}"
    return done.stdout


def run_python(text: str, names: dict[str, Any]) -> None:
    """Run a block line by line of thought; comments behind expressions state their values."""
    exec(text, names)
    for expression, value in _VALUE.findall(text):
        found = eval(expression, names)
        assert value in (repr(found), str(found)), f"{expression} is {found!r}, not {value}"


GUIDES = [
    Page(path)
    for path in (
        ROOT / "README.md",
        ROOT / "docs" / "tutorial.md",
        ROOT / "docs" / "gallery.md",
        *sorted((ROOT / "docs" / "how-to").glob("*.md")),
    )
]
