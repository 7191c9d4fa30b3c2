"""Wrong arguments of every public function get errors of our own, in one line."""

from __future__ import annotations

import dataclasses
import inspect
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers import SAMPLES
from scipy.sparse import csr_array

import pfeseg
from pfeseg import (
    Clusters,
    Georeference,
    Graph,
    Level,
    PFEClustering,
    PfesegError,
    PiecewiseFlatEmbedding,
    PreparedImage,
    Regions,
    Settings,
    SolverSettings,
    VolumeSettings,
)

pytestmark = pytest.mark.filterwarnings("ignore::pfeseg.PfesegWarning")


class Broken:
    def __array__(self, dtype=None, copy=None):
        raise RuntimeError("there is\nno array")


ODD = {
    "None": None,
    "text": "odd",
    "bytes": b"odd",
    "negative": -1,
    "zero": 0,
    "half": 0.5,
    "NaN": float("nan"),
    "infinite": float("inf"),
    "huge": 10**400,
    "truth": True,
    "list": [],
    "ragged": [[1, 2], [3]],
    "dict": {},
    "object": object(),
    "broken": Broken(),
    "Path": Path("there is none.png"),
    "Settings": Settings(),
    "empty": np.zeros((0, 3)),
    "no columns": np.zeros((3, 0)),
    "4-D": np.zeros((2, 2, 2, 2)),
    "NaNs": np.full((4, 4), np.nan),
    "far apart": np.array([[-1e308, 1e308]]),
    "complex": np.zeros((4, 4), complex),
    "objects": np.full((4, 4), None),
    "words": np.full((4, 4), "a"),
    "masked": np.ma.masked_all((4, 4)),
    "negatives": -np.ones((4, 4), int),
    "wide": np.full((4, 4), 2**64 - 1, np.uint64),
    "sparse": csr_array(np.ones((3, 4))),
}

IMAGE = np.zeros((12, 16, 3), np.uint8)
IMAGE[:, 8:] = (250, 200, 0)
LABELS = (IMAGE[..., 0] > 0).astype(int)
FAST = SolverSettings(soc_iterations=1, relaxed_iterations=2)
QUICK = Settings(max_size=8, n_dims=2, solver=FAST)


def fields(values: Any) -> dict[str, Any]:
    return {field.name: getattr(values, field.name) for field in dataclasses.fields(values)}


