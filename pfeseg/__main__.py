"""Run the command line, as ``pfeseg`` or ``python -m pfeseg``."""

import os
import sys

EXIT_INTERRUPTED = 130


def run() -> None:
    """Run a command; Ctrl-C ends it with one line already while it is loaded."""
    try:
        _replace_closed_streams()
        from pfeseg.cli import main

        main(prog_name="pfeseg")
    except KeyboardInterrupt:
        print("Error: interrupted", file=sys.stderr)
        sys.exit(EXIT_INTERRUPTED)


def _replace_closed_streams() -> None:
    """Let messages go nowhere where their stream is closed, and never into a file of results.

    The next file that is opened would get the number of a stream that is closed.
    """
    while (number := os.open(os.devnull, os.O_RDWR)) <= 2:
        pass
    os.close(number)
    if sys.stderr is None:
        sys.stderr = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")
    if sys.stdout is None:
        sys.stdout = os.fdopen(os.open(os.devnull, os.O_WRONLY), "w")


if __name__ == "__main__":
    run()
