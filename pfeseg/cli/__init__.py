"""Command line: the group, its lazily loaded commands and its exit codes."""

from __future__ import annotations

import re
import signal
import sys
import threading
import warnings
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any

import click

from pfeseg import __version__
from pfeseg.cli.wording import in_options, say
from pfeseg.errors import PfesegError, PfesegWarning

EXIT_FAILED, EXIT_USAGE, EXIT_INTERRUPTED = 1, 2, 130

COMMANDS = {
    "segment": "Cut one or more images into regions.",
    "sweep": "Segment one image in several ways, and recommend one.",
    "downsample": "Stage 1: shrink an image.",
    "graph": "Stage 2: build the pixel graph.",
    "init": "Stage 3: make the initial embedding.",
    "embed": "Stage 4: solve for the embedding.",
    "merge": "Stage 5: merge regions into a hierarchy and cut it.",
    "cluster": "Stage 5 with -k: group regions or pixels into clusters.",
    "clean": "Stage 6: split labels into connected regions and absorb small ones.",
    "overlay": "Draw a label map over its image.",
    "report": "Show a folder of results on a web page.",
    "cluster-data": "Cluster the rows of tables or the nodes of graphs.",
    "evaluate": "Score segmentations against ground truth.",
    "bsds": "Run the paper's experiment on a data set.",
    "info": "Show what a file contains, or what is installed.",
}
"""Commands and their short help, which must not need an import."""


class Group(click.Group):
    """Loads a command when it is called for, and ends each run with one line and a code."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Name the commands in the order of the help page."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, name: str) -> click.Command | None:
        """Import the module of a command."""
        if name not in COMMANDS:
            return None
        module = name.replace("-", "_")
        command = getattr(import_module(f"pfeseg.cli.{module}"), module)
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the command; the name of an image in its place gets advice."""
        if args[0] not in COMMANDS and _may_be_image(args[0]):
            ctx.fail(f"{args[0]} is not a command; to cut an image, use 'pfeseg segment {args[0]}'")
        if args[0] not in COMMANDS and not args[0].startswith("-"):
            ctx.fail(f"there is no command {args[0]}{_likely(args[0], COMMANDS)}")
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """List the commands without importing them."""
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        **extra: Any,
    ) -> Any:
        """Run, and turn expected errors into one line on standard error."""
        if not standalone_mode:
            return super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
        if threading.current_thread() is threading.main_thread():
            _end_in_order()
        with warnings.catch_warnings():
            warnings.showwarning = _show_warning  # type: ignore[assignment]
            try:
                code = super().main(args, prog_name, complete_var, standalone_mode=False, **extra)
            except click.exceptions.NoArgsIsHelpError as error:
                click.echo(error.format_message(), err=True)
                code = EXIT_USAGE
            except click.UsageError as error:
                command = error.ctx.command_path if error.ctx else "pfeseg"
                _complain(f"{_in_short(error)} (see '{command} --help')")
                code = EXIT_USAGE
            except click.ClickException as error:
                _complain(error.format_message())
                code = error.exit_code
            except PfesegError as error:
                _complain(in_options(error.marked))
                code = EXIT_FAILED
            except MemoryError:
                _complain("not enough memory; shrink more by --downsample or a smaller --max-size")
                code = EXIT_FAILED
            except OSError as error:
                _complain(f"{error.filename or 'output'}: {error.strerror or error}")
                code = EXIT_FAILED
            except (click.Abort, KeyboardInterrupt):
                _complain("interrupted")
                code = EXIT_INTERRUPTED
        sys.exit(code if isinstance(code, int) else 0)


def _may_be_image(word: str) -> bool:
    """Tell whether a word names a file or folder, or looks as if it did."""
    name = Path(word)
    return not word.startswith("-") and ("/" in word or name.suffix != "" or name.exists())


def _likely(word: str, known: Iterable[str]) -> str:
    """Suggest the word that was meant, if one is alike."""
    alike = get_close_matches(word, list(known), n=1)
    return f"; did you mean {alike[0]}?" if alike else ""


def _in_short(error: click.UsageError) -> str:
    """Write what click complains of as our own errors are written."""
    if isinstance(error, click.NoSuchOption):
        return f"there is no option {error.option_name}" + _likely(
            error.option_name, error.possibilities or ()
        )
    if not isinstance(error, click.BadParameter) or isinstance(error, click.MissingParameter):
        return error.format_message().rstrip(".")
    message = error.message.rstrip(".")
    for pattern, words in _PLAINER:
        message = pattern.sub(words, message)
    return f"{' or '.join(error.param.opts)}: {message}" if error.param else message


_PLAINER = (
    (re.compile(r"(\S+) is not a valid integer.*"), r"expected a whole number, found \1"),
    (re.compile(r"(\S+) is not a valid float.*"), r"expected a number, found \1"),
    (re.compile(r"(\S+) is not in the range x>=(\S+)"), r"expected at least \2, found \1"),
    (
        re.compile(r"(\S+) is not in the range (\S+)<=x<=(\S+)"),
        r"expected a number from \2 to \3, found \1",
    ),
)


def _end_in_order() -> None:
    """Let signals end the run by an exception, so that files and workers are cleared away."""
    signal.signal(signal.SIGTERM, _terminate)
    hangup = getattr(signal, "SIGHUP", None)  # of a terminal that was closed; nohup ignores it
    if hangup is not None and signal.getsignal(hangup) == signal.SIG_DFL:
        signal.signal(hangup, _terminate)


def _terminate(number: int, *_: Any) -> None:
    raise SystemExit(128 + number)


def _complain(message: str) -> None:
    say(f"Error: {message}")


def _show_warning(message: Warning | str, *_: Any) -> None:
    text = in_options(message.marked) if isinstance(message, PfesegWarning) else str(message)
    say(f"Warning: {text}")


@click.group(
    cls=Group,
    context_settings={"help_option_names": ["-h", "--help"]},
    epilog="Exit codes: 0 success, 1 an input failed, 2 wrong usage, 130 interrupted.",
)
@click.version_option(__version__, "-V", "--version", prog_name="pfeseg")
def main() -> None:
    """Cut photographs into regions with piecewise flat embeddings."""
