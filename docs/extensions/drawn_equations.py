"""Draw equations as SVG into the page itself: it needs no script, no font and no network."""

from __future__ import annotations

import re
from typing import Any

import ziamath
from docutils import nodes
from sphinx.application import Sphinx

TEXT_SIZE = 16.0
"""Pixels of one em while drawing; pages have the sizes in em, so that they follow the text."""

ziamath.config.svg2 = False  # else ids of glyphs would repeat within a page


def drawn(latex: str, *, inline: bool) -> str:
    """Return an equation as SVG in the colour of the text; its title is what was written."""
    equation = ziamath.Latex(latex, TEXT_SIZE, color="currentColor", inline=inline, title=latex)
    picture = re.sub(r' (width|height)="([\d.]+)"', _in_em, equation.svg(), count=2)
    depth = equation.getyofst() / TEXT_SIZE
    return picture.replace("<svg ", f'<svg role="img" style="vertical-align: {depth:.3f}em" ', 1)


def _in_em(found: re.Match[str]) -> str:
    return f' {found[1]}="{float(found[2]) / TEXT_SIZE:.3f}em"'


def show_inline(writer: Any, node: nodes.math) -> None:
    """Write an equation within a line."""
    writer.body.append(drawn(node.astext(), inline=True))
    raise nodes.SkipNode


def show_block(writer: Any, node: nodes.math_block) -> None:
    """Write an equation of its own, with its number if it has one."""
    writer.body.append(writer.starttag(node, "div", CLASS="math"))
    writer.body.append(drawn(node.astext(), inline=False))
    if node["number"]:
        writer.body.append(f'<span class="eqno">({node["number"]})</span>')
    writer.body.append("</div>")
    raise nodes.SkipNode


def setup(app: Sphinx) -> dict[str, Any]:
    """Add the renderer ``drawn``."""
    app.add_html_math_renderer("drawn", (show_inline, None), (show_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
