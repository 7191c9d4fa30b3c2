"""Kernels give the same bytes whatever the compiler, and what it offers, and on other processors.

What is not here is skipped: Debian has it as clang, g++-aarch64-linux-gnu, qemu-user and
g++-mingw-w64-x86-64.
"""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess
from functools import cache
from pathlib import Path

import pytest
from helpers import ROOT

SOURCES = ROOT / "pfeseg" / "cpp"
PROGRAM = ROOT / "tests" / "kernel_bytes.cpp"
COMPILER = shlex.split(os.environ.get("CXX", "c++"))
FLAGS = ["-std=c++17", "-Og", "-ffp-contract=off", "-Wall", "-Werror", "-pthread", f"-I{SOURCES}"]
FUSED = ["-mavx2", "-mfma"]
FUSES = platform.machine() in ("x86_64", "AMD64")
MINGW = "x86_64-w64-mingw32-g++-posix"


def needs(*programs: str) -> pytest.MarkDecorator:
    missing = [name for name in programs if shutil.which(name) is None]
    return pytest.mark.skipif(bool(missing), reason=f"no {' and no '.join(missing)}")


def build(folder: Path, *programs: list[str]) -> list[Path]:
    """Build the program by several compilers at a time."""
    paths = [folder / f"kernel_bytes{k}" for k in range(len(programs))]
    builds = [
        subprocess.Popen([*command, *FLAGS, str(PROGRAM), "-o", str(path)])
        for command, path in zip(programs, paths, strict=True)
    ]
    assert [build.wait() for build in builds] == [0] * len(builds)
    return paths


def digests(*command: object) -> str:
    told = subprocess.run(list(map(str, command)), capture_output=True, text=True, check=True)
    assert len(set(told.stdout.splitlines())) == 19
    return told.stdout


@cache
def can_fuse() -> bool:
    from pfeseg.kernels import best_variant

    return FUSES and "avx2" in best_variant()


@needs(COMPILER[0])
def test_vector_types_and_plain_arrays_give_the_same_bytes(tmp_path):
    """As compilers have them that know vectors, and those that do not, such as MSVC."""
    fused = FUSED if FUSES else []
    programs = [[*COMPILER, *fused], [*COMPILER, *fused, "-DPFESEG_PLAIN_VECTORS"]]
    vectors, plain = build(tmp_path, *programs)
    if FUSES and not can_fuse():
        pytest.skip("this processor cannot run what was built")
    assert digests(vectors) == digests(plain)


@needs(COMPILER[0], "clang++")
def test_clang_gives_the_same_bytes(tmp_path):
    fused = FUSED if can_fuse() else []
    ours, theirs = build(tmp_path, [*COMPILER, *fused], ["clang++", *fused])
    assert digests(ours) == digests(theirs)


@needs(COMPILER[0], "aarch64-linux-gnu-g++", "qemu-aarch64")
def test_arm_gives_the_same_bytes_as_what_fuses_nothing_here(tmp_path):
    here, arm = build(tmp_path, COMPILER, ["aarch64-linux-gnu-g++", "-static"])
    assert digests(here) == digests("qemu-aarch64", arm)


@needs(MINGW)
def test_all_kernels_compile_for_windows(tmp_path):
    """But for what knows Python, whose headers for Windows are not here."""
    headers = [path for path in SOURCES.glob("*.hpp") if "nanobind" not in path.read_text()]
    assert len(headers) > 30
    everything = tmp_path / "everything.cpp"
    everything.write_text("".join(f'#include "{path.name}"\n' for path in headers))
    look = [MINGW, *FLAGS, "-Wextra", "-fsyntax-only", str(everything)]
    assert subprocess.run(look).returncode == 0
    build(tmp_path, [MINGW])
