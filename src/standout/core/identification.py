"""The answer."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from standout.core.kinds import Verdict
from standout.core.state import (
    PULLS,
    ROUNDS,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    State,
)
from standout.core.stopping import StopReason
from standout.core.typing import Floats, Ints


@dataclass(frozen=True)
class Interval:
    """An interval with its ends included."""

    lower: float
    upper: float


def _none() -> Any:
    return np.zeros(0)


@dataclass(frozen=True)
class Identification:
    """Which arms stand out, which do not, which are undecided, and how it was found.

    What stands in `outliers` and `normal` is certain at the problem's level;
    `best_guess` are the outliers if one had to name them now, undecided arms
    judged by their estimates.
    """

    outliers: tuple[str, ...]
    normal: tuple[str, ...]
    undecided: tuple[str, ...]
    best_guess: tuple[str, ...]
    threshold: Interval
    threshold_estimate: float
    pulls: int
    rounds: int
    reason: StopReason
    threshold_low: Interval | None = None
    """The low side's threshold when both sides are asked; `threshold` is then the high one."""
    note: str | None = None
    """Why the arms that are left cannot be decided, if that shows."""
    arms: Sequence[str] = field(repr=False, default=())
    means: Floats = field(repr=False, default_factory=_none)
    lower: Floats = field(repr=False, default_factory=_none)
    upper: Floats = field(repr=False, default_factory=_none)
    pulls_by_arm: Ints = field(repr=False, default_factory=_none)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON (without the per-arm arrays)."""
        return {
            "outliers": list(self.outliers),
            "normal": list(self.normal),
            "undecided": list(self.undecided),
            "best_guess": list(self.best_guess),
            "threshold": _ends(self.threshold),
            "threshold_low": self.threshold_low and _ends(self.threshold_low),
            "pulls": self.pulls,
            "rounds": self.rounds,
            "reason": str(self.reason),
            "note": self.note,
        }


def _ends(interval: Interval) -> dict[str, float]:
    return {"lower": interval.lower, "upper": interval.upper}


def _side_interval(state: State, side: int) -> Interval:
    """A side's threshold, turned back to the rewards' own orientation."""
    lower = float(state.bounds[side, THRESHOLD_LOWER])
    upper = float(state.bounds[side, THRESHOLD_UPPER])
    return Interval(-upper, -lower) if state.signs[side] < 0 else Interval(lower, upper)


def identification(
    state: State,
    arms: Sequence[str],
    guess: Any,
    reason: StopReason,
    *,
    known: Any = (),
    note: str | None = None,
) -> Identification:
    """Read the answer off a state; the positions `known` were given, not pulled."""
    sign = state.signs[0]
    lower, upper = state.lower[0], state.upper[0]
    if sign < 0:
        lower, upper = -upper, -lower
    pulls_by_arm = state.pulls.copy()
    pulls_by_arm[list(known)] = 0

    def named(mask: Any) -> tuple[str, ...]:
        return tuple(arms[int(i)] for i in np.flatnonzero(mask))

    return Identification(
        outliers=named(state.verdict == Verdict.OUTLIER),
        normal=named(state.verdict == Verdict.NORMAL),
        undecided=named(state.verdict == Verdict.UNDECIDED),
        best_guess=named(guess),
        threshold=_side_interval(state, 0),
        threshold_low=_side_interval(state, 1) if len(state.signs) > 1 else None,
        threshold_estimate=float(sign * state.bounds[0, THRESHOLD]),
        pulls=int(state.counters[PULLS]),
        rounds=int(state.counters[ROUNDS]),
        reason=reason,
        note=note,
        arms=arms,
        means=np.where(state.pulls > 0, sign * state.estimate[0], np.nan),
        lower=np.array(lower),
        upper=np.array(upper),
        pulls_by_arm=pulls_by_arm,
    )
