"""The loop body that simulations, live runs and hand-stepping share.

count = begin_round(spec, state, room, rng)   which arms, how often each
observe(spec, state, arm, reward)             for every reward
end_round(spec, state)                        intervals, threshold, verdicts
state.counters[UNDECIDED] == 0                decided?
"""

from __future__ import annotations

import numpy as np

from standout.core.intervals import arm_interval
from standout.core.jit import kernel
from standout.core.kinds import Verdict
from standout.core.rules import choose
from standout.core.state import (
    PULLS,
    ROUNDS,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    TOUCHED,
    UNDECIDED,
    Spec,
    State,
)
from standout.core.threshold import update_threshold
from standout.core.typing import Flags

_UNDECIDED = int(Verdict.UNDECIDED)
_NORMAL = int(Verdict.NORMAL)
_OUTLIER = int(Verdict.OUTLIER)


@kernel
def begin_round(spec: Spec, state: State, room: int, rng: np.random.Generator) -> int:
    """Fill `state.chosen[:count]` and `state.amount[:count]`; at most `room` pulls in all.

    The first round pulls every arm that has no reward yet once, whatever the rule.
    """
    count = 0
    if state.counters[ROUNDS] == 0:
        for i in range(spec.n_arms):
            if state.pulls[i] == 0:
                state.chosen[count] = i
                state.amount[count] = 1
                count += 1
    if count == 0:
        count = choose(spec, state, rng)
        for j in range(count):
            grown = int(spec.growth * state.pulls[state.chosen[j]])
            state.amount[j] = max(spec.batch, grown)
    for j in range(count):
        if state.amount[j] >= room:
            state.amount[j] = room
            count = j + 1 if room > 0 else j
            break
        room -= state.amount[j]
    return count


@kernel
def observe(spec: Spec, state: State, arm: int, reward: float) -> None:
    """Count one reward of `arm`."""
    state.pulls[arm] += 1
    state.sums[arm] += reward
    state.counters[PULLS] += 1
    if not state.is_touched[arm]:
        state.is_touched[arm] = True
        state.touched[state.counters[TOUCHED]] = arm
        state.counters[TOUCHED] += 1


@kernel
def end_round(spec: Spec, state: State) -> None:
    """Bring intervals, threshold and verdicts up to date with the rewards."""
    for j in range(state.counters[TOUCHED]):
        arm = state.touched[j]
        state.is_touched[arm] = False
        lower, upper = arm_interval(spec, state, arm)
        for side in range(len(state.signs)):
            _set_interval(spec, state, side, arm, lower, upper)
    state.counters[TOUCHED] = 0
    for side in range(len(state.signs)):
        update_threshold(spec, state, side)
    _update_verdicts(spec, state)
    state.counters[ROUNDS] += 1


@kernel
def _set_interval(
    spec: Spec, state: State, side: int, arm: int, lower: float, upper: float
) -> None:
    """Store an arm's interval, oriented so that the side's outliers are high."""
    sign = state.signs[side]
    if sign < 0:
        lower, upper = -upper, -lower
    if spec.intersects:
        joint_lower = max(lower, state.lower[side, arm])
        joint_upper = min(upper, state.upper[side, arm])
        # An empty intersection means that some interval has failed already; the
        # guarantee is void for this run, so go on from the newest interval alone.
        if joint_lower <= joint_upper:
            lower, upper = joint_lower, joint_upper
    state.lower[side, arm] = lower
    state.upper[side, arm] = upper
    state.estimate[side, arm] = sign * state.sums[arm] / state.pulls[arm]


@kernel
def _update_verdicts(spec: Spec, state: State) -> None:
    """Certify each arm whose interval lies apart from the threshold's on every side."""
    verdict = state.verdict
    lower = state.lower
    upper = state.upper
    sides = len(state.signs)
    undecided = 0
    for arm in range(spec.n_arms):
        if spec.keeps_decisions and verdict[arm] != _UNDECIDED:
            continue
        below = 0
        above = False
        for side in range(sides):
            if lower[side, arm] > state.bounds[side, THRESHOLD_UPPER]:
                above = True
            elif upper[side, arm] < state.bounds[side, THRESHOLD_LOWER]:
                below += 1
        if above:
            verdict[arm] = _OUTLIER
        elif below == sides:
            verdict[arm] = _NORMAL
        else:
            verdict[arm] = _UNDECIDED
            undecided += 1
    state.counters[UNDECIDED] = undecided


@kernel
def best_guess(spec: Spec, state: State, guess: Flags) -> None:
    """The answer if one had to be given now: certified arms as such, others by estimate."""
    for arm in range(spec.n_arms):
        if spec.keeps_decisions and state.verdict[arm] != _UNDECIDED:
            guess[arm] = state.verdict[arm] == _OUTLIER
            continue
        guess[arm] = False
        for side in range(len(state.signs)):
            if state.estimate[side, arm] > state.bounds[side, THRESHOLD]:
                guess[arm] = True
