"""`standout reproduce`: the paper's figures, its claims, and whether they hold."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli import console
from standout.cli.console import progress, say
from standout.cli.options import Dask, Jobs, Json, Seed, cluster, read_jobs
from standout.extras import require
from standout.text import plural

if TYPE_CHECKING:
    from concurrent.futures import Executor

    from standout.paper.reproduce import Reproduction
    from standout.paper.settings import Settings

_COLOURS = {"holds": "green", "partly": "yellow", "fails": "red"}


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="FIGURE", help="fig1 fig2 fig3 fig4 fig5, or all (default)."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            show_default="500, or few with --quick", help="Runs or draws for every point."
        ),
    ] = None,
    seed: Seed = 0,
    jobs: Jobs = None,
    dask: Dask = None,
    out: Annotated[Path, typer.Option(help="Folder for figures, data and report.")] = Path("paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A miniature with few runs, in about a minute.")
    ] = False,
    as_json: Json = False,
) -> None:
    """Reproduce the paper's figures and check its claims.

    OUT gets a report, each figure as PNG and PDF, its data as CSV and the claims
    as JSON. The paper's 500 runs take about half an hour on two cores. After an
    interrupt, the same command continues.

    \b
    Examples:
      standout reproduce --quick
      standout reproduce fig1 fig4 --runs 100 --out again
    """
    from standout.paper.settings import Settings, check_figures, prepare_folder

    settings = Settings(out=out, runs=runs, seed=seed, jobs=read_jobs(jobs), quick=quick)
    # Checked before connecting to a cluster.
    names = list(check_figures(figures or []))
    # Checked before the kernels are compiled, which may take a while.
    require("paper", "drawing the figures")
    prepare_folder(out)
    try:
        with cluster(dask, jobs) as (executor, count):
            found = _with_bars(names, replace(settings, jobs=count), executor)
    except KeyboardInterrupt:
        console.messages().print("run the same command to continue")
        raise
    if as_json:
        is_open = bool(found.provisional)
        claims = [claim.to_dict() | {"provisional": is_open} for claim in found.claims]
        console.print_json({"claims": claims, "files": [str(path) for path in found.files]})
    else:
        _say_claims(found, out)


def _with_bars(names: list[str], settings: Settings, executor: Executor | None) -> Reproduction:
    """Make the figures, with a progress bar for each, or lines without a terminal."""
    from rich.progress import BarColumn, TaskID, TextColumn, TimeRemainingColumn

    from standout.paper.reproduce import reproduce as make

    if not console.messages().is_terminal:
        return make(names, settings, console.Milestones(), executor)
    columns = (
        TextColumn("{task.description}"),
        BarColumn(bar_width=24),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    bars: dict[str, TaskID] = {}
    # Work is reported every few seconds; a long window keeps the remaining time steady.
    with progress(*columns, speed_estimate_period=120) as shown:

        def show(figure: str, done: float, total: float) -> None:
            if figure not in bars:
                bars[figure] = shown.add_task(figure, total=total)
            shown.update(bars[figure], completed=done)

        return make(names, settings, show, executor)


def _say_claims(found: Reproduction, out: Path) -> None:
    from rich.table import Table
    from rich.text import Text

    table = Table("figure", "the paper says", "verdict", box=None, pad_edge=False)
    for claim in found.claims:
        words = f"{claim.verdict}, provisional" if found.provisional else str(claim.verdict)
        verdict = Text(words, style=_COLOURS[claim.verdict])
        table.add_row(claim.figure, claim.claim, verdict)
    say(table, "", *([found.provisional, ""] if found.provisional else []))
    # Not wrapped, so that the path can be copied.
    print(f"{plural(len(found.files), 'file')}; see {out / 'report.html'}")
