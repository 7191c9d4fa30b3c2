"""Names of the methods: the piecewise flat embedding and its rivals."""

from __future__ import annotations

from typing import Literal, get_args

Method = Literal["pfe", "le", "sc", "wsc", "ncut", "gmm", "kmeans"]

METHODS: tuple[Method, ...] = get_args(Method)

TITLES: dict[Method, str] = {
    "pfe": "PFE",
    "le": "Laplacian eigenmaps",
    "sc": "spectral clustering (SC)",
    "wsc": "weighted SC",
    "ncut": "normalised cuts (NCut)",
    "gmm": "GMM of the colours",
    "kmeans": "k-means of the colours",
}

WITHOUT_DIMENSION: tuple[Method, ...] = ("ncut", "gmm", "kmeans")
"""Methods that know a number of segments k, but no dimension d."""

CUTS = ("n_segments", "n_regions", "level")
"""Settings that say how labels are cut, at most one of which is given."""
