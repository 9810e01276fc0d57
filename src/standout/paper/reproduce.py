"""Making the figures: play, compute, draw, judge, write."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass
from pathlib import Path

from standout.extras import require
from standout.files import write_file
from standout.paper.claims import Claim
from standout.paper.figures import fig1, fig2, fig3, fig4, fig5
from standout.paper.figures.figure import FigureModule, Job
from standout.paper.reference import Comparison
from standout.paper.report import Shown, comparison_table, report_html
from standout.paper.runs import Store, make_plan
from standout.paper.settings import Settings, check_figures, prepare_folder
from standout.paper.style import render

FIGURES: dict[str, FigureModule] = {
    module.NAME: module for module in (fig1, fig2, fig3, fig4, fig5)
}

Progress = Callable[[str, float, float], None]
"""Called with a figure's name, the work done and all its work, in planned seconds."""


@dataclass(frozen=True)
class Reproduction:
    """The result: the judged claims, the comparisons and the written files."""

    claims: tuple[Claim, ...]
    comparisons: tuple[Comparison, ...]
    files: tuple[Path, ...]
    provisional: str = ""
    """Why the verdicts may change with more runs; empty if there were as many as the paper's."""


def reproduce(
    figures: Sequence[str],
    settings: Settings,
    progress: Progress | None = None,
    executor: Executor | None = None,
) -> Reproduction:
    """Make the named figures in `settings.out`; none or `all` makes every one.

    Finished runs are stored in the folder `cache`, so a call after an interrupt plays only the
    missing ones. With an `executor` (a Dask cluster's) runs are played there, with the same
    results.
    """
    names = check_figures(figures)
    require("paper", "drawing the figures")
    prepare_folder(settings.out)
    shown = [_make(FIGURES[name], settings, progress, executor) for name in names]
    files = [path for figure in shown for path in figure.files]
    claims = [claim for figure in shown for claim in figure.claims]
    comparisons = [each for figure in shown for each in figure.comparisons]

    provisional = settings.provisional(names)
    marked = [claim.to_dict() | {"provisional": bool(provisional)} for claim in claims]
    listed = json.dumps(marked, ensure_ascii=False, indent=2)
    out = settings.out
    page = report_html(shown, settings.command(names), provisional)
    files += [
        write_file(out / "claims.json", listed + "\n"),
        write_file(out / "reference.csv", comparison_table(comparisons).to_csv()),
        write_file(out / "report.html", page),
    ]
    return Reproduction(tuple(claims), tuple(comparisons), tuple(files), provisional)


def _make(
    module: FigureModule,
    settings: Settings,
    progress: Progress | None,
    executor: Executor | None,
) -> Shown:
    runs = settings.runs_of(module.NAME)
    plan = make_plan(module.parts(), runs, Store(settings.out / "cache", settings.seed))
    # Cached runs do not count, because the estimated remaining time would be too short.
    total = plan.cost + runs * module.OWN_SECONDS
    done = 0.0

    def tick(amount: float) -> None:
        nonlocal done
        done += amount
        if progress is not None:
            progress(module.NAME, min(done, total), total)

    tick(0.0)
    played = plan.play(settings.jobs, tick, executor)
    tables = module.compute(played, Job(runs, settings.seed, tick))
    files = [
        write_file(settings.out / f"{name}.csv", table.to_csv()) for name, table in tables.items()
    ]
    pictures = {}
    for name, figure in module.draw(tables).items():
        pictures[name] = render(figure, "png")
        files.append(write_file(settings.out / f"{name}.png", pictures[name]))
        files.append(write_file(settings.out / f"{name}.pdf", render(figure, "pdf")))
    return Shown(
        title=module.TITLE,
        about=module.ABOUT,
        runs=runs,
        pictures=pictures,
        claims=tuple(module.claims(tables)),
        comparisons=tuple(module.comparisons(tables)),
        files=tuple(files),
    )
