"""What a study says: tickets, receipts, how it stands, what was found in it.

Times are seconds since 1970; leases are in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from standout.errors import StudyError
from standout.results.answer import Ending, Identification, Question, Scale, StopReason
from standout.results.display import DisplayedArms, some
from standout.results.interval import HasThresholds, Interval
from standout.results.serialisation import (
    Floats,
    Ints,
    LowerEnds,
    Maybes,
    Result,
    Upper,
    UpperEnds,
)
from standout.text import plural, verdicts


@dataclass(frozen=True)
class Ticket(Result):
    """One pull handed out: measure `arm` once and tell its reward before `expires`.

    `expires` is in seconds since 1970. After it the pull may be handed out to
    someone else; a reward told later is still taken. `item` is what to show for
    the arm, if that was asked for. In JSON the `id` is called `ticket`.

    >>> Ticket(17, "ash").to_dict()
    {'ticket': 17, 'arm': 'ash', 'expires': None, 'item': None}
    """

    id: int = field(metadata={"name": "ticket"})
    arm: str
    expires: Upper = math.inf
    item: Mapping[str, str] | None = None


@dataclass
class Receipt(Result):
    """What became of told rewards.

    `counted` were taken into the totals (or wait for an earlier pull of the
    same arm). `repeated` were told before with the same value: nothing done.
    `surplus` came beyond the budget: kept, but in no total. `again`: all of it
    was told before with the same key, at `time`; this is what was answered then.
    """

    counted: int = 0
    repeated: int = 0
    surplus: int = 0
    again: bool = False
    time: float | None = None


@dataclass(frozen=True)
class Tickets(Result):
    """Pulls to measure.

    None means that the study has stopped or, if it has not, that all which the budget allows is
    handed out; then the first lease ends in `wait` seconds.
    """

    tickets: tuple[Ticket, ...]
    stopped: bool
    wait: float = 0.0


@dataclass
class Told(Receipt):
    """What became of the rewards, and the next tickets if they were asked for."""

    tickets: tuple[Ticket, ...] = ()
    stopped: bool = False


@dataclass(frozen=True)
class Pending(Result):
    """A ticket that is out: with whom, since when and until when."""

    ticket: int
    arm: str
    worker: str
    asked: float
    expires: float


@dataclass(frozen=True)
class Failure(Result):
    """A ticket that was given back; `seq` numbers a study's failures from 1."""

    seq: int
    time: float
    arm: str
    ticket: int
    worker: str
    reason: str


@dataclass(frozen=True)
class Waiting(Result):
    """Told rewards of an arm that are counted as soon as `ticket` is told or given back.

    `worker` has that ticket; when it has `expired`, the next to ask gets its pull.
    """

    arm: str
    rewards: int
    ticket: int
    worker: str
    expired: bool


@dataclass(frozen=True)
class Status(HasThresholds, DisplayedArms, Result):
    """How a study stands at one moment; arms by name, `arms` is how many.

    `pulls` are the rewards counted, `pending` the pulls handed out and owed a
    reward; of these `expired` wait to be handed out again. `surplus` rewards
    came beyond the budget and are in no total. `failures` counts tickets given
    back, per arm that had any; `paused` says why an arm is handed out no more;
    `waiting` are the told rewards, per arm, that wait for an earlier pull.
    `head` is the digest, in hex, of all that was told (see docs/studies.md).
    `threshold_low` is the low side's when both are asked; `note` says why what
    is left may never be decided, if that shows. `until` is what the chances have to promise
    for the study to end before all is certain, if that was asked. `voided` rewards were made
    void by hand and are in no total. `enough_tolerance` would decide every arm now, which is
    proved; None where all are decided, or too little is known. `found` has the arms' means and
    intervals at that moment, for the picture and the frame; it is not part of the JSON, and None in
    a status that came from a server, of which `identification()` has them.

    >>> now = study.status()
    >>> now.arms, now.undecided, now.problem.k, str(now.reason)
    (3, ('ash', 'elm', 'fir'), 2.0, 'running')
    """

    name: str
    created: float
    method: str
    problem: Question
    lease: float
    arms: int
    pulls: int
    pending: int
    expired: int
    surplus: int
    budget: int | None
    outliers: tuple[str, ...]
    normal: tuple[str, ...]
    undecided: tuple[str, ...]
    threshold: Interval
    threshold_low: Interval | None
    note: str | None
    stopped: bool
    reason: StopReason
    rounds: int
    failures: dict[str, int] = field(default_factory=dict)
    paused: dict[str, str] = field(default_factory=dict)
    waiting: tuple[Waiting, ...] = ()
    head: str = ""
    until: str | None = None
    voided: int = 0
    enough_tolerance: float | None = None
    found: Identification | None = field(
        default=None, repr=False, compare=False, metadata={"is_sent": False}
    )

    def __repr__(self) -> str:
        return (
            f"<Status of {self.name!r}: "
            f"{verdicts(len(self.outliers), len(self.normal), len(self.undecided))}; "
            f"{plural(self.pulls, 'pull')}; {self.reason}>"
        )

    def summary(self) -> str:
        """How it stands, in a few lines of plain text."""
        pulls = plural(self.pulls, "pull")
        if self.budget is not None:
            pulls = f"{self.pulls:,} of {plural(self.budget, 'pull')}"
        lines = [
            f"{self.name}: {plural(self.arms, 'arm')}, {pulls}, {self.pending:,} pending",
            f"{plural(len(self.outliers), 'outlier')}: {some(self.outliers)}",
            f"{len(self.normal):,} normal, {len(self.undecided):,} undecided",
            self.threshold_words(),
            *([] if self.found is None else self.found.overlap_lines()),
            self.reason.message,
        ]
        if self.enough_tolerance is not None and not self.note:
            lines.append(f"a tolerance of {self.enough_tolerance:g} would decide every arm now")
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def columns(self) -> dict[str, Any]:
        """Per arm as those of `found`; without it, each arm with its verdict."""
        if self.found is not None:
            return self.found.columns()
        named = (("outlier", self.outliers), ("normal", self.normal), ("undecided", self.undecided))
        return {
            "arm": [arm for _, arms in named for arm in arms],
            "verdict": [verdict for verdict, arms in named for _ in arms],
        }

    def _drawn(self) -> Identification:
        if self.found is None:
            raise StudyError(
                "this status came from a server, without means and intervals: "
                "study.identification() has them, and their picture"
            )
        return self.found

    def _picture(self) -> str:
        return "" if self.found is None else super()._picture()


