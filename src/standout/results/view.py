"""The data that a dashboard or a report draws, at one moment."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, get_args

from standout.results.answer import Question, Scale, StopReason
from standout.results.interval import HasThresholds, Threshold
from standout.results.serialisation import (
    Codes,
    Ints,
    Lower,
    LowerEnds,
    Maybe,
    Maybes,
    Result,
    Upper,
    UpperEnds,
)

if TYPE_CHECKING:
    from standout.core.problem import Problem
else:
    Problem = Question  # The form in which it is sent.

VerdictName = Literal["undecided", "normal", "outlier"]
VERDICTS: tuple[VerdictName, ...] = get_args(VerdictName)
"""The verdicts, by their numbers in `StudyView.verdict`."""


@dataclass(frozen=True)
class Next(Result):
    """The next pulls of an arm, and why the method chooses it."""

    arm: str
    pulls: int
    why: str


@dataclass(frozen=True)
class Counts(Result):
    """Numbers of arms and pulls; `expired` counts pending pulls that are handed out again."""

    arms: int
    pulls: int
    pending: int
    expired: int
    surplus: int
    rounds: int
    outliers: int
    normal: int
    undecided: int


@dataclass(frozen=True)
class ArmRow(Result):
    """One arm; `paused` says why it is not handed out, if so."""

    position: int
    arm: str
    estimate: Maybe
    lower: Lower
    upper: Upper
    pulls: int
    pending: int
    verdict: VerdictName
    failures: int
    paused: str | None


@dataclass(frozen=True)
class StudyView(HasThresholds, Result):
    """The state of a study, with one array entry per arm, in the order of `names`.

    `estimate` is NaN for an arm without rewards; ends that are not known yet are infinite.
    `verdict` is 0 undecided, 1 normal, 2 outlier. `threshold_low` is the low side's if both sides
    are asked; with one side, `threshold` is that side's. `median` is NaN before the first complete
    round. `seq` grows with every change of the study. `positions` are those of the arms that
    changed after the requested `since`, or None if this is not known. In JSON the arrays then
    hold these arms only, and `names` is null. `scale` is for a picture and is set by a server.
    """

    name: str
    created: float
    seq: int
    names: tuple[str, ...]
    estimate: Maybes
    lower: LowerEnds
    upper: UpperEnds
    pulls: Ints
    pending: Ints
    verdict: Codes
    threshold: Threshold
    threshold_low: Threshold | None
    median: Maybe
    problem: Problem
    method: str
    budget: int | None
    until: str | None
    counts: Counts
    stopped: bool
    reason: StopReason
    stopped_at: float | None
    note: str | None
    failures: dict[str, int]
    paused: dict[str, str]
    next: tuple[Next, ...]
    room: int | None = None
    axis: str | None = None
    positions: Ints | None = None
    scale: Scale | None = None

    more: ClassVar[Mapping[str, Any]] = {"full": bool, "names": tuple[str, ...] | None}

    def to_dict(self) -> dict[str, Any]:
        """Plain values of all arms (`full`), or of those at the changed `positions`."""
        if self.positions is None:
            return {**super().to_dict(), "full": True}
        arrays = ("estimate", "lower", "upper", "pulls", "pending", "verdict")
        cut = {name: getattr(self, name)[self.positions] for name in arrays}
        shown = replace(self, names=(), **cut)
        return {**Result.to_dict(shown), "names": None, "full": False}

    def row(self, place: int) -> ArmRow:
        """The arm at a position, for a table."""
        name = self.names[place]
        return ArmRow(
            position=place,
            arm=name,
            estimate=float(self.estimate[place]),
            lower=float(self.lower[place]),
            upper=float(self.upper[place]),
            pulls=int(self.pulls[place]),
            pending=int(self.pending[place]),
            verdict=VERDICTS[int(self.verdict[place])],
            failures=self.failures.get(name, 0),
            paused=self.paused.get(name),
        )


@dataclass(frozen=True)
class ArmList(Result):
    """One page of arms; `found` counts all arms that match."""

    arms: tuple[ArmRow, ...]
    found: int
    next: int | None


@dataclass(frozen=True)
class NextList(Result):
    """The next pulls."""

    next: tuple[Next, ...]
