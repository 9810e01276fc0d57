"""The answer of a run: which arms stand out, and why the run ended."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from standout.results.chances import Chances
from standout.results.display import DisplayedArms, counted, some
from standout.results.interval import HasThresholds, Interval
from standout.results.overlap import outside_words, overlap_words
from standout.results.sentences import answer_sentences
from standout.results.serialisation import Arms, Ints, LowerEnds, Maybe, Maybes, Result, UpperEnds
from standout.text import plural, verdicts


class StopReason(StrEnum):
    """The reason a run ended, with a message for people.

    Example:
        >>> StopReason.BUDGET.message
        'the budget is used up; some arms are undecided'
    """

    message: str

    def __new__(cls, value: str, message: str) -> StopReason:
        """Attach the message to the text value."""
        member = str.__new__(cls, value)
        member._value_ = value
        member.message = message
        return member

    DECIDED = "decided", "every arm is decided"
    BUDGET = "budget", "the budget is used up; some arms are undecided"
    STUCK = "stuck", "no arm is left that can be pulled; some arms are undecided"
    RUNNING = "running", "some arms are undecided"
    ESTIMATE = (
        "estimate",
        "the answer is as probable as you asked (an estimate); some arms are undecided",
    )
    STOPPED = "stopped", "stopped by hand; some arms are undecided"
    INTERRUPTED = "interrupted", "interrupted; some arms are undecided"


@dataclass(frozen=True)
class Tick(Result):
    """A value on an axis, and its label."""

    value: float
    label: str


@dataclass(frozen=True)
class Scale(Result):
    """The range from `low` to `high` that a picture shows, and its ticks."""

    low: float
    high: float
    ticks: tuple[Tick, ...]


@dataclass(frozen=True)
class Question(Result):
    """What is asked, as plain values: the fields of a `Problem`, with its noise as text."""

    k: float
    mad_scale: float
    delta: float
    side: str
    k_low: float | None
    tolerance: float
    noise: str


@dataclass(frozen=True)
class Ending(Result):
    """A tolerance, and about how many more pulls decide every arm with it.

    Attributes:
        tolerance: The tolerance, in the rewards' unit.
        pulls: 0 if this tolerance would decide every arm now, which is proved. Other numbers are
            estimates. None if a short simulation saw no end.
    """

    tolerance: float
    pulls: int | None


def _none() -> Any:
    import numpy as np

    return np.zeros(0)


@dataclass(frozen=True)
class Identification(HasThresholds, DisplayedArms, Result):
    """Which arms stand out, which do not, which are undecided, and how this was found.

    Arrays have one entry per arm, in the order of `arms`.

    Attributes:
        outliers: Arms that stand out, with the guarantee.
        normal: Arms that do not stand out, with the guarantee.
        undecided: Arms without a verdict.
        best_guess: The outliers if they had to be named now: `outliers`, and those undecided arms
            whose chance is above one half. Without chances, the undecided arms whose estimate is
            beyond the estimated threshold.
        threshold: The interval of the threshold; the high one if both sides are asked.
        threshold_low: The low side's threshold if both sides are asked, else None.
        means: The mean of each arm; NaN for an arm without rewards.
        lower: Lower ends of the arms' intervals; minus infinity while unknown.
        upper: Upper ends of the arms' intervals; infinity while unknown.
        pulls: The sum of `pulls_by_arm`. Rewards from before the run (`prior`) are in
            `earlier_by_arm`.
        rounds: The number of rounds.
        reason: Why the run ended.
        note: Why the undecided arms cannot be decided, if this is known.
        chances: Estimates for an answer with undecided arms, computed by `identify`.
        until: What the chances had to promise for the run to end, if this was asked.
        endings: Tolerances that would end an unfinished run. The first decides every arm now,
            which is proved; smaller ones need about as many more pulls as they state.

    Example:
        >>> data = dict(outliers=["yew"], normal=["ash", "elm"], undecided=[], best_guess=["yew"],
        ...     threshold={"lower": 0.4, "upper": 0.6}, threshold_estimate=0.5, pulls=30, rounds=4,
        ...     reason="decided")
        >>> found = Identification.from_dict(data)
        >>> found.outliers, found.threshold.upper, found.reason.message
        (('yew',), 0.6, 'every arm is decided')
    """

    outliers: Arms
    normal: Arms
    undecided: Arms
    best_guess: Arms
    threshold: Interval
    threshold_estimate: Maybe
    pulls: int
    rounds: int
    reason: StopReason
    threshold_low: Interval | None = None
    note: str | None = None
    arms: Arms = field(repr=False, default=())
    means: Maybes = field(repr=False, default_factory=_none)
    lower: LowerEnds = field(repr=False, default_factory=_none)
    upper: UpperEnds = field(repr=False, default_factory=_none)
    pulls_by_arm: Ints = field(repr=False, default_factory=_none)
    earlier_by_arm: Ints = field(repr=False, default_factory=_none)
    until: str | None = None
    chances: Chances | None = field(repr=False, default=None)
    endings: tuple[Ending, ...] = field(repr=False, default=())
    problem: Question | None = field(repr=False, default=None)

    def __repr__(self) -> str:
        return (
            "<Identification: "
            f"{verdicts(len(self.outliers), len(self.normal), len(self.undecided))}; "
            f"{plural(self.pulls, 'pull')}; {self.reason}>"
        )

    def with_chances(self, chances: Chances) -> Identification:
        """This answer with chances, and a best guess that follows them.

        Args:
            chances: Chances of the same arms.

        Returns:
            An answer whose `best_guess` holds `outliers` and those undecided arms whose chance is
            above one half.
        """
        guessed = set(chances.probable) & set(self.undecided) | set(self.outliers)
        named = tuple(arm for arm in self.arms if arm in guessed)
        return replace(self, chances=chances, best_guess=named)

    def summary(self) -> str:
        """The answer in a few lines.

        Returns:
            Plain text: outliers, numbers of normal and undecided arms, pulls and reason.
        """
        lines = [
            counted("outlier", self.outliers),
            f"{len(self.normal):,} normal, {len(self.undecided):,} undecided",
            self.threshold_words(),
            *self.overlap_lines(),
            f"{plural(self.pulls, 'pull')}; {self.reason.message}",
        ]
        certain = set(self.outliers)
        guess = [arm for arm in self.best_guess if arm not in certain]
        if self.undecided and guess:
            lines.append(f"best guess, not certain: {some(guess)}")
        return "\n".join([*lines, *self.remark_lines()])

    def remark_lines(self) -> list[str]:
        """The tolerance that would decide every arm now, and the note, where there are any.

        Returns:
            Up to two sentences.
        """
        offered, lines = self.offered_endings(), []
        if offered and not (self.note and "tolerance of" in self.note):
            lines.append(f"a tolerance of {offered[0].tolerance:g} would decide every arm now")
        return [*lines, *([self.note] if self.note else [])]

    def offered_endings(self) -> tuple[Ending, ...]:
        """The endings that are worth showing to a user.

        Returns:
            `endings`, or nothing if the first tolerance is as wide as the range of all estimates:
            with such a tolerance, any arm may be called an outlier.
        """
        import numpy as np

        known = self.means[np.isfinite(self.means)] if len(self.means) else self.means
        if not self.endings or (len(known) and self.endings[0].tolerance >= np.ptp(known)):
            return ()
        return self.endings

    def sentences(self) -> list[str]:
        r"""The answer as sentences: which arms stand out, with their intervals, and the threshold.

        Returns:
            Lines of one or more sentences.

        Example:
            >>> data = dict(
            ...     outliers=["yew"], normal=["ash", "elm"], undecided=[], best_guess=["yew"],
            ...     threshold={"lower": 0.4, "upper": 0.6}, threshold_estimate=0.5, pulls=30,
            ...     rounds=4, reason="decided", arms=["ash", "elm", "yew"])
            >>> print("\n".join(Identification.from_dict(data).sentences()))
            1 of the 3 arms stands out: yew.
            The threshold lies between 0.400 and 0.600. 30 pulls.
        """
        return answer_sentences(self)

    def overlap_lines(self) -> list[str]:
        """Why the intervals of decided arms reach into the threshold's.

        Returns:
            One sentence if there are such arms, else an empty list.
        """
        import numpy as np

        if self.problem is None or not len(self.means):
            return []
        out, undecided = set(self.outliers), set(self.undecided)
        verdict = np.array([1 + (a in out) - (a in undecided) for a in self.arms])
        known = self.means[np.isfinite(self.means)]
        median = float(np.median(known)) if len(known) else math.nan
        words = overlap_words(
            verdict, self.means, self.lower, self.upper, self.thresholds, median,
            self.problem.side, self.problem.tolerance,
        )  # fmt: skip
        odd = outside_words(self.arms, self.means, self.lower, self.upper)
        return [each for each in (words, odd) if each is not None]

    def columns(self) -> dict[str, Any]:
        """The answer as columns, one row per arm.

        Returns:
            `arm`, `verdict`, `mean`, `lower`, `upper`, `pulls`, and `chance` if there are chances.
        """
        verdicts = dict.fromkeys(self.outliers, "outlier")
        verdicts |= dict.fromkeys(self.normal, "normal")
        found: dict[str, Any] = {
            "arm": list(self.arms),
            "verdict": [verdicts.get(arm, "undecided") for arm in self.arms],
            "mean": self.means,
            "lower": self.lower,
            "upper": self.upper,
            "pulls": self.pulls_by_arm,
        }
        if self.chances is not None:
            found["chance"] = self.chances.chance
        return found

    def _drawn(self) -> Identification:
        return self
