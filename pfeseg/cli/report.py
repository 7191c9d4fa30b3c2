"""``pfeseg report``: pages to look at for a folder of results."""

from __future__ import annotations

from pathlib import Path

import click

from pfeseg.cli.help import Command, Heading, option
from pfeseg.cli.options import check_output, jobs_option, overwrite_option, quiet_option
from pfeseg.cli.progress import count_bar
from pfeseg.cli.wording import say, usage_errors
from pfeseg.errors import InvalidInputError


@click.command(cls=Command)
@click.argument("folder", metavar="OUT", type=click.Path(path_type=Path))
@option(
    "-o",
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    heading=Heading.RESULTS,
    help="Page to write.  [default: OUT/report.html, or that of the sweep]",
)
@overwrite_option
@jobs_option("Number of images to work on at the same time.")
@quiet_option("Print errors only.")
def report(folder: Path, output: Path | None, overwrite: bool, jobs: int, quiet: bool) -> None:
    """Show the results in OUT, a folder written by 'segment', 'sweep' or 'bsds', on a web page.

    The page is one HTML file, which opens in any browser and needs no network. It shows the images
    of a batch as a grid and as a table. Each image opens with its regions over the original, its
    settings and its warnings. The original is looked for where it was, and next to the results.

    Results written with 'segment --report', or with 'page' in --save, also show all levels of the
    hierarchy, the channels of the embedding and the history of the solver. With more than 200
    images, the pictures are in a folder next to the page.

    Images that failed have no results, so only the page made by 'segment --report' lists them.

    Each sweep gets a page of its own, STEM_sweep.html, next to its data.

    \b
    Examples:
      pfeseg report results
      pfeseg report results -o page.html --jobs 2
    """
    if not folder.is_dir():
        found = ", found a file" if folder.exists() else "; there is none"
        raise InvalidInputError(f"{folder}: expected a folder of results{found}")
    from pfeseg.files.writing import refuse_unwritable
    from pfeseg.page.folder import plan_pages

    with usage_errors():
        pages = plan_pages(folder, output)
    for path in pages.paths:
        check_output(path, overwrite, (".html",))
        refuse_unwritable(path.parent)
    with count_bar(len(pages.reports), "image", quiet) as bar:
        written = pages.write(jobs, bar.update)
    if not quiet:
        say("written: " + ", ".join(map(str, written)))
