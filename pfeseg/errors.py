"""Errors that a user can mend; every message says what was found and what to do.

A message names an argument by `argument`, as ``argument("n_dims")`` or
``argument("precision", "double")``. In Python it reads ``n_dims`` and ``precision="double"``;
a command shows the option instead, ``-d`` and ``--precision double``.
"""

from __future__ import annotations

import re
from collections.abc import Callable

_MARKED = re.compile("⟦([a-z_0-9]+)(?:=([^⟧]*))?⟧")


def argument(name: str, value: object = None) -> str:
    """Name an argument, and the value to give it if there is one, inside a message."""
    return f"⟦{name}⟧" if value is None else f"⟦{name}={value}⟧"


SMALLER_IMAGE = f"raise {argument('downsample')}"
"""What to do about an image for which memory is short."""


def spell(message: str, write: Callable[[str, str | None], str]) -> str:
    """Replace every argument of a message by ``write(name, value or None)``."""
    return _MARKED.sub(lambda found: write(found[1], found[2]), message)


def _in_python(name: str, value: str | None) -> str:
    if value is None:
        return name
    return f"{name}={value}" if _is_literal(value) else f'{name}="{value}"'


def _is_literal(value: str) -> bool:
    """Tell whether a value is written without quotes in Python, as numbers are."""
    if value in ("True", "False", "None"):
        return True
    try:
        float(value)
    except ValueError:
        return False
    return True


class _Message:
    """A message that shows arguments as Python writes them."""

    @property
    def marked(self) -> str:
        """The message with its arguments marked, for a command to `spell`.

        Examples
        --------
        >>> from pfeseg import InvalidInputError
        >>> from pfeseg.errors import argument, spell
        >>> error = InvalidInputError(f"lower {argument('n_dims')}")
        >>> str(error)
        'lower n_dims'
        >>> spell(error.marked, lambda name, value: "-d")
        'lower -d'
        """
        return Exception.__str__(self)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return spell(self.marked, _in_python)


class PfesegError(_Message, Exception):
    """Base class of the errors that pfeseg raises on purpose.

    Examples
    --------
    >>> import pfeseg
    >>> try:
    ...     pfeseg.Settings(n_dims=0)
    ... except pfeseg.PfesegError as error:
    ...     print(error)
    n_dims must be a whole number of at least 1, got 0
    """


class InvalidInputError(PfesegError, ValueError):
    """A value, array or file is not what the function takes.

    It is a ``ValueError`` too.

    Examples
    --------
    >>> import pfeseg
    >>> try:
    ...     pfeseg.downsample([[0.0, 1.0]], factor=0.5)
    ... except pfeseg.InvalidInputError as error:
    ...     print(error)
    factor must be at least 1, got 0.5
    """


class SolverError(PfesegError, ArithmeticError):
    """The numerical method broke down.

    It is an ``ArithmeticError`` too.

    Examples
    --------
    >>> import numpy as np
    >>> import pfeseg
    >>> graph = pfeseg.Graph.from_edges(3, [(0, 1), (1, 2)], [1.0, 0.5])
    >>> settings = pfeseg.SolverSettings(r=1e-30, r_relaxed=1e-30)
    >>> try:
    ...     embedding = pfeseg.embed(graph, np.eye(3)[:, :2], settings)
    ... except pfeseg.SolverError as error:
    ...     print("it broke down")
    it broke down
    """


class PfesegWarning(_Message, UserWarning):
    """Base class of the warnings that pfeseg gives on purpose.

    Examples
    --------
    Warnings become errors, for a batch that is to stop at the first:

    >>> import warnings
    >>> import numpy as np
    >>> import pfeseg
    >>> with warnings.catch_warnings():
    ...     warnings.simplefilter("error", pfeseg.PfesegWarning)
    ...     raster = pfeseg.as_raster(np.zeros((2, 2, 5)))
    Traceback (most recent call last):
        ...
    pfeseg.errors.ImageWarning: 5 bands, used 1,2,3; bands="all" uses all
    """


class SolverWarning(PfesegWarning):
    """The numerical method finished, but not as exactly as it was asked to.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import pfeseg
    >>> model = pfeseg.PFEClustering(n_clusters=3, init="kmeans")
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", pfeseg.SolverWarning)
    ...     labels = model.fit_predict(np.ones((9, 1)))
    >>> print(caught[-1].message)
    found 1 of the 3 clusters asked for: too few points differ; lower n_clusters
    """


class ImageWarning(PfesegWarning):
    """A part of an image, such as a page or a band, is not used.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import pfeseg
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", pfeseg.ImageWarning)
    ...     raster = pfeseg.as_raster(np.zeros((2, 2, 5)))
    >>> print(caught[0].message)
    5 bands, used 1,2,3; bands="all" uses all
    """


class CutWarning(PfesegWarning):
    """The labels could not be cut exactly as asked.

    Examples
    --------
    >>> import warnings
    >>> import numpy as np
    >>> import pfeseg
    >>> image = np.zeros((40, 60, 3), np.uint8)
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always", pfeseg.CutWarning)
    ...     result = pfeseg.segment(image, n_regions=9)
    >>> print(caught[0].message)
    n_regions=9 is more than the 1 finest regions of the hierarchy; all of these are kept
    """


def in_one_line(error: Exception) -> str:
    """Return the first line of what an error says, or else what it is."""
    return str(error).splitlines()[0] if str(error) else type(error).__name__


def failure(error: Exception, name: str, for_less_memory: str = SMALLER_IMAGE) -> str:
    """Say in one line why the work on a file failed, its arguments still marked.

    Whatever happens to one file of many must not cost the others, so this takes any exception.
    `for_less_memory` is what to change where memory is short.
    """
    if isinstance(error, PfesegError):
        reason = error.marked
    elif isinstance(error, MemoryError):
        reason = f"not enough memory; {for_less_memory}"
    else:
        reason = f"internal error, please report it ({type(error).__name__}: {error})"
    return reason if reason.startswith(f"{name}: ") else f"{name}: {reason}"


def given_up(name: str, reason: str, for_less_memory: str = SMALLER_IMAGE) -> str:
    """Say in one line that two worker processes died of the work on a file."""
    return (
        f"{name}: given up, as two worker processes died while they had it ({reason}); "
        f"if memory is short, {for_less_memory}"
    )
