"""What lies beside the label map of a georeferenced image, by the name of the map."""

from __future__ import annotations

from pathlib import Path


def style_of(labels: Path) -> Path:
    """Name the style in which QGIS shows a label map: it looks for it there."""
    return labels.with_suffix(".qml")


def auxiliary_of(labels: Path) -> Path:
    """Name the file in which GDAL keeps what an image format has no room for."""
    return labels.with_name(f"{labels.name}.aux.xml")


def beside_labels(labels: Path) -> tuple[Path, ...]:
    """Name all that may lie beside a label map and is part of it."""
    return style_of(labels), auxiliary_of(labels)
