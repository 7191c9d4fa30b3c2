"""What is written about the commands is true."""

from __future__ import annotations

from dataclasses import fields

import click
import pytest
from guide import GUIDES

from pfeseg import Settings, SolverSettings
from pfeseg.cli import COMMANDS, main
from pfeseg.cli.settings import CUT_OPTIONS


def options_of(name: str) -> list[click.Parameter]:
    return main.get_command(click.Context(main), name).params


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_is_shown_by_an_example(name):
    assert any(f"pfeseg {name} " in block.text for page in GUIDES for block in page.blocks)


def test_every_setting_is_an_option_of_segment_and_of_one_stage():
    settings = {f.name for f in fields(Settings)} - {"solver", "cut"}
    settings |= {f.name for f in fields(SolverSettings)} | set(CUT_OPTIONS)
    assert settings <= {option.name for option in options_of("segment")}
    stages = ("downsample", "graph", "init", "embed", "merge", "cluster", "clean")
    assert settings - {"method"} <= {
        option.name for stage in stages for option in options_of(stage)
    }
