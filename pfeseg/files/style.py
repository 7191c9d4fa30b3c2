"""A style for QGIS: a label map in the colours of its overlay."""

from __future__ import annotations

from typing import Any
from xml.etree import ElementTree

import numpy as np
from numpy.typing import NDArray

from pfeseg.pictures.colours import region_colours
from pfeseg.pictures.overlay import TINT


def qgis_style(labels: NDArray[np.integer[Any]], first: int = 0) -> str:
    """Return a style that shows each label in its colour of the overlay, and as transparent.

    `first` is the first label that counts; those before it are not shown.
    """
    root = ElementTree.Element("qgis", version="3.0", styleCategories="Symbology")
    renderer = ElementTree.SubElement(
        ElementTree.SubElement(root, "pipe"),
        "rasterrenderer",
        type="paletted",
        band="1",
        opacity=f"{TINT:g}",
        alphaBand="-1",
        nodataColor="",
    )
    palette = ElementTree.SubElement(renderer, "colorPalette")
    colours = np.rint(255 * region_colours(labels)).astype(int).tolist()
    for label, (red, green, blue) in enumerate(colours[first:], first):
        ElementTree.SubElement(
            palette,
            "paletteEntry",
            value=str(label),
            label=str(label),
            color=f"#{red:02x}{green:02x}{blue:02x}",
            alpha="255",
        )
    ElementTree.indent(root)
    heading = "<!DOCTYPE qgis PUBLIC 'http://mrcc.com/qgis.dtd' 'SYSTEM'>\n"
    return heading + ElementTree.tostring(root, encoding="unicode") + "\n"
