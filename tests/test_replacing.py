"""Files that appear whole or not at all, whoever else writes or has died."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time

import pytest
from helpers import SAMPLES, names

from pfeseg import InvalidInputError
from pfeseg.files.replacing import (
    Made,
    appearing_together,
    replacing,
    replacing_folder,
    replacing_group,
)
from pfeseg.files.temporaries import LONG_DEAD, clear_strays
from pfeseg.machine import started_machine


def temporary_name(machine: str | None = None, number: int = 1) -> str:
    return f".pfeseg-{machine or started_machine()}-{number:016x}.part"


def test_a_prepared_link_is_never_written_through(tmp_path, monkeypatch):
    victim = tmp_path / "victim"
    victim.write_text("precious")
    random = iter([bytes(8), bytes(8), b"another."])
    (tmp_path / f".pfeseg-{started_machine()}-{bytes(8).hex()}.part").symlink_to(victim)
    monkeypatch.setattr(os, "urandom", lambda _: next(random))
    with pytest.raises(InvalidInputError, match="File exists"), replacing(tmp_path / "a") as file:
        file.write(b"new")
    assert victim.read_text() == "precious"


def test_several_files_appear_together_or_not_at_all(tmp_path):
    (tmp_path / "b").write_text("old")

    def write(fail: bool, **options: bool) -> None:
        with appearing_together(**options) as made:
            with replacing(tmp_path / "a") as file:
                file.write(b"new a")
            with replacing_folder(tmp_path / "f") as folder:
                (folder / "0001.png").write_text("x")
            with replacing(tmp_path / "b") as file:
                file.write(b"new b")
            assert [part.size for part in made] == [5, 1, 5]
            if fail:
                raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        write(fail=True)
    assert names(tmp_path) == ["b"]
    assert (tmp_path / "b").read_text() == "old"
    write(fail=False, replaces=False)  # the last tells of the others, and may be another
    assert names(tmp_path) == ["a", "b", "f"]
    assert (tmp_path / "b").read_text() == "new b"
    write(fail=False, replaces=False)
    (tmp_path / "f" / "0001.png").write_text("y")
    with pytest.raises(InvalidInputError, match="f: is there, but is not what this run makes"):
        write(fail=False, replaces=False)
    write(fail=False)
    assert (tmp_path / "f" / "0001.png").read_text() == "x"
    assert names(tmp_path) == ["a", "b", "f"]


def test_what_cannot_be_replaced_is_told_of_before_anything_is(tmp_path):
    (tmp_path / "a").write_text("old")
    (tmp_path / "report").mkdir()

    def write(replaces: bool) -> None:
        with appearing_together(replaces):
            for name in ("a", "report"):
                with replacing(tmp_path / name) as file:
                    file.write(b"new")

    with pytest.raises(InvalidInputError, match="report: cannot be written, as it is a folder"):
        write(replaces=True)
    assert (tmp_path / "a").read_text() == "old"
    (tmp_path / "report").rmdir()
    (tmp_path / "a").unlink()
    for target in ("a", "nowhere"):
        (tmp_path / "a").symlink_to(target)
        with pytest.raises(InvalidInputError, match="a: is there, but is not what this run makes"):
            write(replaces=False)
        write(replaces=True)
        assert (tmp_path / "a").read_text() == "new"
        (tmp_path / "a").unlink()
    assert names(tmp_path) == ["report"]


def test_strays_of_the_dead_are_cleared_and_those_of_the_living_are_not(tmp_path):
    old = time.time() - LONG_DEAD - 60
    for number, (machine, age) in enumerate([(None, 0), ("other", 0), ("other", LONG_DEAD + 60)]):
        stray = tmp_path / temporary_name(machine, number)
        stray.write_text("x")
        os.utime(stray, (time.time() - age,) * 2)
    (tmp_path / temporary_name(number=7)).mkdir()
    (tmp_path / temporary_name(number=7) / "0001.png").touch()
    (tmp_path / ".pfeseg-1234-0.part").touch()  # as earlier versions named them
    os.utime(tmp_path / ".pfeseg-1234-0.part", (old, old))
    (tmp_path / "victim").write_text("precious")
    (tmp_path / temporary_name(number=8)).symlink_to(tmp_path / "victim")
    os.mkfifo(tmp_path / temporary_name(number=9))
    (tmp_path / ".pfeseg-mine.part").touch()
    with replacing(tmp_path / "a") as file, replacing_folder(tmp_path / "f"):
        file.write(b"living")
        living = set(names(tmp_path))
        clear_strays([tmp_path, tmp_path / "missing"])
        gone = living - set(names(tmp_path))
        assert gone == {
            temporary_name(None, 0), temporary_name("other", 2), temporary_name(number=7),
            ".pfeseg-1234-0.part",
        }  # fmt: skip
    assert {"a", "f", "victim"} <= set(names(tmp_path))


def test_all_bytes_are_on_the_disk_before_anything_gets_its_name(tmp_path, monkeypatch):
    events, sync, appear = [], os.fsync, Made.appear

    def told_sync(held):
        events.append(os.fstat(held).st_ino)
        sync(held)

    def told_appear(part):
        events.append(part.final.name)
        appear(part)

    monkeypatch.setattr(os, "fsync", told_sync)
    monkeypatch.setattr(Made, "appear", told_appear)
    with appearing_together():
        for name in "ab":
            with replacing(tmp_path / name) as file:
                file.write(b"x")
        with replacing_folder(tmp_path / "f") as folder:
            for number in range(3):
                (folder / f"000{number}.png").write_bytes(b"y")
        with replacing_group(tmp_path / "g") as folder:
            (folder / "g").write_text("z")
            (folder / "g.beside").write_text("z")
    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    assert len(files) == 7
    assert sorted(events[:7]) == sorted(path.stat().st_ino for path in files)
    assert events[7:] == ["a", "b", "f", "g.beside", "g"]


WRITE_FOR_EVER = """
import sys
from pathlib import Path
from pfeseg.files.replacing import appearing_together, replacing
while True:
    with appearing_together():
        for name in "abcd":
            with replacing(Path(sys.argv[1]) / name) as file:
                file.write(sys.argv[2].encode() * 100_000)