def make_calls() -> dict[str, tuple[Callable[..., Any], dict[str, Any]]]:
    """Return each public function and method, and arguments that it takes."""
    graph, Y0 = pfeseg.build_pixel_graph(IMAGE), pfeseg.gmm_initial_embedding(IMAGE, 2)
    embedding = pfeseg.embed(graph, Y0, FAST)
    prepared = PreparedImage(IMAGE, QUICK.changed(max_size=16))
    merged, _ = prepared.merge(embedding)
    tree, raster = merged.hierarchy, pfeseg.as_raster(IMAGE)
    X = np.random.default_rng(0).normal(size=(12, 2)) + np.repeat([[0], [9]], 6, axis=0)
    model = {"n_neighbors": 3, "init": "spectral", "solver": FAST, "random_state": 0, "n_jobs": 1}
    model |= {"affinity": "nearest_neighbors", "gamma": None}
    clusterer = PFEClustering(2, **model).fit(X)
    embedder = PiecewiseFlatEmbedding(2, **model).fit(X)
    swept = pfeseg.sweep(IMAGE, [(2, 2)], settings=QUICK)
    stages = {"image": IMAGE, "Y": embedding.Y, "degrees": graph.degrees, "shape": (12, 16),
              "seed": 0, "refine": True, "threads": 1}  # fmt: skip
    texture = np.zeros((12, 16, 2))
    place = Georeference(None, (1, 0, 0, 0, 1, 0))
    scene = SAMPLES / "scene.png"
    return {
        "as_raster": (pfeseg.as_raster, {"image": IMAGE, "stretch": "auto", "bands": "auto",
                                         "mask": LABELS}),
        "build_hierarchy": (pfeseg.build_hierarchy, stages),
        "cluster_regions": (pfeseg.cluster_regions, stages | {"n_clusters": 2}),
        "build_pixel_graph": (pfeseg.build_pixel_graph, {
            "image": IMAGE, "neighbours": 4, "features": "rgb", "sigma": 1.0, "texture": texture,
            "seed": 0}),
        "clean_regions": (pfeseg.clean_regions, {"labels": LABELS, "image": IMAGE, "smallest": 3}),
        "cluster_embedding": (pfeseg.cluster_embedding, {"Y": Y0, "n_segments": 2, "seed": 0}),
        "downsample": (pfeseg.downsample, {"image": IMAGE, "factor": 2}),
        "draw_overlay": (pfeseg.draw_overlay, {"image": IMAGE, "labels": LABELS,
                                               "overlay_size": 9}),
        "embed": (pfeseg.embed, {"graph": graph, "Y0": Y0, "settings": FAST, "on_iteration": None,
                                 "threads": 1}),
        "enlarge_labels": (pfeseg.enlarge_labels, {"labels": LABELS, "shape": (20, 30)}),
        "gmm_initial_embedding": (pfeseg.gmm_initial_embedding, {
            "image": IMAGE, "n_dims": 2, "assignment": "hard", "seed": 0, "texture": texture}),
        "measure_texture": (pfeseg.measure_texture, {"image": IMAGE, "shape": (6, 8)}),
        "read_raster": (pfeseg.read_raster, {
            "source": scene, "stretch": "auto", "bands": "auto", "page": 0, "allow_huge": False,
            "mask": scene, "nodata": (), "name": None}),
        "refine_labels": (pfeseg.refine_labels, {"labels": LABELS[::2, ::2], "image": IMAGE}),
        "score": (pfeseg.score, {"labels": LABELS, "ground_truths": LABELS}),
        "segment": (pfeseg.segment, {
            "image": IMAGE, "settings": QUICK, "on_iteration": None, "n_dims": 2, "seed": 0,
            "mask": np.ones((12, 16)), "hierarchy": False, "threads": 1, "on_stage": None}),
        "segment, level": (pfeseg.segment, {"image": IMAGE, "settings": QUICK, "level": 0.5}),
        "segment, regions": (pfeseg.segment, {"image": IMAGE, "settings": QUICK, "n_regions": 2}),
        "segment, clusters": (pfeseg.segment, {"image": IMAGE, "settings": QUICK,
                                               "n_clusters": 2}),
        "segment, preset": (pfeseg.segment, {"image": IMAGE[:, :9], "preset": "default"}),
        "segment_prepared": (pfeseg.segment_prepared, {
            "prepared": prepared, "n_dims": 2, "cut": Level(0.5), "method": "pfe",
            "on_iteration": None, "hierarchy": False}),
        "segment_volume": (pfeseg.segment_volume, {
            "volume": np.indices((4, 5, 5)).sum(axis=0), "settings": VolumeSettings(2),
            "on_iteration": None, "spacing": (1, 1, 1), "threads": 1, "on_stage": None}),
        "sweep": (pfeseg.sweep, {
            "image": IMAGE, "pairs": [(2, 2)], "candidates": [(2, 2)], "settings": QUICK,
            "jobs": 1, "engine": None, "reader": None, "on_dimension": None,
            "on_iteration": None, "threads": 1, "on_stage": None}),
        "sweep, dims": (pfeseg.sweep, {"image": IMAGE, "dims": [2], "n_clusters": [2],
                                       "settings": QUICK}),
        "write_labels": (pfeseg.write_labels, {"path": "labels.png", "labels": LABELS,
                                               "threads": 1, "image": raster}),
        "Clusters": (Clusters, {"n_clusters": 3}),
        "Clusters.count": (Clusters("dims").count, {"n_dims": 3}),
        "Regions": (Regions, {"n_regions": 3}),
        "Level": (Level, {"level": 0.3}),
        "Georeference": (Georeference, fields(place)),
        "Georeference.to_map": (place.to_map, {"x": 1, "y": 2}),
        "Georeference.from_row": (place.from_row, {"row": 2}),
        "Graph.from_edges": (Graph.from_edges, {"n_nodes": 2, "edges": [(0, 1)], "weights": [1.0],
                                                "positions": [[0], [1]]}),
        "Graph.from_matrix": (Graph.from_matrix, {"W": csr_array(np.ones((2, 2))),
                                                  "positions": [[0], [1]]}),
        "Hierarchy.cut": (tree.cut, {"level": 0.5}),
        "Hierarchy.with_regions": (tree.with_regions, {"n_regions": 2}),
        "Hierarchy.grouped": (tree.grouped, {"n_regions": 2}),
        "Hierarchy.pruned": (tree.pruned, {"level": 0.5}),
        "Hierarchy.next_steps": (tree.next_steps, {"n_regions": 2}),
        "Hierarchy.resized": (tree.resized, {"base": tree.base}),
        "Hierarchy.absorb_splinters": (tree.absorb_splinters, {"base": tree.base, "smallest": 2}),
        "Hierarchy.plot": (tree.plot, {"ax": None}),
        "Embedding.plot": (embedding.plot, {"ax": None}),
        "Segmentation.plot": (pfeseg.segment(IMAGE, QUICK).plot, {"ax": None}),
        "PreparedImage": (PreparedImage, {"image": IMAGE, "settings": QUICK, "once": False,
                                          "threads": 1, "on_stage": None}),
        "PreparedImage.start": (prepared.start, {"n_components": 2}),
        "PreparedImage.embed": (prepared.embed, {"solver": prepared.solver, "Y0": Y0,
                                                 "on_iteration": None}),
        "PreparedImage.eigenmaps": (prepared.eigenmaps, {"n_vectors": 2}),
        "PreparedImage.place": (prepared.place, {"name": "pfe", "n_dims": 2, "k": 2,
                                                 "on_iteration": None}),
        "PreparedImage.lay_out": (prepared.lay_out, {"labels": LABELS.ravel()}),
        "PreparedImage.merge": (prepared.merge, {"embedding": embedding}),
        "PreparedImage.cluster": (prepared.cluster, {"merged": merged, "k": 2}),
        "PreparedImage.full_hierarchy": (prepared.full_hierarchy, {"tree": tree}),
        "PreparedImage.full_labels": (prepared.full_labels, {"small_labels": LABELS}),
        "PreparedImage.clean": (prepared.clean, {"labels": LABELS, "min_region": 3}),
        "PreparedImage.clean_small": (prepared.clean_small, {"small_labels": LABELS}),
        "Raster.like": (raster.like, {"array": IMAGE, "inside": None}),
        "Settings": (Settings, fields(QUICK)),
        "Settings.preset": (Settings.preset, {"name": "paper"}),
        "Settings.changed": (QUICK.changed, {"seed": 1, "lam": 3.0}),
        "Settings.shrinking": (QUICK.shrinking, {"shape": (3, 4)}),
        "Settings.dims_for": (Settings().dims_for, {"small_shape": (3, 4), "n_pixels": None}),
        "Settings.from_dict": (Settings.from_dict, {"values": QUICK.to_dict()}),
        "Settings.from_json": (Settings.from_json, {"text": QUICK.to_json()}),
        "SolverSettings": (SolverSettings, fields(FAST)),
        "VolumeSettings": (VolumeSettings, fields(VolumeSettings())),
        "VolumeSettings.from_dict": (VolumeSettings.from_dict, {
            "values": VolumeSettings().to_dict()}),
        "Sweep.labels": (swept.labels, {"trial": swept.best}),
        "Sweep.shown_labels": (swept.shown_labels, {"trial": swept.best}),
        "PFEClustering": (lambda **given: PFEClustering(**given).fit(X), model | {"n_clusters": 2}),
        "PFEClustering.fit": (PFEClustering(2, **model).fit, {"X": X}),
        "PFEClustering.predict": (clusterer.predict, {"X": X}),
        "PiecewiseFlatEmbedding": (lambda **given: PiecewiseFlatEmbedding(**given).fit(X),
                                   model | {"n_components": 2}),
        "PiecewiseFlatEmbedding.fit": (PiecewiseFlatEmbedding(2, **model).fit, {"X": X}),
        "PiecewiseFlatEmbedding.fit_transform": (
            PiecewiseFlatEmbedding(2, **model).fit_transform, {"X": X}),
        "PiecewiseFlatEmbedding.transform": (embedder.transform, {"X": X}),
    }  # fmt: skip


