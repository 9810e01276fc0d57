"""`standout reproduce`: the paper's figures, its claims and whether they hold."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from standout.paper.reproduce import Reproduction
    from standout.paper.settings import Settings

_COLOURS = {"holds": "green", "partly": "yellow", "fails": "red"}


def reproduce(
    figures: Annotated[
        list[str] | None,
        typer.Argument(metavar="[FIGURE]...", help="fig1 fig2 fig3 fig4 fig5, or all (default)."),
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(help="Runs behind every point; the paper's 500 unless --quick."),
    ] = None,
    seed: Annotated[int, typer.Option(help="Seed of all random numbers.")] = 0,
    jobs: Annotated[
        int | None, typer.Option(help="Processes; as many as there are cores unless given.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for figures, data and report.")] = Path("paper"),
    quick: Annotated[
        bool, typer.Option("--quick", help="A miniature with few runs, in about a minute.")
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print claims and files as JSON, nothing else.")
    ] = False,
) -> None:
    """Make the paper's figures again and judge its claims.

    Interrupted, the same command goes on where it was.
    """
    from standout.paper.settings import Settings

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    settings = Settings(
        out=out, runs=runs, seed=seed, jobs=jobs if jobs is not None else cores or 1, quick=quick
    )
    try:
        found = _with_progress(figures or [], settings)
    except KeyboardInterrupt:
        typer.echo("interrupted; the same command goes on from what is done", err=True)
        raise typer.Exit(130) from None
    if as_json:
        claims = [claim.to_dict() for claim in found.claims]
        files = [str(path) for path in found.files]
        typer.echo(json.dumps({"claims": claims, "files": files}, ensure_ascii=False, indent=2))
    else:
        _print_claims(found, settings.out)


def _with_progress(figures: list[str], settings: Settings) -> Reproduction:
    from rich.console import Console
    from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeRemainingColumn

    from standout.paper.reproduce import reproduce as make

    bars: dict[str, TaskID] = {}
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f} %"),
        TimeRemainingColumn(elapsed_when_finished=True),
    )
    # Work is reported every few seconds; a longer memory keeps the time left steady.
    with Progress(*columns, console=Console(stderr=True), speed_estimate_period=120) as progress:

        def show(figure: str, done: float, total: float) -> None:
            if figure not in bars:
                bars[figure] = progress.add_task(figure, total=total)
            progress.update(bars[figure], completed=done)

        return make(figures, settings, show)


def _print_claims(found: Reproduction, out: Path) -> None:
    from rich.console import Console
    from rich.table import Table

    table = Table("figure", "the paper says", "verdict", title="Claims")
    for claim in found.claims:
        colour = _COLOURS[claim.verdict]
        table.add_row(claim.figure, claim.claim, f"[{colour}]{claim.verdict}[/]")
    console = Console()
    console.print(table)
    console.print(f"{len(found.files)} files; see {out / 'report.html'}", soft_wrap=True)
