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
    is_literal = value in ("True", "False", "None") or value[:1].isdigit()
    return f"{name}={value}" if is_literal else f'{name}="{value}"'


class _Message:
    """A message that shows arguments as Python writes them."""

    @property
    def marked(self) -> str:
        """The message with its arguments marked, for a command to `spell`."""
        return Exception.__str__(self)  # type: ignore[arg-type]

    def __str__(self) -> str:
        return spell(self.marked, _in_python)


class PfesegError(_Message, Exception):
    """Base class of the errors that pfeseg raises on purpose."""


class InvalidInputError(PfesegError, ValueError):
    """A value, array or file is not what the function takes."""


class SolverError(PfesegError, ArithmeticError):
    """The numerical method broke down."""


class PfesegWarning(_Message, UserWarning):
    """Base class of the warnings that pfeseg gives on purpose."""


class SolverWarning(PfesegWarning):
    """The numerical method went on, but not as well as it was asked to."""


class ImageWarning(PfesegWarning):
    """Something that an image holds is not used."""


class CutWarning(PfesegWarning):
    """The labels could not be cut just as was asked."""


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
