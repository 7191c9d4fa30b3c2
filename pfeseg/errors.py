"""Errors that a user can mend; every message says what was found and what to do."""


class PfesegError(Exception):
    """Base class of the errors that pfeseg raises on purpose."""


class InvalidInputError(PfesegError, ValueError):
    """A value, array or file is not what the function takes."""


class SolverError(PfesegError, ArithmeticError):
    """The numerical method broke down."""


class SolverWarning(UserWarning):
    """The numerical method went on, but not as well as it was asked to."""
