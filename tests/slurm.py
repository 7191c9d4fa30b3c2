"""A SLURM of one node on this machine; also a program that tries what ``docs/cluster.md`` shows."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from importlib.util import find_spec
from pathlib import Path

import imageio.v3 as iio
import numpy as np
from helpers import ROOT, run, wait_until

EXAMPLES = ROOT / "docs" / "examples"
LOOPBACK = ("127.0.0.1", 0)

# What administrators run lies in sbin; pfeseg lies beside this Python.
PATH = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"], "/usr/sbin"])
ENVIRONMENT = os.environ | {"PATH": PATH}
PROGRAMS = ("munged", "slurmctld", "slurmd", "sbatch", "scancel", "scontrol", "sinfo", "squeue")

CONFIGURATION = """
ClusterName=trial
SlurmctldHost=localhost(127.0.0.1)
SlurmctldPort={controller}
SlurmdPort={node}
CommunicationParameters=NoInAddrAny,NoCtldInAddrAny
AuthType=auth/munge
# A job that was put back into the queue begins again when its credential has expired.
AuthInfo=socket={folder}/munge.socket,cred_expire=5
SlurmUser={user}
SlurmdUser={user}
StateSaveLocation={folder}/state
SlurmdSpoolDir={folder}/spool
SlurmctldPidFile={folder}/slurmctld.pid
SlurmdPidFile={folder}/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU_Memory
SlurmdParameters=config_overrides
ReturnToService=2
NodeName=localhost CPUs=4 RealMemory=16000
PartitionName=trial Nodes=localhost Default=YES
"""


class Slurm:
    """A SLURM that runs, and its commands; see `running_slurm`."""

    def __init__(self, folder: Path) -> None:
        # Dask's workers and scheduler are to stay on this machine too.
        self.environment = ENVIRONMENT | {
            "SLURM_CONF": str(folder / "slurm.conf"),
            "DASK_JOBQUEUE__SLURM__INTERFACE": "lo",
        }

    def tell(self, *words: object, cwd: Path | None = None) -> str:
        """Return what a command prints."""
        told = subprocess.run(
            list(map(str, words)), env=self.environment, cwd=cwd, capture_output=True, text=True
        )
        assert told.returncode == 0, told.stderr
        return told.stdout

    def is_ready(self) -> bool:
        """Tell whether the daemons have found each other."""
        told = subprocess.run(
            ["sinfo", "-ho", "%T"], env=self.environment, capture_output=True, text=True
        )
        return told.stdout.strip() == "idle"

    def has_no_jobs(self) -> bool:
        """Tell whether no job is waiting or running."""
        return not self.tell("squeue", "-h")


def missing_programs() -> list[str]:
    """List what of SLURM is not installed."""
    return [name for name in PROGRAMS if shutil.which(name, path=PATH) is None]


@contextmanager
def running_slurm() -> Iterator[Slurm]:
    """Run SLURM on loopback addresses during a block; its jobs end with it, and so do its files."""
    temporary = tempfile.TemporaryDirectory(prefix="slurm-", ignore_cleanup_errors=True)
    with temporary as name, ExitStack() as stack:
        folder = Path(name)
        folder.chmod(0o755)  # as munged demands; the key is its user's alone
        _configure(folder)
        slurm = Slurm(folder)
        files = ("key-file", "socket", "pid-file", "log-file", "seed-file")
        munge = [f"--{name}={folder}/munge.{name}" for name in files]
        stack.enter_context(_running(["munged", "--foreground", *munge], slurm, folder))
        _await((folder / "munge.socket").exists, folder)
        stack.enter_context(_running(["slurmctld", "-D"], slurm, folder))
        stack.enter_context(_running(["slurmd", "-D", "-N", "localhost"], slurm, folder))
        _await(slurm.is_ready, folder)
        try:
            yield slurm
        finally:
            slurm.tell("scancel", "--full", "--partition=trial")
            wait_until(slurm.has_no_jobs, 60)


def _configure(folder: Path) -> None:
    key = folder / "munge.key-file"
    key.touch(0o600)
    key.write_bytes(os.urandom(128))
    for name in ("state", "spool"):
        (folder / name).mkdir()
    with socket.create_server(LOOPBACK) as controller, socket.create_server(LOOPBACK) as node:
        ports = {"controller": controller.getsockname()[1], "node": node.getsockname()[1]}
    user = Path(f"/proc/{os.getpid()}").owner()
    configuration = CONFIGURATION.format(folder=folder, user=user, **ports)
    (folder / "slurm.conf").write_text(configuration)


@contextmanager
def _running(command: list[str], slurm: Slurm, folder: Path) -> Iterator[None]:
    """Run a daemon during a block; it also ends if this process is killed."""
    with (folder / f"{command[0]}.log").open("wb") as log:
        process = subprocess.Popen(
            ["setpriv", "--pdeathsig", "TERM", *command],
            stdin=subprocess.DEVNULL, stdout=log, stderr=log, env=slurm.environment,
        )  # fmt: skip
    try:
        yield
    finally:
        process.terminate()
        process.wait(30)


def _await(is_ready: Callable[[], bool], folder: Path) -> None:
    """Wait for the daemons; if they do not come, fail with what they say."""
    try:
        wait_until(is_ready)
    except AssertionError as error:
        logs = "\n".join(path.read_text() for path in folder.glob("*log*"))
        raise AssertionError(f"SLURM does not start:\n{logs}") from error


def make_photos(folder: Path, count: int) -> Path:
    """Make a folder of images, some of them in a subfolder."""
    (folder / "more").mkdir(parents=True)
    rng = np.random.default_rng(0)
    for k in range(count):
        colours = rng.integers(0, 256, (9, 12, 3), dtype=np.uint8)
        name = f"more/{k}.jpg" if k % 3 == 0 else f"{k}.jpg"
        iio.imwrite(folder / name, colours.repeat(20, 0).repeat(20, 1))
    return folder


def contents(results: Path) -> dict[str, bytes]:
    """Return what all files of a folder hold, but for the reports, which tell the time."""
    files = (path for path in results.rglob("*") if path.is_file())
    return {str(path.relative_to(results)): b"" if path.suffix == ".json" else path.read_bytes()
            for path in files}  # fmt: skip


def local_results(photos: Path, results: Path) -> dict[str, bytes]:
    """Segment images in this process, without any cluster."""
    outcome = run("segment", photos, "-r", "-o", results, "-q")
    assert outcome.exit_code == 0, outcome.stderr
    return contents(results)


def reports(results: Path) -> dict[Path, int]:
    """Return when each image was done."""
    return {path: path.stat().st_mtime_ns for path in results.rglob("*.json")}


def try_array(slurm: Slurm, photos: Path, results: Path) -> None:
    """Segment images by the job array of the docs, of fewer and smaller jobs than it has."""
    submit(slurm, photos, results)
    wait_until(slurm.has_no_jobs, 60)


def submit(slurm: Slurm, photos: Path, results: Path) -> str:
    """Submit the job array of the docs, and return its number."""
    options = ("--parsable", "--array=1-2", "--cpus-per-task=2", "--mem=2G")
    script = EXAMPLES / "slurm_array.sh"
    return slurm.tell("sbatch", *options, script, photos, results, cwd=photos.parent).strip()


def try_requeue(slurm: Slurm, photos: Path, results: Path) -> int:
    """Put the jobs of an array back into the queue, and return how many images were done before."""
    number = submit(slurm, photos, results)
    wait_until(lambda: bool(reports(results)))
    slurm.tell("scontrol", "requeue", number)
    wait_until(lambda: "RUNNING" not in slurm.tell("squeue", "-ho", "%T"))
    before = reports(results)
    wait_until(slurm.has_no_jobs, 120)
    after = reports(results)
    assert len(before) < len(after), "all was done before the jobs were stopped"
    assert before.items() <= after.items(), "what was done is done again"
    return len(before)


def try_jobqueue(slurm: Slurm, photos: Path, results: Path) -> None:
    """Segment images on Dask workers that are jobs."""
    slurm.tell(sys.executable, EXAMPLES / "jobqueue.py", photos, results, cwd=photos.parent)


def try_ctrl_c(slurm: Slurm, photos: Path, results: Path) -> int:
    """Press Ctrl-C while Dask workers are at work, and return how many images were done."""
    command = [sys.executable, EXAMPLES / "jobqueue.py", photos, results]
    process = subprocess.Popen(
        command, env=slurm.environment, cwd=photos.parent, start_new_session=True,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip
    wait_until(lambda: bool(reports(results)), 60)
    os.killpg(process.pid, signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 130, told
    assert "Traceback" not in told, told
    wait_until(slurm.has_no_jobs)
    assert not list(results.rglob(".*")), "something is left half written"
    return len(reports(results))


def main() -> None:
    """Try the examples, and tell what came out."""
    if missing := missing_programs():
        sys.exit(f"No SLURM here: {missing[0]} is missing; apt-get install slurm-wlm munge")
    with tempfile.TemporaryDirectory() as name, running_slurm() as slurm:
        folder = Path(name)
        photos = make_photos(folder / "my photos", 24)
        alone = local_results(photos, folder / "alone")
        try_array(slurm, photos, folder / "array")
        assert contents(folder / "array") == alone
        print(f"Job array: {len(reports(folder / 'array'))} images, with the bytes of one process")
        done = try_requeue(slurm, photos, folder / "requeued")
        assert contents(folder / "requeued") == alone
        print(f"Put back into the queue after {done} images: finished, with the same bytes")
        if find_spec("dask_jobqueue") is None:
            sys.exit("Without Dask on SLURM: pip install dask-jobqueue 'pfeseg[dask]'")
        try_jobqueue(slurm, photos, folder / "dask")
        assert contents(folder / "dask") == alone
        print("Dask workers as jobs: the same bytes")
        done = try_ctrl_c(slurm, photos, folder / "interrupted")
        print(f"Ctrl-C after {done} images: exit code 130, no job is left")


if __name__ == "__main__":
    main()
