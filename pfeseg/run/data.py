"""Files of data: one task a file, from its rows or edges to clusters on disk."""

from __future__ import annotations

import time
import warnings
from collections.abc import Generator, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from pfeseg import __version__
from pfeseg.engines.engine import Call, Work
from pfeseg.engines.local import Local
from pfeseg.errors import PfesegWarning, argument, failure
from pfeseg.files.clusters import CLUSTER_KINDS, ClusteredData
from pfeseg.files.edge_lists import read_graph
from pfeseg.files.inputs import Input, expand_inputs
from pfeseg.files.kinds import REPORT
from pfeseg.files.names import check_plan
from pfeseg.files.replacing import appearing_together
from pfeseg.files.tables import Table, read_table
from pfeseg.kernels import variant
from pfeseg.run.batch import Row
from pfeseg.segmentation.clock import Clock

if TYPE_CHECKING:
    from pfeseg.data.base import Affinity


@dataclass(frozen=True)
class DataSettings:
    """How a file of data is read and clustered.

    Attributes
    ----------
    n_clusters : int or "auto"
    n_neighbors : int
    init : str
        As for `pfeseg.PFEClustering`.
    standardise : bool
        Bring each column to mean 0 and variance 1 first.
    is_graph : bool
        The file holds the edges of a graph, or a matrix of their weights.
    drop : tuple of str
    id_column : str or None
        As for `read_table`.
    seed : int
    """

    n_clusters: int | Literal["auto"] = "auto"
    n_neighbors: int = 10
    init: str = "auto"
    standardise: bool = True
    is_graph: bool = False
    drop: tuple[str, ...] = ()
    id_column: str | None = None
    seed: int = 0


@dataclass(frozen=True)
class DataTask:
    """A file of data to cluster: where it is, and the path of each kind of result."""

    source: Path
    results: Mapping[str, Path]
    settings: DataSettings


def run_data_task(task: DataTask, threads: int | None = None) -> Row:
    """Cluster one file and write its results; a failure comes back as a row that says why."""
    started, name = time.perf_counter(), str(task.source)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", PfesegWarning)
        try:
            row = _cluster_and_write(task, name, threads)
        except Exception as error:
            row = Row(name, "failed", failure(error, name))
    messages = tuple(
        f"{name}: {warning.message.marked}"
        for warning in caught
        if isinstance(warning.message, PfesegWarning)
    )
    return replace(row, warnings=messages, seconds=round(time.perf_counter() - started, 3))


def _cluster_and_write(task: DataTask, name: str, threads: int | None) -> Row:
    from pfeseg.data.clusterer import PFEClustering
    from pfeseg.data.scaling import standardise

    settings, clock = task.settings, Clock(None)
    with clock("read"):
        table, affinity = _read(task.source, settings)
    with clock("cluster"):
        estimator = PFEClustering(
            settings.n_clusters,
            affinity=affinity,
            n_neighbors=settings.n_neighbors,
            init=settings.init,
            random_state=settings.seed,
            n_jobs=threads,
        )
        estimator.fit(standardise(table.values) if settings.standardise else table.values)
    sizes = np.bincount(estimator.labels_).tolist()
    n_columns = table.values.shape[1]
    what = "nodes" if settings.is_graph else "points"
    note = f"{table.n_rows} {what}"
    if not settings.is_graph:
        columns = "1 column" if n_columns == 1 else f"{n_columns} columns"
        note += f" of {columns}"
        if settings.standardise:
            note += f", standardised ({argument('scale', 'none')} leaves them as they are)"
    report = {
        "input": name,
        "pfeseg_version": __version__,
        "kernels": variant(),
        what: table.n_rows,
        **({} if settings.is_graph else {"columns": list(table.columns)}),
        "clusters": len(sizes),
        "sizes": sizes,
        "start": estimator.init_,
        "energy": estimator.energy_,
        "iterations": estimator.n_iter_,
        "settings": asdict(settings),
    }
    done = ClusteredData(
        estimator.labels_,
        estimator.embedding_,
        table.values,
        table.columns,
        table.ids,
        table.id_name,
        report,
    )
    with appearing_together():
        with clock("write"):
            for kind, path in task.results.items():
                if kind != REPORT:
                    CLUSTER_KINDS[kind].write(path, done)
        timings = {stage: round(seconds, 4) for stage, seconds in clock.seconds.items()}
        report["timings"] = timings
        if REPORT in task.results:
            CLUSTER_KINDS[REPORT].write(task.results[REPORT], done)
    return Row(
        name,
        "done",
        clusters=len(sizes),
        note=note,
        results={kind: str(path) for kind, path in task.results.items()},
        timings=timings,
    )


def find_tables(names: Iterable[str]) -> list[Input]:
    """Find the files that names and patterns stand for, in order."""
    found: list[Input] = []
    for name in names:
        if name == "-":
            found.append(Input(Path(name), problem="data cannot come from standard input"))
        elif Path(name).is_dir():
            advice = f"name its files, such as '{name}/*.csv'"
            found.append(Input(Path(name), problem=f"{name}: a folder; {advice}"))
        else:
            found += expand_inputs([name]).inputs
    return found


def plan_data(
    inputs: Iterable[Input],
    output: Path | None,
    kinds: Sequence[str],
    settings: DataSettings,
) -> list[DataTask]:
    """Decide where results go; what cannot work is refused before any work."""
    sources = [item.path for item in inputs if not item.problem]
    plan = {
        source: {
            kind: (output or source.parent) / (_stem(source) + CLUSTER_KINDS[kind].suffix)
            for kind in (*kinds, REPORT)
        }
        for source in sources
    }
    check_plan(plan, f"give them different folders with {argument('output')}", CLUSTER_KINDS)
    return [DataTask(source, results, settings) for source, results in plan.items()]


def _stem(source: Path) -> str:
    """Return the name of a file without its ending, nor that of its packing."""
    return Path(source.name.removesuffix(".gz")).stem


def run_data(
    tasks: Sequence[DataTask], jobs: int, threads: int | None = None
) -> Generator[Row, None, None]:
    """Run tasks in `jobs` processes and yield their rows as they are done."""
    own = threads or (1 if jobs > 1 else None)
    engine = Local(min(jobs, max(len(tasks), 1)))
    return engine.run(Work(run_data_task), [(task, own) for task in tasks], _give_up)


def _give_up(call: Call, reason: str) -> Row:
    name = str(call[0].source)
    return Row(name, "failed", f"{name}: given up, as two worker processes died of it ({reason})")


def _read(path: Path, settings: DataSettings) -> tuple[Table, Affinity]:
    """Read a file, and say as what affinity its values are to be taken."""
    if not settings.is_graph:
        return read_table(path, settings.drop, settings.id_column), "nearest_neighbors"
    graph = read_graph(path)
    return Table(graph.weights, (), graph.nodes, "node"), "precomputed"
