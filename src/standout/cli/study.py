"""`standout study`: ask for pulls and tell rewards, in a file or a database."""

from __future__ import annotations

import sys
import time
from typing import TYPE_CHECKING, Annotated

import typer

from standout.cli import study_chances, study_change, study_copy, study_inspect
from standout.cli.console import print_json
from standout.cli.options import (
    Budget,
    Json,
    MethodText,
    Name,
    NewName,
    Noise,
    Place,
    QuestionOptions,
    Seed,
    Unordered,
    Until,
    Worker,
    expanded,
    lease_of,
    open_study,
    read_text,
    seconds_of,
    stop_words,
    typed_place,
    waiting_line,
)
from standout.errors import AllOutError, BatchError, KeyUsedError, StandoutError, StudyError
from standout.text import agree, plural, printable

if TYPE_CHECKING:
    from standout.results import Receipt, Status
    from standout.study import Study

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Live studies: ask what to measure, and tell the rewards.",
)


@app.command()
@expanded
def create(
    place: Place,
    arms: Annotated[
        str,
        typer.Option(
            help="CSV with a column arm, and text, image or html for raters; - for standard input."
        ),
    ],
    noise: Noise,
    *,
    question: QuestionOptions,
    method: MethodText = None,
    budget: Budget = None,
    until: Until = None,
    seed: Seed = 0,
    lease: Annotated[
        str,
        typer.Option(
            help="Time until an unanswered ticket is handed out again: 90s, 8h; auto adapts to the "
            "time that answers take."
        ),
    ] = "auto",
    pause_after: Annotated[
        int | None, typer.Option(help="Pause an arm after this many failures in a row.")
    ] = None,
    unordered: Unordered = False,
    page: Annotated[
        str | None,
        typer.Option(help="JSON file with the rating page's question, buttons or scale, ..."),
    ] = None,
    room: Annotated[
        int | None,
        typer.Option(help="The largest number of arms, with those added later."),
    ] = None,
    axis: Annotated[
        str | None,
        typer.Option(help="What a reward is, with its unit, for axes: 'Delay in minutes'."),
    ] = None,
    name: NewName = "main",
) -> None:
    """Create a study."""
    from standout.csv_files import read_arms, read_items, read_page
    from standout.study import Study

    listed = read_text(arms)
    with Study.create(
        typed_place(place),
        read_arms(*listed),
        question.problem(noise),
        method,
        budget=budget,
        until=until,
        seed=seed,
        lease=lease_of(lease),
        pause_after=pause_after,
        ordered=not unordered,
        items=read_items(*listed),
        page=None if page is None else read_page(*read_text(page)),
        room=room,
        axis=axis,
        name=name,
    ) as study:
        typer.echo(f"created {study!r}: {plural(len(study.arms), 'arm')}, {study.method.label()}")


@app.command()
def ask(
    place: Place,
    n: Annotated[int, typer.Option("-n", help="The number of tickets.", min=1)] = 1,
    lease: Annotated[str | None, typer.Option(help="Lease of these tickets: 90s, 8h, 3d.")] = None,
    worker: Worker = None,
    as_csv: Annotated[
        bool, typer.Option("--csv", help="Print a CSV with a column reward to fill in, for tell.")
    ] = False,
    as_json: Json = False,
    name: Name = None,
) -> None:
    """Ask for pulls to measure."""
    from standout.csv_files import guarded, quoted
    from standout.results import Tickets

    with open_study(place, name) as study:
        seconds = None if lease is None else seconds_of(lease)
        try:
            tickets = study.ask(n, worker=worker, lease=seconds)
        except AllOutError:
            tickets = []
        if as_json:
            print_json(Tickets(tuple(tickets), study.is_stopped).to_dict())
        elif as_csv:
            # Not typer.echo, which takes control characters out of names.
            sys.stdout.write("ticket,arm,reward\n")
            sys.stdout.writelines(
                f"{ticket.id},{quoted(guarded(ticket.arm))},\n" for ticket in tickets
            )
        else:
            for ticket in tickets:
                typer.echo(f"{ticket.id:>8}  {printable(ticket.arm, 120)}")
        if not tickets:
            typer.echo(why_nothing(study.status()), err=True)


def why_nothing(status: Status) -> str:
    """Why there is no ticket, in one line."""
    if status.stopped:
        return f"nothing to measure: the study has stopped ({stop_words(status)})"
    if status.paused and len(status.paused) == status.arms:
        return "nothing to measure now: every arm is paused"
    if status.budget is not None and status.pulls + status.pending >= status.budget:
        return "nothing to measure now: the rest of the budget is handed out"
    if status.waiting:
        return f"nothing to measure now: {waiting_line(status.waiting)}"
    return "nothing to measure now: every useful pull is handed out"


