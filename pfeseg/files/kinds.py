"""The kinds of results: what each is called, how its name ends, and what writes it.

The table `KINDS` is all there is to a kind. It can be read without importing NumPy.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from pfeseg.files.beside import beside_labels

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from pfeseg.image.arrays import Raster
    from pfeseg.segmentation.result import Segmentation


class Segmented:
    """What there is to write about one image.

    Parameters
    ----------
    source : Path
        Where the image came from.
    image : Raster
        As it was read, and stretched.
    result : Segmentation
    overlay_size : int, optional
        Longer side of the overlay; that of the image unless given.
    threads : int, optional
        To write with: all processors unless given; never changes a file.
    band_means : callable, optional
        ``band_means(labels)`` yields the mean of each band of the file in each label, where the
        table of regions is to have more bands than were used.
    """

    def __init__(
        self,
        source: Path,
        image: Raster,
        result: Segmentation,
        overlay_size: int | None = None,
        threads: int | None = None,
        band_means: Callable[[Any], Iterable[Any]] | None = None,
    ) -> None:
        self.source, self.image, self.result = source, image, result
        self.overlay_size, self.threads = overlay_size, threads
        self._band_means = band_means

    @cached_property
    def table(self) -> list[dict[str, Any]]:
        """The rows of the table of regions."""
        from pfeseg.files.regions import table_rows

        means = self._band_means(self.result.labels) if self._band_means else ()
        return table_rows(self.image, self.result.labels, self.result.first_label, means)

    @cached_property
    def contour_map(self) -> NDArray[np.float32]:
        """The ultrametric contour map, of the kinds that need the hierarchy."""
        assert self.result.hierarchy is not None
        return self.result.hierarchy.contour_map()


def _nothing(path: Path) -> tuple[Path, ...]:
    return ()


@dataclass(frozen=True)
class Kind:
    """One kind of result.

    Attributes
    ----------
    suffix : str
        What its name ends in; "{labels_format}" and "{overlay_format}" stand for the formats
        of label maps and of overlays.
    write : callable or None
        ``write(path, of)`` writes it, `of` being all there is to write about one input: an image
        (`Segmented`), or data (`pfeseg.files.clusters`). None for the report, which tells of all
        the others.
    needs_hierarchy : bool
    needs_place : bool
        Written of georeferenced images only.
    is_folder : bool
        Of pictures, one a region; written, kept or replaced as a whole.
    beside : callable
        ``beside(path)`` names what may lie beside it and is part of it.
    bytes_per_pixel : int
        Memory that writing it takes, beyond what labels and overlays do.
    by_tiles : bool
        Whether it is written of rasters that are segmented by tiles too, see `pfeseg.run.tiles`.
    """

    suffix: str
    write: Callable[[Path, Any], None] | None
    needs_hierarchy: bool = False
    needs_place: bool = False
    is_folder: bool = False
    beside: Callable[[Path], tuple[Path, ...]] = _nothing
    bytes_per_pixel: int = 0
    by_tiles: bool = False


def _labels(path: Path, of: Segmented) -> None:
    from pfeseg.files.labels import write_labels

    write_labels(path, of.result.labels, of.threads, of.image)


def _overlay(path: Path, of: Segmented) -> None:
    from pfeseg.files.writing import write_picture
    from pfeseg.pictures.overlay import draw_overlay

    picture = draw_overlay(of.image, of.result.labels, of.overlay_size)
    write_picture(path, picture, of.threads)


def _boundaries(path: Path, of: Segmented) -> None:
    from pfeseg.files.writing import write_png
    from pfeseg.pictures.overlay import draw_boundaries

    write_png(path, draw_boundaries(of.result.labels), of.threads)


def _ucm(path: Path, of: Segmented) -> None:
    from pfeseg.files.matlab import write_contour_map

    write_contour_map(path, of.contour_map)


def _contours(path: Path, of: Segmented) -> None:
    from pfeseg.files.writing import write_png
    from pfeseg.pictures.overlay import draw_contour_map

    write_png(path, draw_contour_map(of.contour_map), of.threads)


def _embedding(path: Path, of: Segmented) -> None:
    from pfeseg.files.writing import write_png
    from pfeseg.image.masks import fill_outside, spread
    from pfeseg.pictures.montage import draw_embedding

    height, width = of.result.small_image.shape[:2]
    rows, mask = of.result.coordinates, of.result.small_mask
    if mask is not None:  # drawn as the nearest pixels that have coordinates
        rows = fill_outside(spread(rows, mask), mask).reshape(height * width, -1)
    write_png(path, draw_embedding(rows, (height, width)))


def _regions(path: Path, of: Segmented) -> None:
    from pfeseg.files.regions import regions_csv
    from pfeseg.files.writing import write_text

    write_text(path, regions_csv(of.table))


def _coco(path: Path, of: Segmented) -> None:
    from pfeseg.files.regions import coco_json
    from pfeseg.files.writing import write_text

    first = of.result.first_label
    write_text(path, coco_json(of.image, of.result.labels, of.source.name, first))


def _geojson(path: Path, of: Segmented) -> None:
    from pfeseg.files.geojson import geojson
    from pfeseg.files.writing import write_text

    write_text(path, geojson(of.result.labels, of.result.first_label, of.image.georeference))


def _geopackage(path: Path, of: Segmented) -> None:
    from pfeseg.files.geopackage import write_geopackage

    assert of.image.georeference is not None
    write_geopackage(path, of.result.labels, of.table, of.image.georeference)


def _masks(path: Path, of: Segmented) -> None:
    from pfeseg.files.masks import write_masks

    write_masks(path, of.result.labels, of.threads, of.result.first_label)


def _cutouts(path: Path, of: Segmented) -> None:
    from pfeseg.files.masks import write_cutouts

    write_cutouts(path, of.image, of.result.labels, of.threads, of.result.first_label)


def _page_data(path: Path, of: Segmented) -> None:
    from pfeseg.files.page_data import write_page_data

    write_page_data(path, of.result)


REPORT = "report"

PAGE = "page"
"""What 'pfeseg report' shows beyond the other results."""

KINDS: dict[str, Kind] = {
    "labels": Kind("_labels.{labels_format}", _labels, beside=beside_labels, by_tiles=True),
    "overlay": Kind("_overlay.{overlay_format}", _overlay, by_tiles=True),
    "boundaries": Kind("_boundaries.png", _boundaries),
    "ucm": Kind("_ucm.mat", _ucm, needs_hierarchy=True),
    "contours": Kind("_ucm.png", _contours, needs_hierarchy=True),
    "embedding": Kind("_embedding.png", _embedding),
    "regions": Kind("_regions.csv", _regions, bytes_per_pixel=22, by_tiles=True),
    "coco": Kind("_coco.json", _coco, bytes_per_pixel=22),
    "geojson": Kind("_regions.geojson", _geojson, bytes_per_pixel=8),
    "geopackage": Kind("_regions.gpkg", _geopackage, needs_place=True, bytes_per_pixel=22),
    "masks": Kind("_masks", _masks, is_folder=True, bytes_per_pixel=8),
    "cutouts": Kind("_cutouts", _cutouts, is_folder=True, bytes_per_pixel=8),
    PAGE: Kind("_page.npz", _page_data, bytes_per_pixel=4),
    REPORT: Kind(".json", None, by_tiles=True),
}
"""The report is always written, and last: it marks what is done."""

SAVEABLE = tuple(kind for kind in KINDS if kind != REPORT)

OF_HIERARCHY = tuple(kind for kind in KINDS if KINDS[kind].needs_hierarchy)

BY_TILES = tuple(kind for kind in SAVEABLE if KINDS[kind].by_tiles)

LABELS_FORMATS = ("png", "tif", "npy")

OVERLAY_FORMATS = ("png", "jpg", "webp")
