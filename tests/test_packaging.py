"""What is packed for others to build from."""

from __future__ import annotations

import subprocess
import sys
import tarfile
from pathlib import PurePosixPath

from helpers import ROOT

PICTURES = {".png", ".jpg", ".webp"}
"""What is left out of the documentation: nothing but the site needs it."""


def test_the_source_distribution_holds_the_project_and_nothing_else(tmp_path):
    """Also in a checkout in which an environment, builds and caches lie about."""
    command = [sys.executable, "-m", "build", "--sdist", "--no-isolation"]
    command += ["--skip-dependency-check", "-o", str(tmp_path), str(ROOT)]
    subprocess.run(command, capture_output=True, check=True)
    (archive,) = tmp_path.iterdir()
    assert archive.stat().st_size < 1.4e6
    with tarfile.open(archive) as packed:
        names = [PurePosixPath(name).relative_to(archive.name[:-7]) for name in packed.getnames()]
    known = ("pfeseg", "tests", "fuzz", "sample_images", "benchmarks", "docs", "release", "conda")
    alone = {"LICENSE", "README.md", "CHANGELOG.md", "CITATION.cff", "Makefile", "pyproject.toml"}
    alone |= {"CONTRIBUTING.md", "SECURITY.md", "Dockerfile"}
    top = {name.parts[0] for name in names}
    assert top == {*known, *alone, "PKG-INFO"}
    assert not [name for name in names if name.suffix in (".pyc", ".so", ".o")]
    for folder in known:
        here = {p.relative_to(ROOT) for p in (ROOT / folder).rglob("*") if p.is_file()}
        sources = {p for p in here if p.suffix not in (".pyc", ".so")}
        if folder == "docs":
            sources = {p for p in sources if p.suffix not in PICTURES}
        assert {str(p) for p in sources} == {str(n) for n in names if n.parts[0] == folder}
