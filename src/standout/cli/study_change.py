"""`standout study set`, `stop`, `restart`, `void`, `delete`, `changes`: changing one's mind."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from standout.cli.console import print_json
from standout.cli.options import Json, Name, Place, Worker, expanded, lease_of, open_study
from standout.errors import StudyError
from standout.text import moment, plural, printable

if TYPE_CHECKING:
    from standout.results import Status

Reason = Annotated[str, typer.Option(help="Why; it is kept with the change.")]
_NONE = "none"


@dataclass(frozen=True)
class ChangeOptions:
    """Who makes a change, of which study, and how it is answered."""

    key: Annotated[
        str | None, typer.Option(help="A text for this change: with the same key it is made once.")
    ] = None
    worker: Worker = None
    as_json: Json = False
    name: Name = None

    def make(self, place: str, change: Callable[..., Status]) -> None:
        """Make a change to the study, and say how it stands then."""
        from standout.cli.study_inspect import overview

        with open_study(place, self.name) as study:
            now = change(study, worker=self.worker, key=self.key)
        if self.as_json:
            print_json(now.to_dict())
            return
        typer.echo("\n".join(overview(now)))
        if not now.stopped:
            typer.echo("running")


@expanded
def set_settings(
    place: Place,
    budget: Annotated[
        str | None, typer.Option(metavar="PULLS", help="At most so many pulls; none for no end.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(min=0.0, help="Arms so near the threshold may go either way."),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Pulls of an arm that are planned at once.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="PROMISE", help="End on chances: errors=0.5, or none for certainty."),
    ] = None,
    pause_after: Annotated[
        str | None,
        typer.Option(metavar="N", help="Pause an arm after so many failures in a row, or none."),
    ] = None,
    lease: Annotated[
        str | None, typer.Option(help="When a ticket is handed out again: 90s, 8h, or auto.")
    ] = None,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Change what may change while a study runs, without harm to the guarantee.

    Every interval holds at all times at once, so that one may stop sooner or later, plan in
    larger steps, and choose a tolerance after looking: each verdict is right for the tolerance
    it was given at, and a smaller tolerance takes back those that rested on a larger one.
    Delta, k and the noise are in every interval and in the question: they stay.
    A study that has stopped goes on if by the new settings it is not at its end.
    """
    given: dict[str, Any] = {"tolerance": tolerance, "batch": batch}
    given["budget"] = None if budget is None else _whole("--budget", budget)
    given["pause_after"] = None if pause_after is None else _whole("--pause-after", pause_after)
    given["until"] = until
    values = {name: value for name, value in given.items() if value is not None}
    if lease is not None:
        values["lease"] = lease_of(lease)
    if not values:
        raise StudyError("say what to set: --budget, --tolerance, --batch, --until, ...")
    wanted: Any = {name: None if value == _NONE else value for name, value in values.items()}
    how.make(place, lambda study, **who: study.set(**wanted, reason=reason, **who))


def _whole(option: str, text: str) -> int | str:
    if text == _NONE:
        return text
    try:
        return int(text.replace(",", "").replace("_", ""))
    except ValueError:
        raise StudyError(f"{option} must be a whole number or none, not {text!r}") from None


@expanded
def stop(
    place: Place,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """End a study by hand; what is certain stays certain, and what is out may still be told."""
    how.make(place, lambda study, **who: study.stop(reason, **who))


@expanded
def restart(
    place: Place,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Go on with a study that was stopped by hand."""
    how.make(place, lambda study, **who: study.restart(reason, **who))


@expanded
def void(
    place: Place,
    reward: Annotated[
        int | None,
        typer.Argument(help="Its place in the log: the column seq of `study export`."),
    ] = None,
    ticket: Annotated[int | None, typer.Option(help="Its ticket, instead of its place.")] = None,
    value: Annotated[
        float | None, typer.Option(help="What was really measured, to stand in its place.")
    ] = None,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Take back a reward that was told by mistake, or mend it with --value.

    It stays in the log, with who made it void and why; intervals and verdicts are worked out
    anew without it. The guarantee holds if what was told is not what was measured. To take out
    rewards because they look odd would make any answer possible: then nothing is guaranteed.
    """
    given: dict[str, Any] = {"ticket": ticket, "value": value, "reason": reason}
    how.make(place, lambda study, **who: study.void(reward, **given, **who))


@expanded
def note(
    place: Place,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="What is to be remembered.")],
    *,
    how: ChangeOptions,
) -> None:
    """Write something down about a study: its history, page and report show it.

    \b
    Example:
      standout study note beans.db "the second freezer was warm on Monday"
    """
    how.make(place, lambda study, **who: study.note(text, **who))


@expanded
def add_arms(
    place: Place,
    arms: Annotated[
        str, typer.Argument(metavar="ARMS", help="CSV with a column arm; - for standard input.")
    ],
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Let arms join a study that was created with --room for them.

    From then on the question is about all arms: verdicts are withdrawn, and those that still
    hold come again. The guarantee holds, however the new arms were chosen.
    """
    from standout.cli.options import read_text
    from standout.study.csv_files import read_arms

    names = read_arms(*read_text(arms))
    how.make(place, lambda study, **who: study.add_arms(names, reason, **who))


def rename(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    reason: Reason = "",
    worker: Worker = None,
) -> None:
    """Give a study another name."""
    with open_study(place, name) as study:
        study.rename(new, reason, worker=worker)
    typer.echo(f"{printable(name)} is called {printable(new)} now")


def copy(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name of the copy.")],
    empty: Annotated[
        bool, typer.Option("--empty", help="The same question and settings, without a reward.")
    ] = False,
    worker: Worker = None,
) -> None:
    """Make a second study of one, in the same place, with its whole history or --empty."""
    with open_study(place, name) as study:
        study.copy(new, rewards=not empty, worker=worker)
    typer.echo(f"made {printable(new)}, a copy of {printable(name)}")


def delete(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    reason: Reason = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    worker: Worker = None,
) -> None:
    """Remove a study with all its rewards, for good.

    A line stays in the database: its name, when and by whom it was deleted, and its last
    digest. Make a copy first with `standout study backup`.
    """
    with open_study(place, name) as study:
        pulls = study.status().pulls
        if not yes:
            typer.confirm(
                f"delete {printable(name)} with {plural(pulls, 'reward')}, for good?", abort=True
            )
        study.delete(name, reason, worker=worker)
    typer.echo(f"deleted {printable(name)}: {plural(pulls, 'reward')}")


def changes(place: Place, as_json: Json = False, name: Name = None) -> None:
    """What was changed by hand in a study: what, when, by whom and why."""
    from standout.results import ChangeList

    with open_study(place, name) as study:
        found = study.changes()
    if as_json:
        print_json(ChangeList(tuple(found)).to_dict())
        return
    for one in found:
        why = f" ({printable(one.reason, 200)})" if one.reason else ""
        typer.echo(f"{moment(one.time)}  {one.words}, by {printable(one.worker, 40)}{why}")
    if not found:
        typer.echo("nothing was changed by hand", err=True)
