"""Progress bars; they show on a terminal only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfeseg.segmentation.settings import Settings


def iteration_bar(settings: Settings, title: str, quiet: bool = False) -> Any:
    """Make a bar of the solver's iterations."""
    from tqdm import tqdm

    from pfeseg.segmentation.sweep import AUTO_DIMS

    solver = settings.solver
    most = 1 + solver.soc_iterations * solver.split_iterations + solver.relaxed_iterations
    if settings.is_open:
        most *= 1 + (len(AUTO_DIMS) if settings.n_dims == "auto" else 1)  # to choose, and once more
    return tqdm(desc=title, total=most, leave=False, disable=quiet or None)


def count_bar(total: int, unit: str, quiet: bool = False) -> Any:
    """Make a bar of things done, such as the images of a batch."""
    from tqdm import tqdm

    return tqdm(total=total, unit=unit, leave=False, disable=quiet or None)
