"""Settings as earlier versions of pfeseg wrote them into reports."""

from __future__ import annotations

from typing import Any

OLD_CUTS = {"n_segments": "n_clusters", "n_regions": "n_regions", "level": "level"}
"""The numbers by which labels were cut, each a setting then, and what each is called in a cut."""


def of_this_version(values: dict[str, Any]) -> dict[str, Any]:
    """Translate settings, those of this version to themselves."""
    for translate in (_one_cut, _threads_apart, _clusters_of_pixels):
        values = translate(values)
    return values


def _one_cut(values: dict[str, Any]) -> dict[str, Any]:
    """Make one cut of the numbers, of which one was given at most."""
    if "cut" in values or not OLD_CUTS.keys() & values.keys():
        return values
    cut = {new: values[old] for old, new in OLD_CUTS.items() if values.get(old) is not None}
    return {name: value for name, value in values.items() if name not in OLD_CUTS} | {"cut": cut}


def _threads_apart(values: dict[str, Any]) -> dict[str, Any]:
    """Leave out the threads, which were settings of the solver."""
    if "threads" not in values.get("solver", {}):
        return values
    solver = {name: value for name, value in values["solver"].items() if name != "threads"}
    return values | {"solver": solver}


def _clusters_of_pixels(values: dict[str, Any]) -> dict[str, Any]:
    """Say that clusters were those of pixels, as all of them were."""
    cut = values.get("cut")
    clusters = isinstance(cut, dict) and cut.get("n_clusters") is not None
    return values | {"cluster": "pixels"} if clusters and "cluster" not in values else values
