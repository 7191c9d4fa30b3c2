"""Progress bars; they show on a terminal only."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from pfeseg.settings import Settings


def iteration_bar(settings: Settings, title: str, quiet: bool = False) -> Any:
    """Make a bar of the solver's iterations."""
    from tqdm import tqdm

    solver = settings.solver
    most = 1 + solver.soc_iterations * solver.split_iterations + solver.relaxed_iterations
    return tqdm(desc=title, total=most, leave=False, disable=quiet or None)


def image_bar(total: int, quiet: bool = False) -> Any:
    """Make a bar of the images of a batch."""
    from tqdm import tqdm

    return tqdm(total=total, unit="image", leave=False, disable=quiet or None)
