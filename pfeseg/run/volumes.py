"""One volume of a batch: read, cut, and its results written."""

from __future__ import annotations

from pfeseg.errors import InvalidInputError
from pfeseg.files.volumes import read_volume, write_label_volume
from pfeseg.files.writing import write_picture
from pfeseg.pictures.slices import draw_slices
from pfeseg.run.plan import Task
from pfeseg.run.results import input_facts, write_results
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.volumes.memory import refuse_too_large_volume
from pfeseg.volumes.segment import segment_volume
from pfeseg.volumes.settings import VolumeSettings

ISOTROPIC = (1.0, 1.0, 1.0)


def segment_and_write_volume(
    task: Task, threads: int | None, on_stage: OnStage | None
) -> tuple[int, dict[str, float]]:
    """Segment one volume and write its results, the report last; returns regions and timings."""
    settings = task.settings
    assert isinstance(settings, VolumeSettings)
    clock, facts, name = Clock(on_stage), input_facts(task), task.full_name
    with clock("read"):
        source = task.source if task.content is None else task.content
        volume, told = read_volume(source, allow_huge=task.allow_huge, name=name)
    spacing = task.spacing or told or ISOTROPIC
    try:
        refuse_too_large_volume(volume, settings, task.memory_limit)
        result = segment_volume(
            volume, settings, spacing=spacing, threads=threads, on_stage=on_stage
        )
    except InvalidInputError as error:
        raise InvalidInputError(f"{name}: {error.marked}") from error

    def write() -> None:
        if "labels" in task.results:
            write_label_volume(task.results["labels"], result.labels, spacing)
        if "overlay" in task.results:
            sheet = draw_slices(result.image, result.labels, spacing)
            write_picture(task.results["overlay"], sheet, threads)

    timings = write_results(task, facts, clock, write, result.report, result.timings)
    return result.n_regions, timings
