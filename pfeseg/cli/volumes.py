"""The options of volumes, and what the other options of ``pfeseg segment`` mean for them."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import wraps
from typing import Any, cast

import click

from pfeseg.cli.help import F, Heading, option
from pfeseg.cli.wording import in_options, usage_errors
from pfeseg.errors import InvalidInputError, argument
from pfeseg.solver.settings import SolverSettings
from pfeseg.volumes.settings import MAX_VOXELS, VolumeSettings, check_spacing

SAVEABLE_OF_VOLUMES = ("labels", "overlay")


def spacing(text: str) -> tuple[float, float, float]:
    """Read three distances such as 2,1,1."""
    try:
        return check_spacing([float(step) for step in text.split(",")])
    except (InvalidInputError, ValueError):
        raise click.BadParameter(
            f"{text!r} is not three positive numbers, along z, y and x, such as 2,1,1"
        ) from None


@dataclass(frozen=True)
class Volumes:
    """What ``--volume``, ``--spacing`` and ``--max-voxels`` ask for."""

    are_meant: bool
    spacing: tuple[float, float, float] | None
    max_voxels: int | None


def volume_options(command: F) -> F:
    """Add ``--volume``, ``--spacing`` and ``--max-voxels``, which come as one: `volumes`."""
    inner = command

    @wraps(inner)
    def packed(
        volume: bool,
        spacing: tuple[float, float, float] | None,
        max_voxels: int | None,
        **others: Any,
    ) -> Any:
        if not volume and (spacing or max_voxels):
            raise click.UsageError("--spacing and --max-voxels are for volumes; add --volume")
        return inner(volumes=Volumes(volume, spacing, max_voxels), **others)

    command = option(
        "--max-voxels", type=click.IntRange(min=8), metavar="N", heading=Heading.METHOD,
        help="Shrink larger volumes to this many voxels before solving."
             f"  [default: {MAX_VOXELS}]",
    )(cast("F", packed))  # fmt: skip
    command = option(
        "--spacing", type=spacing, metavar="Z,Y,X", heading=Heading.INPUTS,
        help="Distances between the voxels of a volume, in any unit: 2,1,1 if slices are twice as "
             "far apart as pixels.  [default: from the file, or 1,1,1]",
    )(command)  # fmt: skip
    return option(
        "--volume", is_flag=True, heading=Heading.INPUTS,
        help="Read each file, a TIFF stack or a 3-D array (.npy), as one volume, and cut it into "
             "8 clusters of voxels, or as many as -k says. -d is the number of clusters unless "
             "given. --min-region splits the clusters into connected regions.",
    )(command)  # fmt: skip


def make_volume_settings(
    options: Mapping[str, Any], max_voxels: int | None, others: Mapping[str, Any]
) -> VolumeSettings:
    """Make settings of the options that were given; those for images only are refused.

    Parameters
    ----------
    options : dict
        Values of the settings' options, None where not given.
    others : dict
        Values of other options that volumes do not take, and that tell nothing if not given.
    """
    given = {name: value for name, value in options.items() if value is not None}
    of_solver = {field.name for field in dataclasses.fields(SolverSettings)}
    known = {field.name for field in dataclasses.fields(VolumeSettings)} | of_solver
    foreign = [name for name in given if name not in known]
    # A page may be number 0, which Python takes for false.
    foreign += [name for name, value in others.items() if value or type(value) is int]
    if foreign:
        listed = ", ".join(in_options(argument(name)) for name in foreign)
        raise click.UsageError(f"volumes do not take {listed}; leave these out, or --volume")
    with usage_errors():
        solver = {name: given.pop(name) for name in of_solver & given.keys()}
        settings = VolumeSettings(**given)
        if max_voxels is not None:
            settings = dataclasses.replace(settings, max_voxels=max_voxels)
        return dataclasses.replace(settings, solver=dataclasses.replace(settings.solver, **solver))


def check_kinds_of_volumes(kinds: Sequence[str], labels_format: str | None) -> None:
    """Refuse results and formats that there are of images only."""
    if labels_format == "png":
        raise click.UsageError("labels of volumes are tif or npy, not png")
    foreign = [kind for kind in kinds if kind not in SAVEABLE_OF_VOLUMES]
    if foreign:
        raise click.UsageError(
            f"--save has {' and '.join(SAVEABLE_OF_VOLUMES)} for volumes, not {', '.join(foreign)}"
        )
