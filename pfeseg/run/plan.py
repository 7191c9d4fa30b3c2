"""What a batch is to do: which images, where their results go, and what is there already."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from pfeseg.errors import SMALLER_IMAGE
from pfeseg.files.inputs import STANDARD_INPUT, Input
from pfeseg.files.kinds import KINDS
from pfeseg.files.names import (
    Plan,
    check_plan,
    check_template,
    find_clash,
    result_paths,
    telling_apart,
)
from pfeseg.run.task import FileTask
from pfeseg.segmentation.methods import METHOD_VERSION
from pfeseg.segmentation.settings import Settings
from pfeseg.volumes.settings import VolumeSettings


@dataclass(frozen=True)
class Task(FileTask):
    """One image to segment.

    Attributes
    ----------
    source : Path
    results : ResultPaths
        The report last; see `pfeseg.files.kinds`.
    settings : Settings or VolumeSettings
    content : bytes or None
        The image, where it does not come from the file `source`.
    page : int
    allow_huge : bool
    mask : str or None
    nodata : tuple of float
        As for `read_raster`.
    overlay_size : int or None
        Longer side of the overlay, if not that of the image.
    memory_limit : float or None
        Bytes that the segmentation may take.
    spacing : tuple of float or None
        Of the voxels of a volume, if not what the file tells.
    tile : int or None
        Size of the tiles in which it is segmented, if it is not segmented as a whole.
    """

    settings: Settings | VolumeSettings
    content: bytes | None = None
    page: int | None = None
    allow_huge: bool = False
    mask: str | None = None
    nodata: tuple[float, ...] = ()
    overlay_size: int | None = None
    memory_limit: float | None = None
    spacing: tuple[float, float, float] | None = None
    tile: int | None = None

    kinds: ClassVar = KINDS
    method_version: ClassVar = METHOD_VERSION
    for_less_memory: ClassVar = SMALLER_IMAGE

    @property
    def name(self) -> str:
        """What to call the image."""
        return self.source.name if self.content is None else "standard input"

    @property
    def full_name(self) -> str:
        """What to call the image in errors and warnings."""
        return str(self.source) if self.content is None else "standard input"

    @property
    def needs_hierarchy(self) -> bool:
        """Whether a result is made of the hierarchy of regions."""
        return any(self.kinds[kind].needs_hierarchy for kind in self.results)

    @property
    def bytes_to_write(self) -> int:
        """Memory that writing the results takes for each pixel."""
        return max(self.kinds[kind].bytes_per_pixel for kind in self.results)

    def sources(self) -> dict[str, Path | bytes]:
        """Return the files, or contents, of which results are made, as a report calls them."""
        found: dict[str, Path | bytes] = {
            "input": self.source if self.content is None else self.content
        }
        if self.mask and Path(self.mask).exists():
            found["mask"] = Path(self.mask)
        return found

    def options(self) -> dict[str, Any]:
        """Return what was asked for beside the settings, as a report holds it."""
        return {
            "page": self.page,
            "mask": self.mask,
            "nodata": [str(value) for value in self.nodata] or None,
            "tile": self.tile,
            "given_spacing": list(self.spacing) if self.spacing else None,
            "overlay_size": self.overlay_size,
        }


def plan_results(
    inputs: Sequence[Input],
    output: Path | None,
    kinds: Sequence[str],
    *,
    template: str = "{stem}",
    labels_format: str = "png",
    overlay_format: str = "png",
) -> Plan:
    """Decide where every result goes; what cannot work is refused before any work.

    Results go below `output`, in the subfolders of their inputs, or beside the inputs.
    """
    check_template(template)

    shared: dict[Path, Path] = {}  # one of each folder, however many results it will have

    def folder_of(item: Input) -> Path:
        folder = output / item.subfolder if output else item.path.parent
        return shared.setdefault(folder, folder)

    def planned(template: str) -> Plan:
        return {
            item.path: result_paths(
                item.path,
                folder_of(item),
                kinds,
                template=template,
                labels_format=labels_format,
                overlay_format=overlay_format,
            )
            for item in inputs
            if not item.problem
        }

    plan = planned(template)
    check_plan(plan, lambda: _advice(template, planned))
    return plan


def _advice(template: str, planned: Callable[[str], Plan]) -> str:
    """Find what tells inputs apart that clash; `planned` makes the plan of a template."""
    for other in telling_apart(template):
        if not find_clash(planned(other)):
            return f"--template '{other}' tells them apart"
    return (
        "without -o results go beside their inputs, and of one folder above all of them, given "
        "with -r, subfolders are mirrored"
    )


def make_tasks(
    inputs: Sequence[Input],
    plan: Plan,
    settings: Settings | VolumeSettings,
    *,
    content: bytes | None = None,
    page: int | None = None,
    allow_huge: bool = False,
    mask: str | None = None,
    nodata: tuple[float, ...] = (),
    overlay_size: int | None = None,
    memory_limit: float | None = None,
    spacing: tuple[float, float, float] | None = None,
    tile: int | None = None,
    replaces: bool = True,
) -> list[Task]:
    """Make a task of each input that has no problem; `content` is that of standard input."""
    return [
        Task(
            item.path,
            plan[item.path],
            settings,
            content=content if item.path == STANDARD_INPUT else None,
            page=page,
            allow_huge=allow_huge,
            mask=mask,
            nodata=nodata,
            overlay_size=overlay_size,
            memory_limit=memory_limit,
            spacing=spacing,
            tile=tile,
            replaces=replaces,
        )
        for item in inputs
        if not item.problem
    ]
