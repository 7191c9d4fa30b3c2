"""The one HTML file of a page: its template, its style, its scripts and its data."""

from __future__ import annotations

import base64
import hashlib
import html
from collections.abc import Iterable, Mapping
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

from pfeseg import __version__
from pfeseg.files.replacing import replacing
from pfeseg.page.packing import script_json

SCRIPTS = {
    "batch": ("basics", "labels", "png", "stage", "plots", "image", "batch"),
    "sweep": ("basics", "labels", "png", "stage", "sweep"),
    "bsds": ("basics", "plots", "bsds"),
}
"""Files in `web`, in order, that a kind of page needs."""

POLICY = (
    "default-src 'none'; base-uri 'none'; form-action 'none'; style-src 'unsafe-inline'; "
    "script-src 'sha256-{digest}'{files}; img-src data: blob:{files}"
)
"""What the browser lets a page do: nothing over the network, and no script but its own."""


def page_html(
    kind: str, title: str, data: Any, more: Mapping[str, Any] | None = None, beside: bool = False
) -> Iterable[str]:
    """Write a page, piece by piece.

    Parameters
    ----------
    kind : {"batch", "sweep", "bsds"}
    title : str
        Any text; it is escaped.
    data : JSON value
        What the page shows at once.
    more : mapping from ids to JSON values, optional
        What it shows later.
    beside : bool
        Whether the page may load files that lie beside it.
    """
    parts = {"page-data": data} | dict(more or {})
    script = "\n".join(['\n"use strict";', *(_web(f"{name}.js") for name in SCRIPTS[kind])])
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    shown = Template(_web("page.html")).substitute(
        version=__version__,
        policy=html.escape(POLICY.format(digest=digest, files=" 'self' file:" if beside else "")),
        title=html.escape(
            "".join(c if c.isprintable() else "\N{REPLACEMENT CHARACTER}" for c in title)
        ),
        style=_web("style.css"),
        script=script,
        data=_HERE,
    )
    before, after = shown.split(_HERE)
    yield before
    for name, value in parts.items():
        yield f'<script type="application/json" id="{name}">{script_json(value)}</script>\n'
    yield after


def write_page(path: Path, pieces: Iterable[str]) -> None:
    """Write the pieces of a page."""
    with replacing(path) as file:
        file.writelines(piece.encode() for piece in pieces)


_HERE = "<!-- data -->"


def _web(name: str) -> str:
    return files("pfeseg.page").joinpath("web", name).read_text(encoding="utf-8")
