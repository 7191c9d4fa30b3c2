"""Requests that nobody means well: each ends with one line, at once."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
import pytest
from helpers import SAMPLES, names, run

from pfeseg import InvalidInputError, Settings
from pfeseg.files.names import check_template, result_paths

SCENE = SAMPLES / "scene.png"
QUICK = ("-d", 3, "--soc-iterations", 1, "--relaxed-iterations", 2)
LONG = "9" * 5000


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("--neighbours", "1e300"), "a radius of 1 to 1000 pixels"),
        (("--shard", f"1/{LONG}"), "a shard is written i/n"),
        (("--template", "{stem:>2000000000}"), "its fields are {stem}"),
        (("--template", "{stem!r}"), "its fields are {stem}"),
        (("--template", "{stem.parent}"), "its fields are {stem}"),
        (("--template", "../{stem}"), "must name a file below the folder"),
        (("-d", LONG), "is too large"),
    ],
)
def test_odd_values_are_refused_at_once(tmp_path, args, message):
    result = run("segment", SCENE, "-o", tmp_path, *args)
    assert result.exit_code == 2
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


def test_a_sweep_of_too_many_numbers_is_refused_at_once(tmp_path):
    for args in (("-d", "1:1000000"), ("-d", 5, "-k", ",".join(map(str, range(1, 1002))))):
        result = run("sweep", SCENE, "-o", tmp_path, *args)
        assert result.exit_code == 2
        assert "more than 1000 numbers" in result.stderr


@pytest.mark.parametrize("odd", [10**400, -(10**400), "x", None, [], {}, [1], True, -1, 1e300, ""])
def test_settings_of_any_json_are_made_or_refused(odd):
    plain = json.loads(Settings().to_json())
    for name in plain:
        with suppress(InvalidInputError):
            made = Settings.from_dict(plain | {name: odd})
            assert Settings.from_json(made.to_json()) == made
    for name in plain["solver"]:
        with suppress(InvalidInputError):
            made = Settings.from_dict(plain | {"solver": {name: odd}})
            assert Settings.from_json(made.to_json()) == made


def test_settings_in_odd_files_are_one_line(tmp_path):
    config = tmp_path / "odd.json"
    for text in (f'{{"texture": 1{"0" * 400}}}', f'{{"texture": {LONG}}}', "[" * 100_000, '"a"',
                 '{"method": []}', '{"cut": 3}', '{"cut": {"n_clusters": {}}}', '{"solver": 3}',
                 '{"settings": []}', '{"settings": {"seed": NaN}}', "\udcff"):  # fmt: skip
        config.write_text(text, errors="surrogateescape")
        result = run("segment", SCENE, "-o", tmp_path / "out", "--config", config)
        assert result.exit_code == 2, text[:50]
        assert result.stderr.count("\n") == 1
        assert "odd.json: " in result.stderr


@pytest.mark.parametrize("name", ["...png", "a,b\x1b[31m\x07.png", "x" * 246 + ".png", "-.png"])
def test_odd_names_of_images(tmp_path, name):
    (tmp_path / name).write_bytes(SCENE.read_bytes())
    result = run("segment", tmp_path / name, "-o", tmp_path / "out", *QUICK)
    told = [line for line in result.stderr.splitlines() if "would be the next step" not in line]
    assert len(told) == 1
    assert "\x1b" not in result.stderr
    assert "Traceback" not in result.stderr
    if len(name) < 200:
        assert result.exit_code == 0, result.stderr
        assert len(names(tmp_path / "out")) == 3
    else:
        assert "cannot be written (the name is too long)" in result.stderr
        assert names(tmp_path / "out") == []  # not even those whose names are short enough


def test_templates_name_files_below_the_folder(tmp_path):
    check_template("{parent}/{stem}_{{x}}")
    paths = result_paths(tmp_path / "...png", tmp_path, ["labels"], template="{stem}",
                         labels_format="png")  # fmt: skip
    assert all(path.parent == tmp_path for path in paths.values())
    with pytest.raises(InvalidInputError, match="below the folder"):
        result_paths(tmp_path / "a...", tmp_path, [], template="{ext}./../..", labels_format="png")


def test_names_never_reach_a_terminal_as_they_are(tmp_path):
    odd = "\x1b[31m,\x07"
    (tmp_path / odd).mkdir()
    labels = tmp_path / odd / f"{odd}.png"
    labels.write_bytes((SAMPLES / "scene_labels.png").read_bytes())
    (tmp_path / odd / "r.json").write_text(json.dumps({"pfeseg_version": odd, odd: {odd: odd}}))
    image, stage = tmp_path / odd / "i.png", tmp_path / odd / "image.npz"
    image.write_bytes(SCENE.read_bytes())
    runs = [
        run("evaluate", labels, labels),
        run("evaluate", labels, labels, "--format", "csv"),
        run("info", tmp_path / odd / "r.json"),
        run("downsample", image, "-o", stage),
        run("graph", stage, "-o", tmp_path / odd / "graph.npz"),
        run("init", stage, "-o", tmp_path / odd / "init.npz", "-d", 3),
        run("overlay", image, labels, "-o", tmp_path / odd / "o.png"),
        run("clean", labels, image, "-o", tmp_path / odd / "c.png"),
        run("sweep", image, "-d", 3, "-k", 3),
        run("segment", image, *QUICK),
        run("segment", tmp_path / "none\x1b.png", "--json"),
    ]
    for result in runs:
        assert result.exit_code == 0 or "no such file" in result.stderr, result.stderr
        assert "\x1b" not in result.output + result.stderr
        assert "\x07" not in result.output + result.stderr
    assert runs[1].stdout.splitlines()[1].startswith('"\\x1b[31m,\\x07",')


def command(*args: object) -> list[str]:
    return [sys.executable, "-m", "pfeseg", *map(str, args)]


@pytest.mark.parametrize("closed", ["2>&-", ">&- 2>&-", "<&- >&- 2>&-"])
def test_closed_streams_cost_no_result(tmp_path, closed):
    args = " ".join(command("segment", SCENE, "-o", tmp_path, "--json", *QUICK))
    assert subprocess.run(["bash", "-c", f"{args} {closed}"]).returncode == 0
    report = json.loads((tmp_path / "scene.json").read_text())
    for name, size in report["files"].items():
        assert (tmp_path / name).stat().st_size == size
    missing = " ".join(command("info", "missing.png"))
    assert subprocess.run(["bash", "-c", f"{missing} {closed}"]).returncode == 1


def test_ctrl_c_while_the_program_is_loaded(tmp_path):
    for delay in (0.06, 0.12, 0.2, 0.3):
        process = subprocess.Popen(command("segment", SCENE, "-o", tmp_path / str(delay)),
                                   stderr=subprocess.PIPE, text=True)  # fmt: skip
        time.sleep(delay)
        process.send_signal(signal.SIGINT)
        _, errors = process.communicate(timeout=20)
        if "pfeseg" in errors and "Traceback" in errors:
            assert "__main__.py" not in errors, errors  # of Python's own start we know nothing
        assert process.returncode in (0, 130, -signal.SIGINT, 1)
        if process.returncode == 130:
            assert errors.strip() == "Error: interrupted"


def test_too_little_memory_is_one_line(tmp_path):
    labels = tmp_path / "labels.npy"
    np.save(labels, np.zeros((3000, 3000), np.uint8))
    np.save(tmp_path / "image.npy", np.zeros((3000, 3000)))
    program = (
        "import resource, sys; import numpy, scipy.ndimage, PIL.Image\n"
        "from pfeseg.__main__ import run\n"
        "resource.setrlimit(resource.RLIMIT_AS, (sum(int(line.split()[1]) * 1024 for line in\n"
        "    open('/proc/self/status') if line.startswith('VmSize')) + 40_000_000,) * 2)\n"
        "run()"
    )
    for args in (("info", labels), ("evaluate", labels, labels),
                 ("downsample", tmp_path / "image.npy", "-o", tmp_path / "a.npz")):  # fmt: skip
        done = subprocess.run([sys.executable, "-c", program, *map(str, args)],
                              capture_output=True, text=True,
                              env=os.environ | {"OPENBLAS_NUM_THREADS": "1"})  # fmt: skip
        assert done.returncode == 1, args
        assert "not enough memory" in done.stderr
        assert done.stderr.count("\n") == 1
