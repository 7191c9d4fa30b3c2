"""One volume of a batch: read, cut, and its results written."""

from __future__ import annotations

from pfeseg.errors import InvalidInputError
from pfeseg.files.kinds import REPORT
from pfeseg.files.replacing import appearing_together
from pfeseg.files.report import report_text
from pfeseg.files.volumes import read_volume, write_label_volume
from pfeseg.files.writing import write_picture, write_text
from pfeseg.pictures.slices import draw_slices
from pfeseg.run.plan import Task
from pfeseg.run.resume import input_facts, told_files
from pfeseg.segmentation.clock import Clock, OnStage
from pfeseg.volumes.memory import refuse_too_large_volume
from pfeseg.volumes.segment import segment_volume
from pfeseg.volumes.settings import VolumeSettings

ISOTROPIC = (1.0, 1.0, 1.0)


def segment_and_write_volume(
    task: Task, name: str, threads: int | None, on_stage: OnStage | None
) -> tuple[int, dict[str, float]]:
    """Segment one volume and write its results, the report last; returns regions and timings."""
    settings = task.settings
    assert isinstance(settings, VolumeSettings)
    clock, facts = Clock(on_stage), input_facts(task)
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
    with appearing_together(task.replaces) as made:
        with clock("write"):
            if "labels" in task.results:
                write_label_volume(task.results["labels"], result.labels, spacing)
            if "overlay" in task.results:
                sheet = draw_slices(result.image, result.labels, spacing)
                write_picture(task.results["overlay"], sheet, threads)
        read, write = ({stage: clock.seconds[stage]} for stage in ("read", "write"))
        timings = {stage: round(s, 4) for stage, s in (read | result.timings | write).items()}
        facts |= told_files(task, made)
        report = report_text(task.source, result.report(), timings, facts)
        write_text(task.results[REPORT], report)
    return result.n_regions, timings