CALLS = make_calls()

MADE_BY_FUNCTIONS = {
    *("Automatic", "Embedding", "Graph", "Hierarchy", "IterationRecord", "Raster", "Scores"),
    *("Segmentation", "Sweep", "Trial", "VolumeSegmentation", "Graph.unchecked"),
}
"""Classes that nobody need call by name, and what promises that nothing is wrong."""


def test_no_public_function_is_left_out():
    for name in set(pfeseg.__all__) - MADE_BY_FUNCTIONS:
        value = getattr(pfeseg, name)
        if not (inspect.isclass(value) and issubclass(value, Exception)):
            assert name in CALLS
    for name in pfeseg.__all__:
        kind = getattr(pfeseg, name)
        for method, value in vars(kind).items() if inspect.isclass(kind) else ():
            function = getattr(value, "__func__", value)
            if not method.startswith("_") and inspect.isfunction(function):
                takes_something = len(inspect.signature(function).parameters) > 1
                called = f"{name}.{method}" in CALLS or f"{name}.{method}" in MADE_BY_FUNCTIONS
                assert called or not takes_something, f"{name}.{method}"


def error_of(function: Callable[..., Any], arguments: dict[str, Any]) -> Exception | None:
    try:
        function(**arguments)
    except Exception as error:
        return error
    return None


@pytest.mark.parametrize("name", CALLS)
def test_wrong_arguments_get_our_errors(name, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "agg")
    function, arguments = CALLS[name]
    function(**arguments)
    refused = 0
    for argument in arguments:
        for what, odd in ODD.items():
            error = error_of(function, arguments | {argument: odd})
            # Of data that are no numbers, scikit-learn's checks of estimators ask a TypeError.
            ours = (PfesegError, TypeError) if argument == "X" else PfesegError
            assert error is None or isinstance(error, ours), f"{argument}={what}: {error!r}"
            assert "\n" not in str(error)
            assert len(str(error)) < 400
            refused += error is not None
    assert refused > len(arguments)
