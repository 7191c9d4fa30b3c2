"""What a release says of itself agrees, and the check of it notices what does not."""

from __future__ import annotations

import importlib.util
import re
import shutil

import pytest
from helpers import ROOT

_spec = importlib.util.spec_from_file_location("check", ROOT / "release" / "check.py")
check = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(check)


@pytest.fixture
def copy(tmp_path):
    """The files that name the version, to be changed."""
    for name in (*check.VERSIONS, "pyproject.toml"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def change(path, old, new):
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


def test_versions_and_requirements_agree(copy):
    assert check.differing(ROOT) == check.differing(copy) == []
    assert check.unmet(ROOT) == check.unmet(copy) == []


@pytest.mark.parametrize("name", check.VERSIONS)
def test_every_place_of_the_version_counts(copy, name):
    version = check.first_match(copy, check.VERSIONS)[name]
    change(copy / name, version, "9.8.7")
    problems = check.differing(copy)
    assert problems
    assert all("9.8.7" in problem for problem in problems)


def test_the_date_of_the_citation_is_that_of_the_changelog(copy):
    text = (copy / "CITATION.cff").read_text()
    (copy / "CITATION.cff").write_text(re.sub(r"(?m)^date-released: .*", "date-released: 1", text))
    assert [problem.split(":")[0] for problem in check.differing(copy)] == ["CITATION.cff"]


def test_a_requirement_of_one_of_the_two_only_is_told(copy):
    change(copy / "pyproject.toml", '"tqdm>=', '"tqdm>=1')
    assert len(check.unmet(copy)) == 2


def test_figures_are_older_than_changes_of_code_but_not_of_comments(tmp_path):
    def commit(**files: str) -> None:
        for name, text in files.items():
            path = tmp_path / {"py": "pfeseg/solver/a.py", "hpp": "pfeseg/cpp/a.hpp"}.get(
                name, name
            )
            path.parent.mkdir(exist_ok=True, parents=True)
            path.write_text(text)
        check.git(tmp_path, "add", ".")
        check.git(
            tmp_path, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false",
            "commit", "-m", "a",
        )  # fmt: skip

    check.git(tmp_path, "init")
    commit(py='"""Doc."""\nx = 1\n', hpp="int x; // one\n")
    assert check.outdated(tmp_path) == []
    (tmp_path / "benchmarks").mkdir()
    commit(**{"benchmarks/speed.json": "{}"})
    assert check.outdated(tmp_path) == []
    commit(py='"""Other words."""\nx  =  1  # why\n', hpp="// a\nint x;\n")
    assert check.outdated(tmp_path) == []
    commit(hpp="int x, y;\n")
    assert "pfeseg/cpp/a.hpp" in check.outdated(tmp_path)[0]
    commit(**{"benchmarks/speed.json": "{ }"})
    assert check.outdated(tmp_path) == []
    (tmp_path / "pfeseg/solver/a.py").unlink()
    commit()
    assert "pfeseg/solver/a.py" in check.outdated(tmp_path)[0]
    (tmp_path / "new").touch()
    assert check.uncommitted(tmp_path) == ["new: not committed"]
