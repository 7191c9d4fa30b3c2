"""Types in docstrings are prose, such as "(h, w) array, optional": link what is a public name.

Sphinx takes every word of them for the name of a class, and would look for one called "array",
or find an attribute called "image".
"""

from __future__ import annotations

from typing import Any

from docutils import nodes
from sphinx.addnodes import pending_xref
from sphinx.application import Sphinx

import pfeseg


def link_public_names(app: Sphinx, doctree: nodes.document) -> None:
    """Link public names in types, and turn other references of types into the words they were."""
    for reference in list(doctree.findall(pending_xref)):
        name = str(reference.get("reftarget", "")).rpartition(".")[2]
        is_type = reference.get("refdomain") == "py" and reference["reftype"] in ("class", "exc")
        if is_type and name in pfeseg.__all__:
            reference["reftarget"] = f"pfeseg.{name}"
        elif is_type:
            reference.replace_self(reference.children)
    for text in list(doctree.findall(nodes.Text)):
        if text == " -- ":  # which Sphinx puts between a type and what it is of
            text.parent.replace(text, nodes.Text(" \N{EN DASH} "))


def setup(app: Sphinx) -> dict[str, Any]:
    """Listen for pages."""
    app.connect("doctree-read", link_public_names)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
