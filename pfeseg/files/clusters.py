"""The kinds of results of clustered data: what each is called, and what writes it."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from pfeseg.files.kinds import REPORT, Kind
from pfeseg.files.replacing import replacing
from pfeseg.files.writing import write_png, write_text


@dataclass(frozen=True, eq=False)
class ClusteredData:
    """What there is to write about one file of data.

    Attributes
    ----------
    labels : (n,) int32 array
    embedding : (n, d) array
    values : array or sparse matrix
        The data points as they came, (n, columns), or the weights of a graph, (n, n).
    columns : tuple of str
        Names of the columns; none of a graph.
    ids : tuple of str or None
        Names of the rows or nodes.
    id_name : str
        What these are called.
    """

    labels: NDArray[np.int32]
    embedding: NDArray[np.floating[Any]]
    values: Any
    columns: tuple[str, ...]
    ids: tuple[str, ...] | None
    id_name: str

    @property
    def is_graph(self) -> bool:
        """Whether the values are weights."""
        return not self.columns


def _labels(path: Path, of: ClusteredData) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow((of.id_name, "cluster"))
    names = of.ids or range(1, len(of.labels) + 1)
    writer.writerows(zip(names, of.labels.tolist(), strict=True))
    write_text(path, text.getvalue())


def _embedding(path: Path, of: ClusteredData) -> None:
    with replacing(path) as file:
        np.save(file, of.embedding)


def _picture(path: Path, of: ClusteredData) -> None:
    from pfeseg.pictures.points import draw_points, principal_plane, spectral_plane

    if of.is_graph:
        places, axes = spectral_plane(of.values)
    else:
        places, axes = principal_plane(of.values)
        if not axes[0]:
            axes = (of.columns[0], of.columns[1] if len(of.columns) > 1 else "")
    write_png(path, draw_points(places, of.labels, axes))


CLUSTER_KINDS: dict[str, Kind] = {
    "labels": Kind("_clusters.csv", _labels),
    "embedding": Kind("_embedding.npy", _embedding),
    "picture": Kind("_clusters.png", _picture),
    REPORT: Kind(".json", None),
}
"""The report is always written, and last."""
