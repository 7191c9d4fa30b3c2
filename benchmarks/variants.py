"""Try variants of the default preset on BSDS500: one line of the lab book each.

python benchmarks/variants.py BSDS500 --split train --step 2
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from evaluation import every, figures, load, map_items

from pfeseg import Clusters, Settings, segment
from pfeseg.benchmark.dataset import Item
from pfeseg.benchmark.levels import compare_levels
from pfeseg.image import detail, texture
from pfeseg.labels.metrics import Comparison, compare, summarise
from pfeseg.pixels import cooccurrence
from pfeseg.regions import appearance, clusters, cues, merging
from pfeseg.regions.chance import Curve

ROOMS = {
    room.__name__: room
    for room in (appearance, clusters, cues, cooccurrence, detail, merging, texture)
}


@dataclasses.dataclass(frozen=True)
class Variant:
    """Changed settings of a preset, and constants of modules by their full names."""

    name: str
    settings: dict[str, Any] = dataclasses.field(default_factory=dict)
    constants: dict[str, Any] = dataclasses.field(default_factory=dict)
    preset: str = "default"


def without(*what: str) -> dict[str, Any]:
    """Set the weights of all contrasts and differences of some features to 0."""
    chance = merging.CHANCE

    def kept(curves: dict[str, Curve]) -> dict[str, Curve]:
        return {
            name: Curve(0.0, 0.0, 1.0) if any(part in name for part in what) else curve
            for name, curve in curves.items()
        }

    changed = dataclasses.replace(
        chance, contrasts=kept(chance.contrasts), regions=kept(chance.regions)
    )
    return {"pfeseg.regions.merging.CHANCE": changed}


FLAT_EMBEDDING = {
    "features": "lab",
    "neighbours": 4,
    "r_relaxed": 1.5,
    "n_dims": 8,
    "relaxed_iterations": 30,
}

VARIANTS = (
    Variant("default"),
    *(Variant(f"seed {seed}", {"seed": seed}) for seed in range(1, 5)),
    Variant("weights of CIELAB colours", {"features": "lab"}),
    Variant(
        "weights of CIELAB colours, 4 neighbours, r_relaxed = 1.5, d = 8",
        FLAT_EMBEDDING,
    ),
    Variant("8 neighbours", {"neighbours": 8}),
    Variant(
        "neighbours within 2, r_relaxed = 15, d = 12",
        {"neighbours": 2.0, "r_relaxed": 15.0, "n_dims": 12},
    ),
    Variant("neighbours within 3", {"neighbours": 3.0}),
    Variant("neighbours within 4.3", {"neighbours": 4.3}),
    Variant("mutual information of colours alone, start from RGB", {"texture": 0.0}),
    Variant("24 classes of colour", constants={"pfeseg.pixels.cooccurrence.N_CLASSES": 24}),
    Variant("96 classes of colour", constants={"pfeseg.pixels.cooccurrence.N_CLASSES": 96}),
    Variant("colours meet within 2.3", constants={"pfeseg.pixels.cooccurrence.REACH": 2.3}),
    Variant("colours meet within 7", constants={"pfeseg.pixels.cooccurrence.REACH": 7.0}),
    Variant("r_relaxed = 1.5", {"r_relaxed": 1.5}),
    Variant("r_relaxed = 15", {"r_relaxed": 15.0}),
    Variant("no Stage I", {"soc_iterations": 0}),
    Variant("3 SOC iterations", {"soc_iterations": 3}),
    Variant("40 iterations of Stage II", {"relaxed_iterations": 40}),
    Variant("d = 12", {"n_dims": 12}),
    Variant("d = 20", {"n_dims": 20}),
    Variant("start from soft assignments", {"assignment": "soft"}),
    Variant("embedding at 60 pixels", {"max_size": 60}),
    Variant("embedding at 160 pixels", {"max_size": 160}),
    Variant("boundaries not refined", {"refine": False}),
    Variant("no embedding in the merging", constants=without("embedding")),
    Variant(
        "embedding alone in the merging",
        constants=without("lightness", "colour", "materials", "textons"),
    ),
    Variant("no textons", constants=without("textons")),
    Variant("no materials", constants=without("materials")),
    Variant("no means of colour", constants=without("lightness", "colour")),
    Variant("8 clusters", {"cut": Clusters(8)}),
    Variant("8 clusters of pixels", {"cut": Clusters(8), "cluster": "pixels"}),
    Variant(
        "8 clusters of pixels, CIELAB colours, 4 neighbours, r_relaxed = 1.5, d = 8",
        FLAT_EMBEDDING | {"cut": Clusters(8), "cluster": "pixels"},
    ),
    Variant("8 clusters of the paper preset", {"cut": Clusters(8)}, preset="paper"),
    Variant("basins blurred by 2 pixels", constants={"pfeseg.regions.merging.BASIN_BLUR": 2.0}),
    Variant("basins blurred by 3 pixels", constants={"pfeseg.regions.merging.BASIN_BLUR": 3.0}),
    Variant("hierarchy at 240 pixels", constants={"pfeseg.image.detail.DETAIL": 2}),
    Variant(
        "12 materials, 16 textons",
        constants={
            "pfeseg.regions.appearance.N_MATERIALS": 12,
            "pfeseg.regions.appearance.N_TEXTONS": 16,
        },
    ),
)


@contextmanager
def constants_changed(constants: dict[str, Any]) -> Iterator[None]:
    """Change constants of modules for a while."""
    places = {name: name.rpartition(".")[::2] for name in constants}
    before = {name: getattr(ROOMS[room], field) for name, (room, field) in places.items()}
    try:
        for name, (room, field) in places.items():
            setattr(ROOMS[room], field, constants[name])
        yield
    finally:
        for name, (room, field) in places.items():
            setattr(ROOMS[room], field, before[name])


def run(item: Item, variant: Variant) -> tuple[list[Comparison], Comparison, float]:
    """Score all levels of one image, if any, and the labels as the command writes them."""
    image, truths = load(item)
    settings = Settings.preset(variant.preset, **variant.settings)
    with constants_changed(variant.constants):
        started = time.perf_counter()
        result = segment(image, settings, threads=1)
        seconds = time.perf_counter() - started
    levels = compare_levels(result.hierarchy, truths) if result.hierarchy else []
    return levels, compare(result.labels, truths), seconds


def main() -> None:
    """Print a table of variants as Markdown."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("root", type=Path, help="folder of BSDS500")
    parser.add_argument("--split", default="train")
    parser.add_argument("--step", type=int, default=1, help="take every so many images")
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--only", nargs="*", help="names of variants, or parts of them")
    chosen = parser.parse_args()
    items = every(chosen.root, chosen.split, chosen.step)
    print(f"{len(items)} images of {chosen.split}; covering / PRI / VI\n")
    print("| variant | labels as written | ODS | OIS | s/image |\n|---|---|---|---|---|")
    for variant in VARIANTS:
        if chosen.only and not any(part in variant.name for part in chosen.only):
            continue
        results = map_items(run, items, [variant], chosen.jobs)
        written = summarise([[r[1]] for r in results])
        ods, ois = "", ""
        if results[0][0]:
            levels = summarise([r[0] for r in results])
            ods, ois = figures(levels.ods), figures(levels.ois)
        seconds = sum(r[2] for r in results) / len(results)
        print(f"| {variant.name} | {figures(written.ods)} | {ods} | {ois} | {seconds:.2f} |")
        sys.stdout.flush()


if __name__ == "__main__":
    main()
