"""`standout analyse`: what past measurements prove, and what to measure next."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from standout.cli import console
from standout.cli.console import print_json
from standout.cli.options import (
    Json,
    MethodText,
    NewName,
    QuestionOptions,
    Seed,
    cluster,
    expanded,
    typed_place,
)
from standout.core.noise import NOISE_FORMS
from standout.errors import ProblemError
from standout.files import writing
from standout.text import plural

if TYPE_CHECKING:
    from standout.analysis.columns import Layout
    from standout.analysis.tables import Rewards, Sums
    from standout.core.problem import Problem
    from standout.results import Analysis


AUTO = "auto"
AnalysedNoise = Annotated[
    str,
    typer.Option(
        "--noise",
        metavar="NOISE",
        show_default="what the rewards suggest",
        help=f"How rewards scatter: {NOISE_FORMS}.",
    ),
]


@expanded
def analyse(
    table: Annotated[
        str,
        typer.Argument(
            metavar="TABLE",
            help="CSV or Parquet: a row per reward (arm,value), or per arm (arm,count,sum or "
            "mean[,std]); or a folder of files with a row per reward.",
        ),
    ],
    noise: AnalysedNoise = AUTO,
    *,
    question: QuestionOptions,
    method: MethodText = None,
    arm: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the arms' names.")
    ] = None,
    value: Annotated[
        str | None, typer.Option(metavar="COLUMN", help="The column of the rewards.")
    ] = None,
    wide: Annotated[
        bool, typer.Option("--wide", help="Each column is an arm, with a reward in each row.")
    ] = False,
    sep: Annotated[
        str | None,
        typer.Option(
            show_default="comma; tab in a .tsv",
            help="The separator of a CSV's fields: ; or tab.",
        ),
    ] = None,
    decimal: Annotated[
        str, typer.Option(metavar=".|,", help="The decimal sign of the numbers in a CSV.")
    ] = ".",
    drop_missing: Annotated[
        bool,
        typer.Option(
            "--drop-missing", help="Leave out rows without a value, and report their number."
        ),
    ] = False,
    min_count: Annotated[
        int,
        typer.Option(
            "--min-count", metavar="N", help="Leave out arms with fewer rewards, and name them."
        ),
    ] = 1,
    ordered: Annotated[
        bool | None,
        typer.Option(
            "--ordered/--shuffled",
            show_default="a file is, a folder is not",
            help="Whether an arm's rows are in the order of measurement (in a folder: files by "
            "name). Intervals for bounded and heavy noise are narrower if they are; --to needs "
            "it beyond a million rewards.",
        ),
    ] = None,
    fixed: Annotated[
        bool,
        typer.Option(
            "--fixed",
            help="The number of rewards of each arm was fixed in advance. With many arms, a "
            "population bet then narrows the threshold (docs/population.md).",
        ),
    ] = False,
    incomplete: Annotated[
        bool,
        typer.Option(
            "--incomplete",
            help="Rewards are missing or were selected, so that no verdict is certain.",
        ),
    ] = False,
    to: Annotated[
        str | None,
        typer.Option(
            metavar="PATH", help="Continue with these rewards as a live study at this place."
        ),
    ] = None,
    report: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write a report to this HTML file.")
    ] = None,
    seed: Seed = 0,
    dask: Annotated[
        str | None,
        typer.Option(
            metavar="ADDRESS",
            help="Read a folder on the Dask cluster at this address; its workers must see the same "
            "files.",
        ),
    ] = None,
    as_json: Json = False,
    name: NewName = "main",
) -> None:
    """Show what past measurements prove, and what to measure next.

    For arms that are not proved yet, it shows what is probable. The guarantee holds if the table
    has all rewards of its arms, in their order, and no reward was left out or selected by its
    value. The choice of the next arm may depend on earlier rewards. The output lists the
    assumptions, and what can be said if they do not hold.
    """
    if incomplete and (to is not None or report is not None):
        raise ProblemError(
            "with missing or selected rewards nothing is certain, but a study or a report would "
            "claim certainty; leave out --to and --report, and measure again"
        )
    from standout.analysis.analyse import analyse as look
    from standout.analysis.columns import Layout
    from standout.core.methods import DEFAULT_METHOD

    separator = "\t" if sep in ("tab", "\\t") else sep
    layout = Layout(arm, value, wide, separator, decimal, drop_missing, min_count)
    if noise == AUTO:
        # A folder may be larger than memory, so its rewards are never looked at one by one.
        if Path(table).is_dir():
            raise ProblemError(f"give the noise of a folder's rewards: --noise, {NOISE_FORMS}")
        noise = _noise_of(table, layout)
    problem = question.problem(noise)
    data = _read(table, problem, layout, ordered, dask)
    said = look(
        data,
        problem,
        method or DEFAULT_METHOD,
        is_complete=not incomplete,
        is_ordered=ordered,
        is_fixed=fixed,
        seed=seed,
    )
    if as_json:
        print_json(said.to_dict())
    else:
        show(said, problem)
    if to is not None:
        _go_on(typed_place(to), data, problem, said.method, name, seed, ordered, said_json=as_json)
    if report is not None:
        _report(report, data, problem, said.method, seed, ordered)


def _noise_of(table: str, layout: Layout) -> str:
    """The noise that the rewards of a table suggest, reported on standard error."""
    from standout.analysis.noise_advice import chosen_words, recommend_noise
    from standout.analysis.tables import read_table

    advice = recommend_noise(read_table(table, layout))
    typer.echo(chosen_words(advice), err=True)
    if advice.hint:
        typer.echo(advice.hint, err=True)
    return advice.noise


def _read(
    table: str,
    problem: Problem,
    layout: Layout,
    ordered: bool | None,
    dask: str | None,
) -> Rewards | Sums:
    from standout.analysis.analyse import read_data

    if dask is not None and not Path(table).is_dir():
        raise ProblemError(f"{table} is not a folder: --dask is for folders of files")
    with cluster(dask, None) as (executor, jobs), console.live_line() as bars:
        task = bars.add_task("reading")

        def told(done: int, shares: int) -> None:
            bars.update(task, description=f"reading: {done} of {shares} shares added up")

        return read_data(
            table, problem, layout, ordered, jobs=jobs, executor=executor, progress=told
        )


def _go_on(
    place: str,
    data: Rewards | Sums,
    problem: Problem,
    method: str,
    name: str,
    seed: int,
    ordered: bool | None,
    said_json: bool,
) -> None:
    from standout.analysis.begin_study import begin_study

    how: dict[str, Any] = {"name": name, "seed": seed, "is_ordered": ordered}
    with begin_study(place, data, problem, method, **how) as study:
        typer.echo(
            f"{study!r} holds {plural(data.total, 'reward')} of the table; "
            f"continue with: standout study ask {place}",
            err=said_json,
        )


def _report(
    path: Path,
    data: Rewards | Sums,
    problem: Problem,
    method: str,
    seed: int,
    ordered: bool | None,
) -> None:
    import tempfile

    from standout.analysis.begin_study import begin_study
    from standout.report.page import render_report

    with tempfile.TemporaryDirectory(prefix="standout-report-") as folder:
        place = Path(folder) / f"{path.stem}.db"
        how: dict[str, Any] = {"name": path.stem, "seed": seed, "is_ordered": ordered}
        with console.progress_words("report") as told:
            told(f"recording {plural(data.total, 'reward')} in a study")
            with begin_study(place, data, problem, method, **how) as study:
                page = render_report(study, seed=seed, told=told)
    with writing(path) as file:
        file.write(page)
    typer.echo(f"wrote the report to {path}", err=True)


def show(said: Analysis, problem: Problem) -> None:
    """Print the answer, its picture, the next pulls, and the assumptions."""
    from standout.pictures import terminal
    from standout.pictures.arms import picture_of_answer

    say, glyphs = console.say, console.glyphs()
    for line in said.summary().splitlines():
        say(line)
    picture = picture_of_answer(said.found, problem)
    width = console.results().width
    say("", *terminal.draw(picture, width, glyphs), "", terminal.legend(picture, glyphs), "")
    if said.is_complete:
        say("This holds with the guarantee if:")
        for line in said.assumptions:
            say(f"- {line}")
        say("", said.otherwise)
