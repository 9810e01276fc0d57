"""The results of a study: tickets, receipts, status, history.

Times are in seconds since 1970; leases are in seconds.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, ClassVar

from standout.errors import StudyError
from standout.results.answer import Ending, Identification, Question, Scale, StopReason
from standout.results.display import DisplayedArms, counted
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

    Attributes:
        id: The ticket's number (`ticket` in JSON).
        arm: The arm to measure.
        expires: The end of the lease, in seconds since 1970; None without a lease. After it the
            pull may be handed out to another worker. A late reward is still accepted.
        item: What to show for the arm, if `ask` was called with `items=True`.

    Example:
        >>> Ticket(17, "ash").to_dict()
        {'ticket': 17, 'arm': 'ash', 'expires': None, 'item': None}
    """

    id: int = field(metadata={"name": "ticket"})
    arm: str
    expires: Upper = math.inf
    item: Mapping[str, str] | None = None


@dataclass
class Receipt(Result):
    """What happened to the rewards of one call.

    Attributes:
        counted: Rewards that were added to the totals, or that wait for an earlier pull of the same
            arm.
        repeated: Rewards that were recorded before with the same value; nothing changed.
        surplus: Rewards that came after the budget was used up: kept, but in no total.
        again: Whether the whole call was recorded before with the same key. This is the receipt of
            that call.
        time: When that call was recorded.
    """

    counted: int = 0
    repeated: int = 0
    surplus: int = 0
    again: bool = False
    time: float | None = None


@dataclass(frozen=True)
class Tickets(Result):
    """Pulls to measure.

    None means that there is none. The study has stopped, or all pulls that the budget allows are
    handed out; then the first lease ends in `wait` seconds.
    """

    tickets: tuple[Ticket, ...]
    stopped: bool
    wait: float = 0.0


@dataclass
class Told(Receipt):
    """The receipt of the rewards, and the next tickets if they were asked for."""

    tickets: tuple[Ticket, ...] = ()
    stopped: bool = False


@dataclass(frozen=True)
class Pending(Result):
    """A ticket that is out: which worker has it, since when and until when."""

    ticket: int
    arm: str
    worker: str
    asked: float
    expires: float


@dataclass(frozen=True)
class Failure(Result):
    """A ticket that was given back; `seq` numbers the failures of a study from 1."""

    seq: int
    time: float
    arm: str
    ticket: int
    worker: str
    reason: str


@dataclass(frozen=True)
class Waiting(Result):
    """Recorded rewards of an arm that count as soon as `ticket` is told or given back.

    `worker` holds that ticket. If it has `expired`, the next call of `ask` gets its pull.
    """

    arm: str
    rewards: int
    ticket: int
    worker: str
    expired: bool


