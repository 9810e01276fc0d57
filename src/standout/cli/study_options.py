"""What the commands on studies share: their options, each declared once, and a study's opening."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from standout.core.noise import NOISE_FORMS
from standout.errors import StudyError
from standout.text import printable

if TYPE_CHECKING:
    from standout.results import Status, Waiting
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
Noise = Annotated[str, typer.Option(metavar="NOISE", help=f"How rewards scatter: {NOISE_FORMS}.")]
Method = Annotated[
    str | None,
    typer.Option(
        metavar="M",
        show_default=False,
        help="How pulls are chosen; `standout methods` lists them and marks the default.",
    ),
]
Budget = Annotated[int | None, typer.Option(help="At most so many pulls.")]
Until = Annotated[
    str | None,
    typer.Option(
        metavar="PROMISE",
        help="End before all is certain, once the chances promise this as an estimate: "
        "errors=0.5, or false-share=0.05,missed-share=0.05.",
    ),
]
Unordered = Annotated[
    bool,
    typer.Option(
        "--unordered",
        help="Count rewards as they come. Only if how long a measurement takes has nothing to "
        "do with its value; else the answer may be wrong.",
    ),
]
Worker = Annotated[str | None, typer.Option(help="Who you are; machine and process by default.")]
_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0, "d": 86400.0, "w": 604800.0}


def typed_place(text: str) -> str:
    """A place from the command line: a file, an address, or `env:NAME` for one kept secret.

    An address with a password is refused: every user of the machine could read
    it in the list of processes.
    """
    from standout.study.storage.location import has_password

    if text.startswith("env:"):
        name = text.removeprefix("env:")
        value = os.environ.get(name)
        if not value:
            raise StudyError(f"the environment variable {name!r} is not set")
        return value
    if has_password(text):
        raise StudyError(
            "the address holds a password, which the list of processes would show; leave it out "
            "and set PGPASSWORD or ~/.pgpass, or write env:NAME and put the address in $NAME"
        )
    return text


def seconds_of(text: str) -> float:
    """Read `90`, `90s`, `15m`, `8h`, `3d`, `2w`."""
    match = re.fullmatch(r"\s*([0-9]*\.?[0-9]+)\s*([a-z]*)\s*", text.lower())
    if match is None or match[2] not in _UNITS:
        raise StudyError(f"duration {text!r} must look like 90s, 15m, 8h or 3d")
    return float(match[1]) * _UNITS[match[2]]


def read_text(path: str) -> tuple[str, str]:
    """The text of a file, or of the standard input for `-`, and its name for messages."""
    from standout.study.csv_files import decode

    if path == "-":
        return decode(sys.stdin.buffer.read(), "standard input"), "standard input"
    try:
        return decode(Path(path).read_bytes(), path), path
    except OSError as error:
        raise StudyError(f"{path}: cannot be read: {error.strerror}") from None


def open_study(place: str, name: str | None) -> Study:
    """The study `name` at a place as typed, with a warning if its file may lack something."""
    from standout.study import Study

    study = Study.open(typed_place(place), name)
    if study.remark is not None:
        typer.echo(f"warning: {study.remark}", err=True)
    return study


def waiting_line(waiting: Sequence[Waiting]) -> str:
    """What waits for what, in one line."""
    count = sum(one.rewards for one in waiting)
    first = waiting[0]
    late = "overdue, the next to ask gets it" if first.expired else "out"
    more = f", and {len(waiting) - 1:,} more" if len(waiting) > 1 else ""
    return (
        f"{count:,} told rewards wait for earlier pulls of their arms: for ticket {first.ticket} "
        f"of {printable(first.worker, 40)} ({late}){more}"
    )


def stopped_line(now: Status) -> str:
    """Why a study has stopped; an estimate is told apart from what is certain."""
    from standout.results import StopReason

    if now.reason is StopReason.ESTIMATE and now.until is not None:
        from standout.posterior.until import Until

        return f"stopped: estimate ({Until.parse(now.until).words}; not a certificate)"
    return f"stopped: {now.reason}"
