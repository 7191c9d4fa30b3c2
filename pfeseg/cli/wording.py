"""How commands speak: of options where the library speaks of arguments, and on one line."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

import click

from pfeseg.errors import InvalidInputError, spell

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

_OPTIONS = {
    "n_dims": "-d",
    "n_clusters": "-k",
    "n_regions": "--regions",
    "n_neighbors": "--neighbours",
    "is_graph": "--graph",
}
"""Options that are not called after their arguments."""


def in_options(message: str) -> str:
    """Write the arguments that are marked in a message of the library as options."""
    return spell(message, _as_option)


def _as_option(name: str, value: str | None) -> str:
    option = _OPTIONS.get(name, "--" + name.replace("_", "-"))
    return option if value in (None, "True") else f"{option} {value}"


def one_line(text: str) -> str:
    """Escape what would break a line, such as a newline in the name of a file."""
    return "".join(c if c.isprintable() else repr(c)[1:-1] for c in text)


def counted_regions(labels: NDArray[np.integer[Any]], masked: bool) -> str:
    """Count the regions of a label map; where an image is masked, 0 is none of them."""
    import numpy as np

    count = len(np.unique(labels[labels > 0] if masked else labels))
    return f"{count} region{'' if count == 1 else 's'}"


def say(text: str) -> None:
    """Tell people a line, whatever names are in it; where nobody can be told, work goes on."""
    with suppress(OSError):  # such as a log on a disk that is full, or a terminal that is gone
        click.echo(one_line(text), err=True)


@contextmanager
def usage_errors() -> Iterator[None]:
    """Turn what the library refuses into wrong usage, which has an exit code of its own."""
    try:
        yield
    except InvalidInputError as error:
        raise click.UsageError(in_options(error.marked)) from error