"""


def apart(*command: str) -> list[str]:
    """Run a command so that its process has the number 1, as in a container, if we may."""
    alone = ["unshare", "--pid", "--fork", "--mount-proc", "--kill-child"]
    may = shutil.which("unshare") and subprocess.run([*alone, "true"], capture_output=True)
    return [*(alone if may and may.returncode == 0 else []), *command]


def test_two_that_write_the_same_files_end_with_one_set_even_when_killed(tmp_path):
    command = apart(sys.executable, "-c", WRITE_FOR_EVER, str(tmp_path))
    for _ in range(3):
        both = [subprocess.Popen([*command, what], start_new_session=True) for what in "xy"]
        deadline = time.time() + 20
        while not {"a", "b", "c", "d"} <= set(names(tmp_path)) and time.time() < deadline:
            time.sleep(0.05)
        time.sleep(0.5)
        for process in both:
            assert process.poll() is None  # neither failed at what the other did
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
        sets = [(tmp_path / name).read_bytes() for name in "abcd" if (tmp_path / name).exists()]
        assert len(sets) >= 3
        assert all(len(content) == 100_000 and len(set(content)) == 1 for content in sets)
        if len(sets) == 4:  # the last is there, so all are of one set
            assert len(set(sets)) == 1
    for _ in range(50):  # what was killed may hold its locks for a moment
        clear_strays([tmp_path])
        if set(names(tmp_path)) <= set("abcd"):
            break
        time.sleep(0.1)
    assert set(names(tmp_path)) <= set("abcd")


def test_two_runs_with_equal_process_numbers_do_not_mix_their_pictures(tmp_path):
    for k, name in enumerate(("chelsea", "coffee", "rocket", "astronaut")):
        (tmp_path / f"{k}.jpg").write_bytes((SAMPLES / f"{name}.jpg").read_bytes())

    def command(shard: str, out: str) -> list[str]:
        return apart(sys.executable, "-m", "pfeseg", "segment", str(tmp_path), "--shard", shard,
                     "-o", str(tmp_path / out), "-d", "3", "-q", "--threads", "1")  # fmt: skip

    assert subprocess.run(command("1/1", "alone")).returncode == 0
    both = [subprocess.Popen(command(shard, "both")) for shard in ("1/2", "2/2")]
    assert [process.wait() for process in both] == [0, 0]
    assert names(tmp_path / "both") == names(tmp_path / "alone")
    for path in (tmp_path / "alone").glob("*.png"):
        assert path.read_bytes() == (tmp_path / "both" / path.name).read_bytes()
    for path in (tmp_path / "both").glob("*.json"):
        files = json.loads(path.read_text())["files"]
        assert files == {name: (path.parent / name).stat().st_size for name in files}


def test_a_group_appears_with_what_lies_beside_it_and_what_is_stale_goes(tmp_path):
    path, style, other = (tmp_path / name for name in ("a.tif", "a.qml", "a.tif.aux.xml"))
    for old in (path, other):
        old.write_text("old")
    with appearing_together() as made:
        with replacing_group(path, (style, other)) as folder:
            (folder / "a.tif").write_text("new")
            (folder / "a.qml").write_text("colours")
        assert [part.final for part in made] == [style, path]
        assert path.read_text() == "old"
    after = {"a.tif": "new", "a.qml": "colours"}
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == after
    with pytest.raises(UnicodeEncodeError), replacing_group(path) as folder:
        (folder / "a.tif").write_text("half\udc80", encoding="utf-8")
    assert {p.name: p.read_text() for p in tmp_path.iterdir()} == after
