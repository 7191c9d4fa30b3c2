"""How Sphinx builds this site; ``make docs`` runs it."""

from __future__ import annotations

import sys
from pathlib import Path

import pfeseg
from pfeseg.cli import COMMANDS

DOCS = Path(__file__).parent
sys.path.insert(0, str(DOCS / "extensions"))

project = "pfeseg"
author = "The pfeseg developers"
release = version = pfeseg.__version__
copyright = author

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.napoleon",
    "drawn_equations",
    "command_help",
    "plain_types",
]
exclude_patterns = ["extensions", "examples"]

smartquotes = False  # which would make one dash of the two of options
myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 3
myst_dmath_double_inline = True

# What is in single backticks in a docstring is a name. Public ones must be linked; others, such as
# constants and modules, stay words.
default_role = "py:obj"
nitpicky = True
_PUBLIC = rf"(pfeseg\.)?({'|'.join(pfeseg.__all__)})\b"
nitpick_ignore_regex = [("py:obj", rf"(?!{_PUBLIC}).*"), ("py:exc", "NotFittedError")]
napoleon_use_rtype = False
napoleon_preprocess_types = False
autodoc_typehints = "none"  # docstrings have the types, with the shapes of arrays
autodoc_member_order = "bysource"
add_module_names = False

html_math_renderer = "drawn"
html_theme = "furo"
html_title = f"pfeseg {release}"
html_static_path = ["style"]
html_css_files = ["site.css"]
html_copy_source = False
html_show_copyright = False

man_pages = [
    ("commands", "pfeseg", "cut photographs into their regions", "", 1),
    *(
        (f"commands/{name}", f"pfeseg-{name}", text[0].lower() + text[1:].rstrip("."), "", 1)
        for name, text in COMMANDS.items()
    ),
]
