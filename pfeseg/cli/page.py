"""The page that ``--report`` writes when a batch is done."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os.path import commonpath
from pathlib import Path

from pfeseg.cli.progress import count_bar
from pfeseg.cli.wording import say
from pfeseg.files.kinds import REPORT

PAGE_NAME = "report.html"


class BatchPage:
    """The page of a batch, in the folder that holds all its results."""

    def __init__(self, path: Path, reports: Mapping[Path, Path]) -> None:
        self._path, self._reports = path, reports

    @classmethod
    def plan(cls, plan: Mapping[Path, Mapping[str, Path]], may_replace: bool) -> BatchPage | None:
        """Decide where the page goes, before any work; None where nothing can have a result."""
        from pfeseg.files.writing import refuse_existing

        reports = {source: results[REPORT] for source, results in plan.items()}
        if not reports:
            return None
        folder = Path(commonpath([path.parent.absolute() for path in reports.values()]))
        here = Path.cwd()
        shown = folder.relative_to(here) if folder.is_relative_to(here) else folder
        path = shown / PAGE_NAME
        if not may_replace:
            refuse_existing([path])
        return cls(path, reports)

    def write(
        self, sources: Sequence[Path], failures: Mapping[str, str], jobs: int, quiet: bool
    ) -> None:
        """Write the page of what these inputs have become."""
        from pfeseg.page.batch import write_batch_page
        from pfeseg.page.results import Failure

        left = [source for source in sources if str(source) not in failures]
        planned = [self._reports[source] for source in left if source in self._reports]
        done = [path for path in planned if path.exists()]
        failed = [Failure(name, reason) for name, reason in failures.items()]
        with count_bar(len(done), "page", quiet) as bar:
            written = write_batch_page(self._path, done, failed, jobs=jobs, on_image=bar.update)
        if not quiet:
            say("page: " + ", ".join(map(str, written)))