@dataclass(frozen=True)
class Change(Result):
    """Something that was changed by hand, by whom, when and why.

    `kind` is `set` (also for stopped), `void`, `pause`, `resume`, or `note` for what changes
    nothing.

    `number` is that of its step, `time` in seconds since 1970, `words` say what
    was changed, for people.
    """

    number: int
    time: float
    kind: str
    worker: str
    reason: str
    words: str


@dataclass(frozen=True)
class StudyRow(Result):
    """A study in a list; all but the names are numbers of arms, pulls or tickets."""

    name: str
    method: str
    arms: int
    pulls: int
    pending: int
    undecided: int
    outliers: int
    stopped: bool
    reason: StopReason
    created: float


@dataclass(frozen=True)
class Pulse(Result):
    """How far a study is; `seq` goes up with every change of any kind."""

    seq: int
    pulls: int
    undecided: int
    stopped: bool


@dataclass(frozen=True)
class Forecast(Result):
    """Pulls left: the middle of what was played, and where the middle four fifths of it lie.

    `upper` is None when there is no end to be seen.
    """

    pulls_left: int
    lower: int
    upper: int | None


@dataclass(frozen=True)
class Trace(Result):
    """One entry per kept moment, in the order of pulls.

    An end of the threshold's interval that was not known yet is infinite.
    `lower_low` and `upper_low` are the low side's where both sides are asked,
    and NaN elsewhere. `scale` is for a picture; a server sends it.
    """

    pulls: Ints
    time: Floats
    lower: LowerEnds
    upper: UpperEnds
    lower_low: Maybes
    upper_low: Maybes
    undecided: Ints
    scale: Scale | None = None

    def __len__(self) -> int:
        return len(self.pulls)


@dataclass(frozen=True)
class Verification(Result):
    """What a check of the whole study found; `problems` is empty when all is well.

    `head` is the digest that covers all `steps`: keep it elsewhere, and a later
    check can tell whether what it covers is still the same. `notes` say what
    could not be checked, and why.
    """

    rewards: int
    tickets: int
    problems: tuple[str, ...] = ()
    steps: int = 0
    head: str = ""
    notes: tuple[str, ...] = ()

    more: ClassVar[Mapping[str, Any]] = {"ok": bool}

    @property
    def is_ok(self) -> bool:
        """Whether nothing is wrong."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.is_ok

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, with `ok`: whether nothing is wrong."""
        return {"ok": self.is_ok, **super().to_dict()}


@dataclass(frozen=True)
class CopiedStudy(Result):
    """A study in a copy: how many pulls are counted, and how many rewards are in its log."""

    name: str
    pulls: int
    rewards: int


@dataclass(frozen=True)
class Copy(Result):
    """What was copied from where to where; `size` in bytes, None in PostgreSQL.

    `remarks` say what is to be known about the source or was found in the
    target's place, in plain words.
    """

    source: str
    target: str
    size: int | None
    studies: tuple[CopiedStudy, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyList(Result):
    """Some studies, oldest first; `next` is the `after` of the next page, None on the last."""

    studies: tuple[StudyRow, ...]
    next: str | None


@dataclass(frozen=True)
class FailureList(Result):
    """Failures, newest first."""

    failures: tuple[Failure, ...]
    next: int | None


@dataclass(frozen=True)
class PendingList(Result):
    """All tickets that are out."""

    pending: tuple[Pending, ...]


@dataclass(frozen=True)
class ChangeList(Result):
    """All that was changed by hand, oldest first."""

    changes: tuple[Change, ...]


@dataclass(frozen=True)
class EndingList(Result):
    """The tolerance that would end a study now, and smaller ones; empty where there is none."""

    endings: tuple[Ending, ...]
