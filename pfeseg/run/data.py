"""Files of data: one task a file, from its rows or edges to clusters on disk."""

from __future__ import annotations

from collections.abc import Generator, Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np

from pfeseg.data import METHOD_VERSION
from pfeseg.engines.engine import Engine, Work
from pfeseg.errors import argument
from pfeseg.files.clusters import CLUSTER_KINDS, ClusteredData
from pfeseg.files.edge_lists import read_graph
from pfeseg.files.inputs import Input, expand_inputs
from pfeseg.files.kinds import REPORT
from pfeseg.files.names import ResultPaths, check_plan
from pfeseg.files.tables import Table, read_table
from pfeseg.run.results import input_facts, write_kinds, write_results
from pfeseg.run.rows import Row, attempt, give_up
from pfeseg.run.task import FileTask
from pfeseg.segmentation.clock import Clock

if TYPE_CHECKING:
    from pfeseg.data.base import Affinity
    from pfeseg.data.clusterer import PFEClustering


@dataclass(frozen=True)
class DataSettings:
    """How a file of data is read and clustered.

    Attributes
    ----------
    n_clusters : int or "auto"
    n_neighbors : int
    init : str
        As for `pfeseg.PFEClustering`.
    scale : {"standard", "none"}
        Whether each column is brought to mean 0 and variance 1 first.
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
    scale: Literal["standard", "none"] = "standard"
    is_graph: bool = False
    drop: tuple[str, ...] = ()
    id_column: str | None = None
    seed: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Return the settings as plain values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> DataSettings:
        """Make settings of what `to_dict` returned."""
        return cls(**values | {"drop": tuple(values["drop"])})


@dataclass(frozen=True)
class DataTask(FileTask):
    """A file of data to cluster."""

    settings: DataSettings

    kinds: ClassVar = CLUSTER_KINDS
    method_version: ClassVar = METHOD_VERSION
    for_less_memory: ClassVar = "give it fewer rows"


def run_data_task(task: DataTask, threads: int | None = None) -> Row:
    """Cluster one file and write its results; a failure comes back as a row that says why."""
    return attempt(task, lambda _: _cluster_and_write(task, threads))


def _cluster_and_write(task: DataTask, threads: int | None) -> dict[str, Any]:
    settings, clock, facts = task.settings, Clock(), input_facts(task)
    with clock("read"):
        table, affinity = _read(task.source, settings)
    with clock("cluster"):
        estimator = _cluster(table, affinity, settings, threads)
    done = ClusteredData(
        estimator.labels_,
        estimator.embedding_,
        table.values,
        table.columns,
        table.ids,
        table.id_name,
    )
    sizes = np.bincount(estimator.labels_).tolist()
    report = {
        _what(settings): table.n_rows,
        **({} if settings.is_graph else {"columns": list(table.columns)}),
        "clusters": len(sizes),
        "sizes": sizes,
        "start": estimator.init_,
        "energy": estimator.energy_,
        "iterations": estimator.n_iter_,
        "settings": settings.to_dict(),
    }
    write = partial(write_kinds, task, done)
    timings = write_results(task, facts, clock, write, lambda: report)
    return {"clusters": len(sizes), "note": _note(table, settings), "timings": timings}


def _cluster(
    table: Table, affinity: Affinity, settings: DataSettings, threads: int | None
) -> PFEClustering:
    from pfeseg.data.clusterer import PFEClustering
    from pfeseg.data.scaling import standardise

    estimator = PFEClustering(
        settings.n_clusters,
        affinity=affinity,
        n_neighbors=settings.n_neighbors,
        init=settings.init,
        random_state=settings.seed,
        n_jobs=threads,
    )
    values = standardise(table.values) if settings.scale == "standard" else table.values
    return estimator.fit(values)


def _what(settings: DataSettings) -> str:
    return "nodes" if settings.is_graph else "points"


def _note(table: Table, settings: DataSettings) -> str:
    """Say what there was to cluster."""
    note = f"{table.n_rows} {_what(settings)}"
    if settings.is_graph:
        return note
    n_columns = table.values.shape[1]
    note += " of 1 column" if n_columns == 1 else f" of {n_columns} columns"
    if settings.scale == "standard":
        note += f", standardised ({argument('scale', 'none')} leaves them as they are)"
    return note


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
    *,
    replaces: bool = True,
) -> list[DataTask]:
    """Decide where results go; what cannot work is refused before any work."""
    sources = [item.path for item in inputs if not item.problem]
    endings = {kind: CLUSTER_KINDS[kind].suffix for kind in (*kinds, REPORT)}
    plan = {
        source: ResultPaths(output or source.parent, _stem(source), endings) for source in sources
    }
    advice = f"give them different folders with {argument('output')}"
    check_plan(plan, lambda: advice, CLUSTER_KINDS)
    return [
        DataTask(source, results, settings, replaces=replaces) for source, results in plan.items()
    ]


def _stem(source: Path) -> str:
    """Return the name of a file without its ending, nor that of its packing."""
    return Path(source.name.removesuffix(".gz")).stem


def run_data(
    tasks: Sequence[DataTask], engine: Engine, threads: int | None = None
) -> Generator[Row, None, None]:
    """Run tasks on an engine and yield their rows as they are done."""
    own = threads or (1 if engine.is_elsewhere else None)
    work = Work(run_data_task, shared=tasks[0].settings if tasks else None)
    return engine.run(work, [(task, own) for task in tasks], give_up)


def _read(path: Path, settings: DataSettings) -> tuple[Table, Affinity]:
    """Read a file, and say as what affinity its values are to be taken."""
    if not settings.is_graph:
        return read_table(path, settings.drop, settings.id_column), "nearest_neighbors"
    graph = read_graph(path)
    return Table(graph.weights, (), graph.nodes, "node"), "precomputed"
