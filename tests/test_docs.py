"""What is written about the commands is true."""

from __future__ import annotations

import importlib.util
import re
from dataclasses import fields
from pathlib import Path

import click
import pytest
from guide import GUIDES

from pfeseg import Settings, SolverSettings
from pfeseg.cli import COMMANDS, main
from pfeseg.cli.settings import CUT_OPTIONS

ROOT = Path(__file__).parent.parent
PAGE = (ROOT / "docs" / "commands.md").read_text()


def load_maker():
    spec = importlib.util.spec_from_file_location("maker", ROOT / "docs" / "make_commands.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def options_of(name: str) -> list[click.Parameter]:
    return main.get_command(click.Context(main), name).params


def test_the_commands_page_is_up_to_date():
    fold = re.compile(r"\s+")  # releases of click break lines differently
    assert fold.sub(" ", load_maker().commands_page()) == fold.sub(" ", PAGE), "run 'make docs'"


def test_help_pages_show_no_control_words():
    assert "\\b" not in PAGE


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_and_option_is_documented(name):
    section = PAGE.split(f"## pfeseg {name}\n")[1].split("\n## ")[0]
    for option in options_of(name):
        if isinstance(option, click.Option):
            assert option.help, option.name
            for flag in option.opts:
                assert re.search(rf"(^|[\s,]){re.escape(flag)}\b", section), flag
    assert any(f"pfeseg {name} " in block.text for page in GUIDES for block in page.blocks)


def test_every_setting_is_an_option_of_segment_and_of_one_stage():
    settings = {f.name for f in fields(Settings)} - {"solver", "cut"}
    settings |= {f.name for f in fields(SolverSettings)} | set(CUT_OPTIONS)
    assert settings <= {option.name for option in options_of("segment")}
    stages = ("downsample", "graph", "init", "embed", "merge", "cluster", "clean")
    assert settings - {"method"} <= {
        option.name for stage in stages for option in options_of(stage)
    }