@app.command()
def tell(
    place: Place,
    results: Annotated[
        str | None,
        typer.Argument(
            metavar="[RESULTS]",
            help="CSV with columns ticket and/or arm, and reward; - for standard input.",
        ),
    ] = None,
    ticket: Annotated[int | None, typer.Option(help="A ticket, with --value.")] = None,
    arm: Annotated[
        str | None, typer.Option(help="An arm that was measured without a ticket, with --value.")
    ] = None,
    value: Annotated[float | None, typer.Option(help="Its reward.")] = None,
    skip_blank: Annotated[
        bool, typer.Option("--skip-blank", help="Skip lines without a reward.")
    ] = False,
    again: Annotated[
        bool,
        typer.Option("--again", help="Count a file again that was recorded before."),
    ] = False,
    key: Annotated[
        str | None,
        typer.Option(help="An idempotency key: calls with the same key count once."),
    ] = None,
    worker: Worker = None,
    as_json: Json = False,
    name: Name = None,
) -> None:
    """Tell one reward, or the rewards of a CSV file.

    If a line of the file is bad, none of its rewards counts. A ticket counts once. A file without
    tickets counts once, too: the same rows are refused the second time, unless --again says that
    they were measured again. Scripts that may repeat a call should give --key.
    """
    if (results is None) == (value is None) or (value is None) != (ticket is None and arm is None):
        raise StudyError("give a file of results, or --ticket (or --arm) with --value")
    if again and (results is None or key is not None):
        raise StudyError("--again needs a file of results and cannot be used with --key")
    with open_study(place, name) as study:
        if value is not None:
            receipt = study.tell(ticket, value, arm=arm, worker=worker, key=key)
        else:
            receipt = _tell_file(study, str(results), skip_blank, worker, key, again)
    if as_json:
        print_json(receipt.to_dict())
    else:
        parts = ["recorded before with this key, not again"] * receipt.again
        parts += [f"{receipt.counted} counted"]
        parts += [f"{receipt.repeated} recorded before"] * bool(receipt.repeated)
        parts += [f"{receipt.surplus} beyond the budget (kept, not counted)"] * bool(
            receipt.surplus
        )
        typer.echo(", ".join(parts))


def _tell_file(
    study: Study, path: str, skip_blank: bool, worker: str | None, key: str | None, again: bool
) -> Receipt:
    from standout.csv_files import (
        export_statuses,
        fingerprint,
        left_out_words,
        read_results,
    )

    text, label = read_text(path)
    rows = read_results(text, label, skip_blank=skip_blank)
    left_out = left_out_words(export_statuses(text, label))
    if left_out is not None:
        typer.echo(f"{label}: {left_out}", err=True)
    is_once = key is None and not again and any(isinstance(row.key, str) for row in rows)
    try:
        receipt = study.tell_many(
            [(row.key, row.reward) for row in rows],
            worker=worker,
            key=fingerprint(rows) if is_once else key,
        )
    except KeyUsedError as error:
        if is_once:  # The same rows in another order.
            raise _told_before(label, len(rows), error.time) from None
        raise
    except BatchError as error:
        line = rows[error.index].line
        raise StudyError(f"{label}, line {line}: {error}; nothing of it was counted") from None
    if is_once and receipt.again:
        raise _told_before(label, len(rows), receipt.time)
    return receipt


def _told_before(label: str, count: int, moment: float | None) -> StandoutError:
    when = "" if moment is None else time.strftime(" on %Y-%m-%d at %H:%M", time.localtime(moment))
    return KeyUsedError(
        f"{label}: {plural(count, 'reward')} {agree(count, 'was', 'were')} recorded before{when}; "
        "nothing was changed. If they were measured again, add --again",
        moment,
        count,
    )


@app.command()
def fail(
    place: Place,
    ticket: Annotated[int, typer.Argument(help="The ticket to give back.")],
    reason: Annotated[str, typer.Option(help="Why it could not be measured.")] = "",
    worker: Worker = None,
    name: Name = None,
) -> None:
    """Give a ticket back; its pull is handed out again."""
    with open_study(place, name) as study:
        study.fail(ticket, reason, worker=worker)


@app.command()
def release(
    place: Place,
    tickets: Annotated[list[int], typer.Argument(help="The tickets to release.")],
    name: Name = None,
) -> None:
    """End the leases of tickets now.

    The next worker gets their pulls. Use it when a worker is gone and its lease is long. A late
    reward still counts.
    """
    with open_study(place, name) as study:
        study.release(tickets)


@app.command()
def pause(
    place: Place,
    arm: Annotated[str, typer.Argument(help="The arm.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "paused by hand",
    worker: Worker = None,
    name: Name = None,
) -> None:
    """Hand out no more pulls of an arm.

    `standout study changes` shows who paused it and why.
    """
    with open_study(place, name) as study:
        study.pause(arm, reason, worker=worker)


@app.command()
def resume(
    place: Place,
    arm: Annotated[str, typer.Argument(help="The arm.")],
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    worker: Worker = None,
    name: Name = None,
) -> None:
    """Hand out pulls of a paused arm again."""
    with open_study(place, name) as study:
        study.resume(arm, reason, worker=worker)


app.command("set")(study_change.set_settings)
app.command()(study_change.stop)
app.command()(study_change.restart)
app.command()(study_change.void)
app.command()(study_change.note)
app.command()(study_change.changes)
app.command("add-arms")(study_change.add_arms)
app.command()(study_change.rename)
app.command()(study_change.copy)
app.command()(study_change.delete)
app.command()(study_inspect.status)
app.command()(study_chances.chances)
app.command()(study_inspect.export)
app.command()(study_inspect.verify)
app.command("list")(study_inspect.list_studies)
app.command()(study_copy.backup)
app.command()(study_copy.restore)