@dataclass(frozen=True)
class Status(HasThresholds, DisplayedArms, Result):
    """The state of a study at one moment.

    Attributes:
        name: The study's name.
        problem: What is asked.
        arms: The number of arms; the lists below hold names.
        outliers: Arms that stand out, with the guarantee.
        normal: Arms that do not stand out, with the guarantee.
        undecided: Arms without a verdict.
        threshold: The interval of the threshold; the high one if both sides are asked.
        threshold_low: The low side's if both sides are asked, else None.
        pulls: Rewards that count.
        pending: Pulls handed out whose reward is missing.
        expired: Pending pulls whose lease has ended; they are handed out again.
        surplus: Rewards that came after the budget was used up; they are in no total.
        failures: Tickets given back, per arm with at least one.
        paused: Why an arm is not handed out, per paused arm.
        waiting: Recorded rewards that wait for an earlier pull, per arm.
        voided: Rewards that were voided by hand; they are in no total.
        reason: Why the study ended, or `running`.
        note: Why the undecided arms may never be decided, if this is known.
        until: What the chances have to promise for the study to end early, if this was asked.
        enough_tolerance: The tolerance that would decide every arm now, which is proved. None if
            every arm is decided or too little is known.
        room: The most arms there may be at the end, if some may be added.
        axis: What a reward is, with its unit.
        head: The digest of the log, in hexadecimal (docs/studies.md).
        found: Means and intervals at that moment, for the picture and the frame. Not part of the
            JSON, so None in a status from a server: use `identification()`.

    Example:
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
    room: int | None = None
    axis: str | None = None
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
        """The state of the study in a few lines.

        Returns:
            Plain text.
        """
        pulls = plural(self.pulls, "pull")
        if self.budget is not None:
            pulls = f"{self.pulls:,} of {plural(self.budget, 'pull')}"
        lines = [
            f"{self.name}: {plural(self.arms, 'arm')}, {pulls}, {self.pending:,} pending",
            counted("outlier", self.outliers),
            f"{len(self.normal):,} normal, {len(self.undecided):,} undecided",
            self.threshold_words(),
            *([] if self.found is None else self.found.overlap_lines()),
            self.reason.message,
        ]
        if self.enough_tolerance is not None and not self.note:
            lines.append(f"a tolerance of {self.enough_tolerance:g} would decide every arm now")
        return "\n".join([*lines, *([self.note] if self.note else [])])

    def columns(self) -> dict[str, Any]:
        """The state of the study as columns, one row per arm.

        Returns:
            The columns of `found`; without it, `arm` and `verdict`.
        """
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
    """A change made by hand: what, by whom, when and why.

    `kind` is `set` (also for stopping), `void`, `pause`, `resume`, or `note` for a remark. `number`
    is the number of its event, `time` is in seconds since 1970, and `words` describe it.
    """

    number: int
    time: float
    kind: str
    worker: str
    reason: str
    words: str


@dataclass(frozen=True)
class StudyRow(Result):
    """A study in a list, with its numbers of arms, pulls and tickets."""

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
    """The progress of a study; `seq` grows with every change of any kind."""

    seq: int
    pulls: int
    undecided: int
    stopped: bool


@dataclass(frozen=True)
class Forecast(Result):
    """Pulls left: the median of the simulated runs, and the interval of their middle 80 %.

    `upper` is None if a simulated run did not end.
    """

    pulls_left: int
    lower: int
    upper: int | None


@dataclass(frozen=True)
class Trace(Result):
    """The history of a study, one entry per kept moment, in the order of pulls.

    An end of the threshold's interval that was not known yet is infinite. `lower_low` and
    `upper_low` belong to the low side if both sides are asked, and are NaN otherwise. `scale` is
    for a picture and is set by a server.
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
    """The result of checking a whole study; `problems` is empty if all is well.

    `head` is the digest that covers all `steps`. Keep it outside the database: a later check then
    shows whether these steps are unchanged. `notes` say what could not be checked, and why.
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
        """Whether there are no problems."""
        return not self.problems

    def __bool__(self) -> bool:
        return self.is_ok

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, with `ok` for `is_ok`.

        Returns:
            A mapping.
        """
        return {"ok": self.is_ok, **super().to_dict()}


@dataclass(frozen=True)
class CopiedStudy(Result):
    """A study in a copy: the number of pulls that count, and of rewards in its log."""

    name: str
    pulls: int
    rewards: int


@dataclass(frozen=True)
class Copy(Result):
    """What was copied, from where to where; `size` is in bytes, None for PostgreSQL.

    `remarks` say what the user should know about the source, or what the target held before.
    """

    source: str
    target: str
    size: int | None
    studies: tuple[CopiedStudy, ...]
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class StudyList(Result):
    """One page of studies, oldest first; `next` is the `after` of the next page, else None."""

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
    """All changes made by hand, oldest first."""

    changes: tuple[Change, ...]


@dataclass(frozen=True)
class EndingList(Result):
    """A tolerance that would end a study now, and smaller ones; empty if there is none."""

    endings: tuple[Ending, ...]
