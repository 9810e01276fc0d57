"""`standout study set`, `stop`, `restart`, `void`, `note`, `delete`, `changes`: changes by hand."""

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
    """The options of every change: study, reason, worker, key and output."""

    key: Annotated[
        str | None,
        typer.Option(help="An idempotency key: calls with the same key make one change."),
    ] = None
    worker: Worker = None
    as_json: Json = False
    name: Name = None

    def make(self, place: str, change: Callable[..., Status]) -> None:
        """Change the study and print its state."""
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
        str | None, typer.Option(metavar="PULLS", help="The largest number of pulls, or none.")
    ] = None,
    tolerance: Annotated[
        float | None,
        typer.Option(
            min=0.0, help="For means this near the threshold, either verdict counts as right."
        ),
    ] = None,
    batch: Annotated[
        int | None, typer.Option(min=1, help="Pulls of an arm that are planned together.")
    ] = None,
    until: Annotated[
        str | None,
        typer.Option(metavar="PROMISE", help="End early on chances: errors=0.5, or none."),
    ] = None,
    pause_after: Annotated[
        str | None,
        typer.Option(metavar="N", help="Pause an arm after this many failures in a row, or none."),
    ] = None,
    lease: Annotated[
        str | None, typer.Option(help="Time until a ticket is handed out again: 90s, 8h, or auto.")
    ] = None,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Change settings of a study; the guarantee still holds.

    All intervals hold at all times. So you may change when the study stops and the size of its
    batches, and you may choose a tolerance after looking at the data. Each verdict is right for its
    tolerance; a smaller tolerance withdraws the verdicts that need the larger one. Delta, k and the
    noise cannot change. A stopped study continues if the new settings allow it.
    """
    given: dict[str, Any] = {"tolerance": tolerance, "batch": batch}
    given["budget"] = None if budget is None else _whole("--budget", budget)
    given["pause_after"] = None if pause_after is None else _whole("--pause-after", pause_after)
    given["until"] = until
    values = {name: value for name, value in given.items() if value is not None}
    if lease is not None:
        values["lease"] = lease_of(lease)
    if not values:
        raise StudyError("give a setting: --budget, --tolerance, --batch, --until, ...")
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
    """End a study by hand.

    Its verdicts stay certain. Rewards of pending tickets may still be told.
    """
    how.make(place, lambda study, **who: study.stop(reason, **who))


@expanded
def restart(
    place: Place,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Continue a study that was stopped by hand."""
    how.make(place, lambda study, **who: study.restart(reason, **who))


@expanded
def void(
    place: Place,
    reward: Annotated[
        int | None,
        typer.Argument(help="The reward's place in the log: the column seq of `study export`."),
    ] = None,
    ticket: Annotated[
        int | None, typer.Option(help="The reward's ticket, instead of its place in the log.")
    ] = None,
    value: Annotated[float | None, typer.Option(help="The measured value.")] = None,
    reason: Reason = "",
    *,
    how: ChangeOptions,
) -> None:
    """Take back a reward that was recorded by mistake.

    With --value, the reward is corrected. The old reward stays in the log, with who voided it and
    why. Intervals and verdicts are computed again without it. The guarantee holds if the recorded
    value was not the measured one. It does not hold if rewards are removed because they look odd.
    """
    given: dict[str, Any] = {"ticket": ticket, "value": value, "reason": reason}
    how.make(place, lambda study, **who: study.void(reward, **given, **who))


@expanded
def note(
    place: Place,
    text: Annotated[str, typer.Argument(metavar="TEXT", help="The remark.")],
    *,
    how: ChangeOptions,
) -> None:
    """Add a remark to a study; its history, page and report show it.

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
    """Add arms to a study that was created with --room for them.

    From then on the question is about all arms. Verdicts are withdrawn, and those that still hold
    return. The guarantee holds for any choice of the new arms.
    """
    from standout.cli.options import read_text
    from standout.csv_files import read_arms

    names = read_arms(*read_text(arms))
    how.make(place, lambda study, **who: study.add_arms(names, reason, **who))


def rename(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="Its new name.")],
    reason: Reason = "",
    worker: Worker = None,
) -> None:
    """Rename a study."""
    with open_study(place, name) as study:
        study.rename(new, reason, worker=worker)
    typer.echo(f"renamed {printable(name)} to {printable(new)}")


def copy(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    new: Annotated[str, typer.Argument(metavar="NEW", help="The name of the copy.")],
    empty: Annotated[
        bool, typer.Option("--empty", help="Copy the question and the settings, without rewards.")
    ] = False,
    worker: Worker = None,
) -> None:
    """Copy a study within its place.

    The copy has the whole history or, with --empty, only the question and the settings.
    """
    with open_study(place, name) as study:
        study.copy(new, rewards=not empty, worker=worker)
    typer.echo(f"copied {printable(name)} to {printable(new)}")


def delete(
    place: Place,
    name: Annotated[str, typer.Argument(metavar="NAME", help="The study's name.")],
    reason: Reason = "",
    yes: Annotated[bool, typer.Option("--yes", help="Do not ask.")] = False,
    worker: Worker = None,
) -> None:
    """Delete a study with all its rewards, for good.

    One line stays in the database: its name, when and by whom it was deleted, and its last digest.
    Make a copy first with `standout study backup`.
    """
    with open_study(place, name) as study:
        pulls = study.status().pulls
        question = f"delete {printable(name)} with {plural(pulls, 'reward')}, for good?"
        if not (yes or typer.confirm(question)):
            typer.echo("not deleted", err=True)
            raise typer.Exit(1)
        study.delete(name, reason, worker=worker)
    typer.echo(f"deleted {printable(name)}: {plural(pulls, 'reward')}")


def changes(place: Place, as_json: Json = False, name: Name = None) -> None:
    """List the changes made by hand.

    Each line says what was changed, when, by whom and why.
    """
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
        typer.echo("no changes by hand", err=True)
