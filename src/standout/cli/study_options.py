"""What the commands on studies share: their options, each declared once, and a study's opening."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from standout.core.problem import Problem
    from standout.results import Waiting
    from standout.study import Study

Place = Annotated[
    str,
    typer.Argument(
        metavar="PATH",
        help="A file, postgresql://user@host/database, or env:NAME for an address kept secret.",
    ),
]
Name = Annotated[
    str | None, typer.Option("--study", metavar="NAME", help="Which study, if there are several.")
]
NewName = Annotated[str, typer.Option("--study", metavar="NAME", help="The study's name.")]
K = Annotated[float, typer.Option("--k", help="How many scaled MADs from the median stand out.")]
Delta = Annotated[float, typer.Option(help="Accepted probability of a wrong answer.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        show_default=False,
        help="How pulls are chosen; `standout methods` lists them and marks the default.",
    ),
]
Budget = Annotated[int | None, typer.Option(help="At most so many pulls.")]
Unordered = Annotated[
    bool,
    typer.Option(
        "--unordered",
        help="Count rewards as they come. Only if how long a measurement takes has nothing to "
        "do with its value; else the answer may be wrong.",
    ),
]
Worker = Annotated[str | None, typer.Option(help="Who measures; machine and process by default.")]


def open_study(place: str, name: str | None) -> Study:
    """The study `name` at a place as typed, with a warning if its file may lack something."""
    from standout.study import Study
    from standout.study.options import typed_place

    study = Study.open(typed_place(place), name)
    if study.remark is not None:
        typer.echo(f"warning: {study.remark}", err=True)
    return study


def waiting_line(waiting: Sequence[Waiting]) -> str:
    """What waits for what, in one line."""
    from standout.text import printable

    count = sum(one.rewards for one in waiting)
    first = waiting[0]
    late = "overdue, the next to ask gets it" if first.expired else "out"
    more = f", and {len(waiting) - 1:,} more" if len(waiting) > 1 else ""
    return (
        f"{count:,} told rewards wait for earlier pulls of their arms: for ticket {first.ticket} "
        f"of {printable(first.worker, 40)} ({late}){more}"
    )


def problem_of(
    noise: str, k: float, delta: float, side: str, tolerance: float, mad_scale: float | None
) -> Problem:
    """The problem as typed; raises `ProblemError` if it cannot be asked."""
    from standout.core.problem import MAD_SCALE, Problem

    return Problem(
        noise=noise,
        side=side,
        k=k,
        delta=delta,
        tolerance=tolerance,
        mad_scale=MAD_SCALE if mad_scale is None else mad_scale,
    )
