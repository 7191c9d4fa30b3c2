"""``pfeseg segment`` on many images."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from contextlib import suppress

import imageio.v3 as iio
import numpy as np
import pytest
from click.testing import CliRunner
from faults import run_undisturbed, start_batch, stop_and_finish
from helpers import children, names, run

from pfeseg.cli import main
from pfeseg.files.labels import read_labels

QUICK = ("-d", 3, "--soc-iterations", 1, "--relaxed-iterations", 5)


@pytest.fixture
def folder(tmp_path):
    """Make a folder of small images, one of them bad, and a subfolder."""
    rng = np.random.default_rng(0)
    base = tmp_path / "in"
    (base / "sub").mkdir(parents=True)
    for name in ("a.png", "b.png", "c.png", "sub/d.png"):
        colours = rng.integers(0, 256, (3, 3, 3), dtype=np.uint8)
        iio.imwrite(base / name, colours.repeat(16, 0).repeat(12, 1))
    (base / "bad.png").write_text("no image")
    return base


def listing(folder) -> list[str]:
    return sorted(str(p.relative_to(folder)) for p in folder.rglob("*") if p.is_file())


@pytest.mark.parametrize("jobs", [1, 2])
def test_a_bad_file_does_not_stop_a_batch(folder, tmp_path, jobs):
    out = tmp_path / "out"
    result = run("segment", folder, "-r", "-o", out, "--jobs", jobs, *QUICK)
    assert result.exit_code == 1
    assert listing(out) == sorted(
        f"{stem}{end}" for stem in ("a", "b", "c", "sub/d")
        for end in (".json", "_labels.png", "_overlay.png")
    )  # fmt: skip
    assert "5 images: 4 done, 1 failed" in result.stderr
    assert result.stderr.count("bad.png: not an image that can be read") == 2  # at once, and listed
    assert "Traceback" not in result.stderr


def test_jobs_do_not_change_a_byte(folder, tmp_path):
    (folder / "bad.png").unlink()
    for jobs in (1, 2):
        assert (
            run("segment", folder, "-o", tmp_path / str(jobs), "--jobs", jobs, *QUICK).exit_code
            == 0
        )
    for name in ("a", "b", "c"):
        one, two = (tmp_path / jobs / f"{name}_labels.png" for jobs in "12")
        assert one.read_bytes() == two.read_bytes()
        reports = [json.loads((tmp_path / j / f"{name}.json").read_text()) for j in "12"]
        assert reports[0]["settings"] == reports[1]["settings"]


def test_place_in_the_batch_does_not_matter(folder, tmp_path):
    run("segment", folder, "-o", tmp_path / "all", *QUICK)
    run("segment", folder / "c.png", "-o", tmp_path / "one", *QUICK)
    all_, one = (tmp_path / where / "c_labels.png" for where in ("all", "one"))
    assert all_.read_bytes() == one.read_bytes()


def test_fail_fast(folder, tmp_path):
    result = run("segment", folder, "-o", tmp_path / "out", "--fail-fast", *QUICK)
    assert result.exit_code == 1
    assert "not tried" in result.stderr
    assert "c_labels.png" not in names(tmp_path / "out")


def test_fail_fast_with_jobs(folder, tmp_path):
    for k in range(20):
        shutil.copy(folder / "c.png", folder / f"z{k}.png")
    args = ("segment", folder, "-o", tmp_path / "out", "--jobs", 2, *QUICK)
    result = run(*args, "--fail-fast")
    assert result.exit_code == 1
    assert "not tried" in result.stderr
    assert "z19_labels.png" not in names(tmp_path / "out")


def test_json_lines(folder, tmp_path):
    result = run(
        "segment", folder, folder / "no.png", "-o", tmp_path / "out", "--json", "-q", *QUICK
    )
    rows = {row["input"]: row for row in map(json.loads, result.stdout.splitlines())}
    assert len(rows) == 5
    assert rows[str(folder / "a.png")]["status"] == "done"
    assert rows[str(folder / "a.png")]["regions"] >= 1
    assert rows[str(folder / "bad.png")]["error"].endswith("not an image that can be read")
    assert rows[str(folder / "no.png")]["status"] == "failed"
    assert result.stderr.count("\n") == 2  # the two errors


def test_quiet_and_verbose(folder, tmp_path):
    quiet = run("segment", folder / "a.png", "-o", tmp_path / "q", "-q", *QUICK)
    assert (quiet.stdout, quiet.stderr) == ("", "")
    loud = run("segment", folder / "a.png", "-o", tmp_path / "v", "-v", *QUICK)
    assert "embed 0." in loud.stderr


def test_what_is_left_out_of_a_folder_is_said_in_one_line(folder, tmp_path):
    (folder / "bad.png").unlink()
    for name in ("x.mov", "y.mov", "notes.txt"):
        (folder / name).touch()
    args = ("segment", folder, "--overwrite", *QUICK)
    for _ in range(2):  # results beside the images are not counted
        loud = run(*args)
        assert loud.exit_code == 0
        assert loud.stderr.splitlines()[0] == "files left out: 2 .mov, 1 .txt"
    assert run(*args, "-q").stderr == ""


def test_shards_find_clashes_of_all(folder, tmp_path):
    iio.imwrite(folder / "a.jpg", np.zeros((40, 40, 3), np.uint8))
    result = run("segment", folder, "-o", tmp_path / "out", "--shard", "1/2", *QUICK)
    assert result.exit_code == 2
    assert "would both write" in result.stderr


def test_names_with_newlines_stay_on_one_line(folder, tmp_path):
    shutil.copy(folder / "bad.png", folder / "new\nline.png")
    result = run("segment", folder / "new\nline.png", "-o", tmp_path / "out", *QUICK)
    assert result.exit_code == 1
    assert result.stderr.count("\n") == 1
    assert "new\\nline.png" in result.stderr


def test_warnings_name_their_image(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("pfeseg.solver.pcg.MAX_PCG_ITERATIONS", 1)
    ic0 = ("--preconditioner", "ic0", "--pcg-rtol", "1e-9")
    args = ("segment", folder / "a.png", *QUICK, *ic0, "-o")
    result = run(*args, tmp_path / "out")
    assert result.exit_code == 0
    assert "Warning: " in result.stderr
    assert "a.png: the conjugate gradient hit its cap" in result.stderr
    assert json.loads((tmp_path / "out" / "a.json").read_text())["pcg_capped"] > 0
    assert run(*args, tmp_path / "quiet", "-q").stderr == ""


def test_shards_part_the_work(folder, tmp_path):
    (folder / "bad.png").unlink()
    for shard in ("1/2", "2/2"):
        run("segment", folder, "-r", "-o", tmp_path / shard[0], "--shard", shard, *QUICK)
    first, second = (set(listing(tmp_path / s)) for s in "12")
    assert not first & second
    assert len(first | second) == 4 * 3


def test_standard_input_and_lists(folder, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    args = ["segment", "-", "-o", "out", *map(str, QUICK)]
    piped = CliRunner().invoke(main, args, input=(folder / "a.png").read_bytes())
    assert piped.exit_code == 0, piped.stderr
    assert names(tmp_path / "out") == ["stdin.json", "stdin_labels.png", "stdin_overlay.png"]
    shutil.copy(folder / "a.png", folder / "new\nline ä.png")
    (tmp_path / "list").write_bytes(os.fsencode(f"{folder}/b.png\0{folder}/new\nline ä.png\0"))
    listed = run("segment", "--files-from", "list", "-o", "out2", *QUICK)
    assert listed.exit_code == 0
    assert "new\nline ä_labels.png" in names(tmp_path / "out2")
    args = ["segment", "--files-from", "-", "-o", "out3", *map(str, QUICK)]
    assert CliRunner().invoke(main, args, input=f"{folder}/c.png\n").exit_code == 0
    assert run("segment", f"{folder}/*.png", "-o", "out4", *QUICK).exit_code == 1  # bad.png


def test_template_and_clashes(folder, tmp_path):
    iio.imwrite(folder / "a.jpg", np.zeros((40, 40, 3), np.uint8))
    out = tmp_path / "out"
    clash = run("segment", folder, "-o", out, *QUICK)
    assert clash.exit_code == 2
    assert "would both write" in clash.stderr
    assert not out.exists()
    told_apart = run("segment", folder / "a.png", folder / "a.jpg", "-o", out,
                     "--template", "{stem}-{ext}", *QUICK)  # fmt: skip
    assert told_apart.exit_code == 0
    assert {"a-png_labels.png", "a-jpg_labels.png"} <= set(names(out))


def advised(result) -> list[str]:
    """Return the option that a clash advises, as one types it."""
    assert result.exit_code == 2
    assert result.stderr.count("\n") == 1
    return shlex.split(result.stderr.split("; ")[1].split(" tells them apart")[0])


@pytest.mark.parametrize("others", [["in/a.jpg"], ["other/a.png"], ["in/a.jpg", "other/a.png"]])
@pytest.mark.parametrize("template", ["{stem}", "run-{stem}", "{ext}"])
def test_the_template_that_a_clash_advises_helps(folder, tmp_path, others, template):
    for name in others:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        iio.imwrite(tmp_path / name, np.zeros((40, 40, 3), np.uint8))
    images = [folder / "a.png", folder / "b.png", *(tmp_path / name for name in others)]
    args = ("segment", *images, "-o", tmp_path / "out", "--save", "labels", *QUICK)
    option, better = advised(run(*args, "--template", template))
    assert option == "--template"
    assert better.startswith(template) or better.startswith("{parent}_" + template)
    assert run(*args, option, better).exit_code == 0
    assert len(listing(tmp_path / "out")) == 2 * len(images)


def test_a_clash_that_no_template_resolves_says_what_does(tmp_path):
    for name in ("x/in/a.png", "y/in/a.png"):
        (tmp_path / name).parent.mkdir(parents=True)
        iio.imwrite(tmp_path / name, np.zeros((40, 40, 3), np.uint8))
    images = (tmp_path / "x/in/a.png", tmp_path / "y/in/a.png")
    clash = run("segment", *images, "-o", tmp_path / "out", *QUICK)
    assert clash.exit_code == 2
    assert "--template" not in clash.stderr
    assert "without -o results go beside their inputs" in clash.stderr
    out = ("-o", tmp_path / "out")
    assert run("segment", tmp_path, "-r", *out, *QUICK).exit_code == 0
    assert {"x/in/a.json", "y/in/a.json"} <= set(listing(tmp_path / "out"))
    assert run("segment", *images, *QUICK).exit_code == 0


def test_everything_can_be_saved(folder, tmp_path):
    kinds = "labels,overlay,boundaries,embedding,regions,coco,geojson"
    result = run("segment", folder / "a.png", "-o", tmp_path, "--save", kinds,
                 "--labels-format", "npy", "-d", 5)  # fmt: skip
    assert result.exit_code == 0, result.stderr
    labels = read_labels(tmp_path / "a_labels.npy")
    boundaries = iio.imread(tmp_path / "a_boundaries.png")
    assert set(np.unique(boundaries)) <= {0, 255}
    assert boundaries.shape == labels.shape
    montage = iio.imread(tmp_path / "a_embedding.png")
    assert montage.shape[2] == 3
    assert montage.size >= 5 * labels.size // 16
    assert len((tmp_path / "a_regions.csv").read_text().splitlines()) == labels.max() + 2
    coco = json.loads((tmp_path / "a_coco.json").read_text())
    assert sum(a["area"] for a in coco["annotations"]) == labels.size
    assert json.loads((tmp_path / "a_regions.geojson").read_text())["type"] == "FeatureCollection"


def test_config_replays_a_run_exactly(samples, tmp_path):
    first = run("segment", samples / "chelsea.jpg", "-o", tmp_path / "1", "-d", 5, "-k", 4,
                "--seed", 9, "--neighbours", 8, "--lam", 5000, "--downsample", 8)  # fmt: skip
    assert first.exit_code == 0
    report = tmp_path / "1" / "chelsea.json"
    second = run("segment", samples / "chelsea.jpg", "-o", tmp_path / "2", "--config", report)
    assert second.exit_code == 0, second.stderr
    one, two = (tmp_path / n / "chelsea_labels.png" for n in "12")
    assert one.read_bytes() == two.read_bytes()
    changed = run("segment", samples / "chelsea.jpg", "-o", tmp_path / "3", "--config", report,
                  "-k", 2)  # fmt: skip
    assert changed.exit_code == 0
    assert json.loads((tmp_path / "3" / "chelsea.json").read_text())["regions"] == 2


def test_a_level_of_an_earlier_version_is_refused(samples, tmp_path):
    args = ("segment", samples / "chelsea.jpg", "--max-size", 60, "-o")
    assert run(*args, tmp_path / "1", "--level", 0.3).exit_code == 0
    report = tmp_path / "1" / "chelsea.json"
    again = run(*args, tmp_path / "2", "--config", report)
    assert again.exit_code == 0, again.stderr
    one, two = (tmp_path / n / "chelsea_labels.png" for n in "12")
    assert one.read_bytes() == two.read_bytes()
    report.write_text(json.dumps(json.loads(report.read_text()) | {"method_version": 1}))
    refused = run(*args, tmp_path / "3", "--config", report)
    assert refused.exit_code == 2
    assert "its level 0.3 is of an earlier version" in refused.stderr
    assert run(*args, tmp_path / "3", "--config", report, "--level", 0.3).exit_code == 0


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["--shard", "3/2"], "i/n"),
        (["-q", "-v"], "not both"),
        (["-", "--files-from", "-"], "standard input can hold"),
        (["--sigma", "-1"], "--sigma must be"),
        (["--neighbours", "0.5"], "--neighbours must be"),
        (
            ["--threads", "3000000000"],
            "--threads: expected a number from 1 to 1024, found 3000000000",
        ),
        (["--config", "{empty}"], "holds no settings"),
        (["--save", "labels,mask"], "'mask' is not one of labels"),
        (["--template", "{name}"], "its fields are {stem}"),
        (["--neighbours", "many"], "neither 4, 8 nor a radius"),
        (["--sigma", "max"], "neither 'rms', '0.8rms' nor a number"),
        (["--lam", "-1"], "--lam must be a positive number"),
        (["--soc-iterations", "-1"], "--soc-iterations must be"),
        (["--jobs", "0"], "--jobs: expected at least 1, found 0"),
        (["--config", "missing.json"], "does not exist"),
        (["--config", "{text}"], "not JSON that can be read"),
        (["--config", "{odd}"], "unknown settings: speed"),
        (["--config", "{odd}", "--preset", "paper"], "not both"),
        (["-o", "{text}"], "is a file"),
    ],
)
def test_wrong_options_are_found_before_any_work(folder, tmp_path, args, message):
    places = {"text": tmp_path / "text", "odd": tmp_path / "odd.json", "stem": "{stem}"}
    places["text"].write_text("hello")
    places["odd"].write_text('{"speed": 3}')
    places["empty"] = tmp_path / "empty.json"
    places["empty"].write_text("{}")
    filled = [a if a == "{name}" else a.format(**places) for a in args]
    output = [] if "-o" in args else ["-o", tmp_path / "out"]
    result = run("segment", folder, *output, *filled)
    assert result.exit_code == 2, result.stderr
    assert message in result.stderr
    assert result.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()
    assert "a_labels.png" not in names(folder)


@pytest.mark.parametrize("when", ["alone", "jobs"])
def test_ctrl_c_leaves_nothing_half_written_and_gives_130(samples, tmp_path, when):
    big = tmp_path / "in"
    big.mkdir()
    for k in range(4):
        shutil.copy(samples / "rocket.jpg", big / f"{k}.jpg")
    command = [sys.executable, "-m", "pfeseg", "segment", str(big), "-o", str(tmp_path / "out"),
               "--preset", "paper", "--downsample", "1",
               "--jobs", "1" if when == "alone" else "2"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    time.sleep(4)
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert process.returncode == 130, errors
    assert errors.splitlines()[-1] == "Error: interrupted"
    left = listing(tmp_path / "out") if (tmp_path / "out").exists() else []
    assert not [name for name in left if name.endswith(".part")]


def test_sigterm_ends_the_workers_and_leaves_nothing_half_written(samples, tmp_path):
    big = tmp_path / "in"
    big.mkdir()
    for k in range(4):
        shutil.copy(samples / "rocket.jpg", big / f"{k}.jpg")
    command = [sys.executable, "-m", "pfeseg", "segment", str(big), "-o", str(tmp_path / "out"),
               "--preset", "paper", "--downsample", "1", "--jobs", "2"]  # fmt: skip
    process = subprocess.Popen(command, stderr=subprocess.PIPE, start_new_session=True)
    time.sleep(4)
    process.terminate()
    process.communicate(timeout=20)  # ends only when no worker holds the pipe any more
    assert process.returncode == 143
    left = listing(tmp_path / "out") if (tmp_path / "out").exists() else []
    assert not [name for name in left if name.endswith(".part")]


def test_killed_workers_cost_no_image(whole, tmp_path):
    process = start_batch(whole.parent / "in", tmp_path / "out")
    killed = set()
    while len(killed) < 2 and process.poll() is None:
        for worker in set(children(process.pid)) - killed:
            with suppress(ProcessLookupError):  # it has just ended by itself
                os.kill(worker, signal.SIGKILL)
                killed.add(worker)
                time.sleep(0.3)
    _, errors = process.communicate(timeout=30)
    assert killed, "the batch was over before a worker could be killed"
    assert process.returncode == 0, errors
    assert "4 images: 4 done, 0 failed" in errors
    assert names(tmp_path / "out") == names(whole)


def test_an_image_that_is_too_large_for_its_worker_fails_alone(folder, tmp_path):
    (folder / "bad.png").unlink()
    iio.imwrite(folder / "big.png", np.zeros((9000, 9000), np.uint8))
    # Room for the small ones; as a worker is killed or refused memory where it is short.
    limited = f"ulimit -v 700000; {shlex.join([sys.executable, '-m', 'pfeseg'])} segment"
    command = f"{limited} {folder} -o {tmp_path}/out --jobs 2 --memory-limit none -d 3"
    done = subprocess.run(["sh", "-c", command], capture_output=True, text=True)
    assert done.returncode == 1, done.stderr
    assert "4 images: 3 done, 1 failed" in done.stderr
    assert "big.png: " in done.stderr
    assert "--downsample" in done.stderr
    assert "Traceback" not in done.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Run a batch that nothing disturbs."""
    return run_undisturbed(tmp_path_factory.mktemp("faults"))


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM, signal.SIGINT])
def test_a_batch_that_was_stopped_at_any_moment_can_be_finished(whole, tmp_path, number):
    stop_and_finish(whole, tmp_path / "out", [(number, 0.7)])


@pytest.mark.parametrize(("preset", "runs"), [("paper", 300), ("default", 60)])
def test_memory_stays_flat_over_many_images(folder, tmp_path, preset, runs):
    program = """
import resource, sys
from pathlib import Path
from pfeseg.run.batch import run_task
from pfeseg.run.plan import Task
from pfeseg.files.names import result_paths
from pfeseg.segmentation.settings import Settings
source, out = Path(sys.argv[1]), Path(sys.argv[2])
preset, runs = sys.argv[3], int(sys.argv[4])
settings = Settings.preset(preset, n_dims=3, soc_iterations=1, relaxed_iterations=2)
results = result_paths(source, out, ["labels", "overlay"], template="{stem}", labels_format="png")
peaks = []
for k in range(runs):
    assert run_task(Task(source, results, settings), threads=1).status == "done"
    if k in (runs // 3, runs - 1):
        peaks.append(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)
print((peaks[1] - peaks[0]) / 1024)
"""
    command = [sys.executable, "-c", program, str(folder / "a.png"), str(tmp_path),
               preset, str(runs)]  # fmt: skip
    run_ = subprocess.run(command, capture_output=True, text=True, check=True)
    assert float(run_.stdout) < 10  # MB
