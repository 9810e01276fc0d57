"""The answer from a state."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from standout.core.endings import least_tolerance
from standout.core.kinds import Verdict
from standout.core.state import (
    PULLS,
    ROUNDS,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    State,
)
from standout.core.typing import Floats
from standout.results import Ending, Identification, Interval, StopReason
from standout.results.interval import by_side


def side_interval(state: State, side: int) -> Interval:
    """A side's threshold, in the rewards' own orientation."""
    lower, upper = state.bounds[side, [THRESHOLD_LOWER, THRESHOLD_UPPER]].tolist()
    return Interval(-upper, -lower) if state.signs[side] < 0 else Interval(lower, upper)


def arm_ends(state: State) -> tuple[Floats, Floats]:
    """The ends of all arms' intervals, in the rewards' own orientation; copies."""
    lower, upper = state.lower[0].copy(), state.upper[0].copy()
    return (-upper, -lower) if state.signs[0] < 0 else (lower, upper)


def identification(
    state: State,
    arms: Sequence[str],
    guess: Any,
    reason: StopReason,
    *,
    known: Any = (),
    earlier: Any = 0,
    note: str | None = None,
) -> Identification:
    """The answer from a state; the means at positions `known` were given, not measured.

    `earlier` are each arm's rewards from before the run, which are part of its pulls in the state.
    """
    sign = state.signs[0]
    lower, upper = arm_ends(state)
    pulls_by_arm = state.pulls - earlier
    pulls_by_arm[list(known)] = 0

    def named(mask: Any) -> tuple[str, ...]:
        return tuple(arms[int(i)] for i in np.flatnonzero(mask))

    return Identification(
        outliers=named(state.verdict == Verdict.OUTLIER),
        normal=named(state.verdict == Verdict.NORMAL),
        undecided=named(state.verdict == Verdict.UNDECIDED),
        best_guess=named(guess),
        **by_side([side_interval(state, side) for side in range(len(state.signs))]),
        threshold_estimate=float(sign * state.bounds[0, THRESHOLD]),
        pulls=int(state.counters[PULLS]),
        rounds=int(state.counters[ROUNDS]),
        reason=reason,
        note=note,
        arms=tuple(arms),
        means=np.where(state.pulls > 0, sign * state.estimate[0], np.nan),
        lower=lower,
        upper=upper,
        pulls_by_arm=pulls_by_arm,
        earlier_by_arm=np.zeros_like(pulls_by_arm) + earlier,
        endings=(Ending(least, 0),) if 0 < (least := least_tolerance(state)) < math.inf else (),
    )
