"""Kernels give the same bytes whatever the compiler offers."""

from __future__ import annotations

import os
import platform
import shlex
import shutil
import subprocess

import pytest
from helpers import ROOT

COMPILER = shlex.split(os.environ.get("CXX", "c++"))
FUSES = platform.machine() in ("x86_64", "AMD64")


@pytest.mark.skipif(shutil.which(COMPILER[0]) is None, reason="no C++ compiler")
def test_vector_types_and_plain_arrays_give_the_same_bytes(tmp_path):
    """As compilers have them that know vectors, and those that do not, such as MSVC."""
    command = [*COMPILER, "-std=c++17", "-Og", "-ffp-contract=off", "-Wall", "-Werror"]
    command += ["-mavx2", "-mfma"] if FUSES else []
    command += [f"-I{ROOT / 'pfeseg' / 'cpp'}", str(ROOT / "tests" / "kernel_bytes.cpp"), "-o"]
    programs = {"vectors": [], "plain": ["-DPFESEG_PLAIN_VECTORS"]}
    builds = [
        subprocess.Popen([*command, str(tmp_path / name), *how]) for name, how in programs.items()
    ]
    assert [build.wait() for build in builds] == [0, 0]
    if FUSES and "avx2" not in _processor():
        pytest.skip("this processor cannot run what was built")
    digests = [
        subprocess.run([tmp_path / name], capture_output=True, text=True, check=True).stdout
        for name in programs
    ]
    assert digests[0] == digests[1]
    assert len(set(digests[0].splitlines())) == 13


def _processor() -> str:
    from pfeseg.kernels import best_variant

    return best_variant()
