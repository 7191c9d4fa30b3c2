"""The paper's two figures, drawn with matplotlib (an optional extra)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.errors import InvalidInputError
from pfeseg.files.replacing import replacing

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_TILE = 1.7
"""Width of an image in inches."""


def check_matplotlib() -> None:
    """Refuse to go on without matplotlib."""
    from importlib.util import find_spec

    if find_spec("matplotlib") is None:
        raise InvalidInputError(
            "the figures need matplotlib: install it with pip install matplotlib, or go "
            "without them by --no-figures"
        )


def draw_examples(rows: Sequence[tuple[NDArray[Any], Mapping[str, NDArray[np.uint8]]]]) -> Figure:
    """Draw Figure 1: images, and beside each its segmentations with several settings.

    Parameters
    ----------
    rows : sequence of (image, {title: picture of the segmentation})
    """
    from matplotlib.figure import Figure
    from matplotlib.layout_engine import ConstrainedLayoutEngine

    columns = list(rows[0][1])
    heights = [image.shape[0] / image.shape[1] for image, _ in rows]  # all of one width
    figure = Figure(
        figsize=(_TILE * (1 + len(columns)), _TILE * (sum(heights) + 0.2)),
        layout=ConstrainedLayoutEngine(w_pad=0.02, h_pad=0.02, wspace=0, hspace=0),
    )
    axes = figure.subplots(
        len(rows), 1 + len(columns), squeeze=False, gridspec_kw={"height_ratios": heights}
    )
    for line, (image, pictures) in zip(axes, rows, strict=True):
        for axis, picture in zip(line, [image, *pictures.values()], strict=True):
            axis.imshow(picture)
            axis.set_axis_off()
    for axis, name in zip(axes[0], ["original", *columns], strict=True):
        axis.set_title(name, fontsize=9)
    return figure


def draw_times(by_dims: Mapping[int, Sequence[float]], hierarchy: Sequence[float]) -> Figure:
    """Draw Figure 2: box plots of the computing time of PFE for each d, and of the hierarchy.

    Parameters
    ----------
    by_dims : {d: seconds of each image}
        Of start and solve, as in the paper; may be empty.
    hierarchy : sequence of float
        Of all stages, for each image; may be empty.
    """
    from matplotlib.figure import Figure

    widths = [6.0] * bool(by_dims) + [2.0] * bool(hierarchy)
    figure = Figure(figsize=(sum(widths), 3.5), layout="constrained")
    panels = figure.subplots(
        1, len(widths), sharey=True, squeeze=False, gridspec_kw={"width_ratios": widths}
    )[0]
    if by_dims:
        _draw_boxes(panels[0], by_dims)
        panels[0].set_xlabel("embedding dimension d")
        panels[0].set_title("Start and solve of the piecewise flat embedding", fontsize=10)
    if hierarchy:
        _draw_boxes(panels[-1], {0: hierarchy})
        panels[-1].set_xticks([])
        panels[-1].set_xlabel("all stages")
        panels[-1].set_title("Hierarchy of regions", fontsize=10)
    panels[0].set_ylim(bottom=0)
    panels[0].set_ylabel("seconds an image, one thread")
    return figure


def _draw_boxes(axis: Axes, seconds: Mapping[int, Sequence[float]]) -> None:
    axis.boxplot(
        list(seconds.values()),
        positions=list(seconds),
        widths=0.6,
        flierprops={"marker": "+", "markeredgecolor": "tab:red", "markersize": 4},
        medianprops={"color": "tab:red"},
        boxprops={"color": "tab:blue"},
    )
    axis.set_xlim(min(seconds) - 1, max(seconds) + 1)
    axis.tick_params(axis="x", labelsize=7)


def save_figure(figure: Figure, folder: Path, name: str) -> list[Path]:
    """Write a figure as PNG and as PDF."""
    paths = [folder / f"{name}.{kind}" for kind in ("png", "pdf")]
    for path in paths:
        with replacing(path) as file:
            figure.savefig(file, format=path.suffix[1:], dpi=200, bbox_inches="tight")
    return paths
