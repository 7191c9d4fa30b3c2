"""A data set laid out as BSDS500 is: its images, and the ground truth of each."""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from pathlib import Path

from pfeseg.errors import InvalidInputError

IMAGE_ENDINGS = (".jpg", ".jpeg", ".png", ".tif", ".tiff")


@dataclass(frozen=True)
class Item:
    """An image of the data set and its ground truth."""

    name: str
    image: Path
    ground_truth: Path


def find_items(root: Path, split: str, limit: int | None = None) -> list[Item]:
    """List the images of a split and the ground truths that belong to them."""
    places = [root, root / "data", root / "BSDS500" / "data", root / "BSR" / "BSDS500" / "data"]
    data = next((place for place in places if (place / "images").is_dir()), None)
    if data is None or not (data / "groundTruth").is_dir():
        raise InvalidInputError(
            f"{root}: expected the folders 'images' and 'groundTruth' of BSDS500 in it"
        )
    folder = data / "images" / split
    if not folder.is_dir():
        splits = ", ".join(sorted(p.name for p in (data / "images").iterdir() if p.is_dir()))
        raise InvalidInputError(f"{folder}: there is no such split; there are: {splits or 'none'}")
    images = sorted(p for p in folder.iterdir() if p.suffix.lower() in IMAGE_ENDINGS)
    if not images:
        raise InvalidInputError(f"{folder}: this folder holds no images")
    for one, other in itertools.pairwise(images):
        if one.stem == other.stem:
            raise InvalidInputError(f"{one} and {other} have the same name; remove one of them")
    truths = data / "groundTruth" / split
    return [Item(p.stem, p, truths / f"{p.stem}.mat") for p in images[:limit]]
