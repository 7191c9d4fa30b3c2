"""Run the tests on other Pythons, and with the lowest versions that pyproject.toml states.

Everything comes as wheels, only pfeseg itself is compiled. Run by ``make test-lowest`` and
``make test-pythons`` in an environment that has uv.
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent
UV = [sys.executable, "-m", "uv"]


def find(version: str) -> str | None:
    """Return the path of an interpreter of this version, if uv or pyenv has one here."""
    look = [*UV, "python", "find", "--system", "--no-project", "--no-python-downloads", version]
    done = subprocess.run(look, capture_output=True, text=True)
    built = sorted(Path.home().glob(f".pyenv/versions/{version}.*/bin/python"))
    return done.stdout.strip() or (str(built[-1]) if built else None)


def try_suite(name: str, python: str, resolution: str, words: list[str]) -> bool:
    """Install pfeseg with all extras into an environment of its own, and run the tests there."""
    home = ROOT / "build" / name
    here = home / ("Scripts" if sys.platform == "win32" else "bin")
    # Compiled as pip does it, or each process that a test starts would compile all that it imports.
    only = ["--compile-bytecode", "--only-binary", ":all:", "--no-binary", "pfeseg"]
    install = [*UV, "pip", "install", "--quiet", "--python", str(here / "python"), *only]
    install += ["--resolution", resolution, "--editable", f"{ROOT}[dev]"]
    make = [*UV, "venv", "--quiet", "--clear", "--python", python, str(home)]
    test = [str(here / "pytest"), "-p", "no:cacheprovider", *words]
    if resolution != "highest":  # old packages use what newer ones, which they need, advise against
        test += ["-W", "ignore::DeprecationWarning"]
    for command in (make, install, test):
        print("+", *command, flush=True)
        if subprocess.run(command, cwd=ROOT).returncode:
            return False
    return True


def stated_pythons() -> list[str]:
    """List the versions of Python that pyproject.toml says it runs on."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]
    found = [re.fullmatch(r".*Python :: (3\.\d+)", line) for line in project["classifiers"]]
    return [match[1] for match in found if match]


def main() -> int:
    """Run the tests, and say at the end which Pythons they ran on."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("what", choices=("lowest", "pythons"))
    parser.add_argument("words", nargs="*", help="what pytest is told, after --")
    chosen = parser.parse_args()
    lowest = chosen.what == "lowest"
    versions = stated_pythons()
    results = {}
    for version in versions[:1] if lowest else versions:
        python = find(version)
        name = "lowest" if lowest else f"python{version}"
        resolution = "lowest-direct" if lowest else "highest"
        results[version] = (
            ("passed" if try_suite(name, python, resolution, chosen.words) else "failed")
            if python
            else "is not here"
        )
    for version, result in results.items():
        print(f"Python {version}: {result}")
    return int("failed" in results.values())


if __name__ == "__main__":
    sys.exit(main())
