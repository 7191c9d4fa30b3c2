"""Libraries that read files, without their words on the terminal."""

from __future__ import annotations

import logging
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

TALKATIVE = ("PIL.TiffImagePlugin", "PIL.PngImagePlugin", "tifffile")
"""Loggers that write to a terminal about files that are read all the same."""


@contextmanager
def quiet_pillow() -> Iterator[None]:
    """Lift Pillow's own limit of sizes, as ours is checked instead, and silence its words."""
    from PIL import Image

    limit, Image.MAX_IMAGE_PIXELS = Image.MAX_IMAGE_PIXELS, None
    try:
        with warnings.catch_warnings(), no_log_lines():
            warnings.simplefilter("ignore")
            yield
    finally:
        Image.MAX_IMAGE_PIXELS = limit


@contextmanager
def no_log_lines() -> Iterator[None]:
    """Keep what libraries log of odd files off the terminal: what matters is raised or told."""

    def drop(record: logging.LogRecord) -> bool:
        return False

    loggers = [logging.getLogger(name) for name in TALKATIVE]
    for logger in loggers:
        logger.addFilter(drop)
    try:
        yield
    finally:
        for logger in loggers:
            logger.removeFilter(drop)
