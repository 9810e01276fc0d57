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
    Spec,
    State,
)
from standout.core.stopping import StopReason
from standout.core.typing import Floats, Ints


@dataclass(frozen=True)
class Interval:
    """An interval with its ends included."""

    lower: float
    upper: float


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
    arms: Sequence[str] = field(repr=False)
    means: Floats = field(repr=False)
    lower: Floats = field(repr=False)
    upper: Floats = field(repr=False)
    pulls_by_arm: Ints = field(repr=False)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON (without the per-arm arrays)."""
        return {
            "outliers": list(self.outliers),
            "normal": list(self.normal),
            "undecided": list(self.undecided),
            "best_guess": list(self.best_guess),
            "threshold": {"lower": self.threshold.lower, "upper": self.threshold.upper},
            "pulls": self.pulls,
            "rounds": self.rounds,
            "reason": str(self.reason),
        }


def identification(
    spec: Spec, state: State, arms: Sequence[str], guess: Any, reason: StopReason
) -> Identification:
    """Read the answer off a state, turned back to the rewards' own orientation."""
    sign = state.signs[0]
    lower, upper = state.lower[0], state.upper[0]
    bounds = state.bounds[0]
    threshold = (float(bounds[THRESHOLD_LOWER]), float(bounds[THRESHOLD_UPPER]))
    if sign < 0:
        lower, upper = -upper, -lower
        threshold = (-threshold[1], -threshold[0])

    def named(mask: Any) -> tuple[str, ...]:
        return tuple(arms[int(i)] for i in np.flatnonzero(mask))

    return Identification(
        outliers=named(state.verdict == Verdict.OUTLIER),
        normal=named(state.verdict == Verdict.NORMAL),
        undecided=named(state.verdict == Verdict.UNDECIDED),
        best_guess=named(guess),
        threshold=Interval(*threshold),
        threshold_estimate=float(sign * bounds[THRESHOLD]),
        pulls=int(state.counters[PULLS]),
        rounds=int(state.counters[ROUNDS]),
        reason=reason,
        arms=arms,
        means=np.where(state.pulls > 0, sign * state.estimate[0], np.nan),
        lower=np.array(lower),
        upper=np.array(upper),
        pulls_by_arm=state.pulls.copy(),
    )
