"""Write commands.md, the help page of every command. Run it with ``make docs``."""

from pathlib import Path

from pfeseg.cli import COMMANDS, main

PAGE = Path(__file__).parent / "commands.md"

HEAD = """\
# Commands

The help page of every command, as `make docs` writes it.

"""


def commands_page() -> str:
    """Return the page as Markdown text."""
    wide = {"resilient_parsing": True, "terminal_width": 88, "max_content_width": 88}
    parent = main.make_context("pfeseg", [], **wide)
    pages = [("pfeseg", main.get_help(parent))]
    for name in COMMANDS:
        command = main.get_command(parent, name)
        assert command is not None
        context = command.make_context(name, [], parent=parent, **wide)
        pages.append((f"pfeseg {name}", command.get_help(context)))
    return HEAD + "\n".join(f"## {title}\n\n```text\n{text}\n```\n" for title, text in pages)


if __name__ == "__main__":
    PAGE.write_text(commands_page(), encoding="utf-8")
