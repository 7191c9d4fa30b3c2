"""Say what keeps this commit from being released: ``make release-check`` begins with it.

Versions have to agree wherever they stand, the conda recipe has to need what pyproject.toml needs,
nothing may be left to commit, and figures may not be older than the code that they describe.
"""

from __future__ import annotations

import ast
import re
import subprocess
import sys
import tomllib
from pathlib import Path

ROOT = Path(__file__).parent.parent

VERSIONS = {
    "pfeseg/__init__.py": r'^__version__ = "(.+)"',
    "CHANGELOG.md": r"^## (\S+)",
    "CITATION.cff": r"^version: (\S+)",
    "Dockerfile": r"pfeseg\[all\]==([\w.]+)",
    "conda/recipe.yaml": r'^  version: "(.+)"',
}
"""Where the version stands, and how; the first place is the one that counts."""

DATES = {"CHANGELOG.md": r"^## \S+ - (\S+)", "CITATION.cff": r"^date-released: (\S+)"}

WALK = (
    *("cpp", "CMakeLists.txt", "kernels.py", "blas.py", "solver", "image", "labels"),
    *("clustering", "pixels", "regions", "segmentation"),
)
"""What segments an image, without what reads, writes, shows and serves it."""

FIGURES = {
    "benchmarks/speed.json": WALK,
    "benchmarks/growth.json": WALK,
    "benchmarks/quality.json": (*WALK, "benchmark"),
    "benchmarks/clustering.json": ("cpp", "solver", "clustering", "data"),
}
"""Files of figures, and the parts of the package that they tell of."""


def first_match(root: Path, patterns: dict[str, str]) -> dict[str, str]:
    """Find in each file what its pattern asks for first."""
    found = {}
    for name, pattern in patterns.items():
        match = re.search(pattern, (root / name).read_text(), re.MULTILINE)
        found[name] = match[1] if match else "nothing"
    return found


def differing(root: Path) -> list[str]:
    """List the places whose version, or date of the release, is not that of the first place."""
    problems = []
    for patterns in (VERSIONS, DATES):
        found = first_match(root, patterns)
        first, wanted = next(iter(found.items()))
        problems += [
            f"{name}: has {value}, and {first} has {wanted}"
            for name, value in found.items()
            if value != wanted
        ]
    return problems


def unmet(root: Path) -> list[str]:
    """List how the requirements of the conda recipe differ from those of the package."""
    project = tomllib.loads((root / "pyproject.toml").read_text())["project"]
    needed = {line.replace(" ", "") for line in project["dependencies"]}
    recipe = (root / "conda" / "recipe.yaml").read_text()
    run = re.search(r"^  run:\n((?:    - .+\n)+)", recipe, re.MULTILINE)
    stated = {line.strip("- ").replace(" ", "") for line in (run[1] if run else "").splitlines()}
    return [
        f"conda/recipe.yaml and pyproject.toml: only one of them has {name}"
        for name in sorted(needed ^ (stated - {"python"}))
    ]


def git(root: Path, *words: str) -> str:
    """Return what git says."""
    return subprocess.run(
        ["git", "-C", str(root), *words], check=True, capture_output=True, text=True
    ).stdout


def uncommitted(root: Path) -> list[str]:
    """List what is not committed."""
    return [f"{line[3:]}: not committed" for line in git(root, "status", "--short").splitlines()]


def meaning(name: str, text: str) -> str:
    """Reduce a source file to what changes results or time: no comments, docstrings or spaces."""
    if not name.endswith(".py"):
        plain = re.sub(
            r"//[^\n]*|/\*.*?\*/|^\s*#\s[^\n]*", "", text, flags=re.DOTALL | re.MULTILINE
        )
        return re.sub(r"\s+", "", plain)
    tree = ast.parse(text)
    for node in ast.walk(tree):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            node.body = [line for line in body if not _is_text(line)]  # type: ignore[attr-defined]
    return ast.dump(tree)


def _is_text(line: ast.AST) -> bool:
    return isinstance(line, ast.Expr) and isinstance(line.value, ast.Constant)


def changed_since(root: Path, commit: str, parts: tuple[str, ...]) -> list[str]:
    """List the files of some parts of the package that mean something else than at a commit."""
    paths = [f"pfeseg/{part}" for part in parts]
    names = git(root, "diff", "--no-renames", "--name-only", commit, "HEAD", "--", *paths).split()
    listed = {
        ref: git(root, "ls-tree", "-r", "--name-only", ref).split() for ref in (commit, "HEAD")
    }

    def then(ref: str, name: str) -> str:
        return meaning(name, git(root, "show", f"{ref}:{name}")) if name in listed[ref] else ""

    return [name for name in names if then(commit, name) != then("HEAD", name)]


def outdated(root: Path) -> list[str]:
    """List the figures that were committed before the last change of what they describe."""
    problems = []
    for figures, parts in FIGURES.items():
        commit = git(root, "log", "-1", "--format=%H", "--", figures).strip()
        if not commit:
            continue  # not measured for this version
        changed = changed_since(root, commit, parts)
        if changed:
            problems.append(
                f"{figures}: of commit {commit[:7]}, since when {len(changed)} files that it "
                f"describes have changed, such as {changed[0]}; measure again"
            )
    return problems


def main() -> int:
    """Print all problems."""
    problems = [*differing(ROOT), *unmet(ROOT), *uncommitted(ROOT), *outdated(ROOT)]
    for problem in problems:
        print(problem)
    if not problems:
        print(f"Version {first_match(ROOT, VERSIONS)['pfeseg/__init__.py']}: all agrees")
    return int(bool(problems))


if __name__ == "__main__":
    sys.exit(main())
