"""The loop body that simulations, live runs and single steps share.

    count = begin_round(spec, state, room, rng)   which arms, how often each
    observe(spec, state, arm, reward)             for every reward
    end_round(spec, state)                        intervals, threshold, verdicts
    state.counters[UNDECIDED] == 0                decided?

Impossible states are refused here and never lead to a verdict: a rule that names a missing arm
(IndexError), or an interval that is empty or not a number (ValueError).
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import dispatch, hot_part, inlined, kernel, part, shared_part
from standout.core.intervals import arm_interval, count_reward
from standout.core.joint.certificate import certify
from standout.core.joint.region import narrow
from standout.core.kinds import RangeKind, Verdict
from standout.core.order import replace_value, sort_ends
from standout.core.rules.base import rule_of
from standout.core.state import (
    GUESSED,
    PULLS,
    ROUNDS,
    SIZE,
    STAGE,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    TOUCHED,
    UNDECIDED,
    Spec,
    State,
)
from standout.core.threshold import update_threshold
from standout.core.threshold.best_guess import shrunken
from standout.core.threshold.doubt import guess_chances
from standout.core.threshold.drawn import note_drawn
from standout.core.threshold.growth import grow_sample
from standout.core.threshold.rounding import bounds_rounding
from standout.core.typing import Flags, Floats

_UNDECIDED = int(Verdict.UNDECIDED)
_NORMAL = int(Verdict.NORMAL)
_OUTLIER = int(Verdict.OUTLIER)
_Reading = tuple[Floats, Floats, Floats, float, float, float]
choose = dispatch(lambda spec: rule_of(spec.rule))
"""Write the arms to pull into `state.chosen` and return their number; of (spec, state, rng)."""


@part()
def _certify_no_more(spec: Spec, state: State) -> None:
    """Certify nothing: verdicts and the threshold come from the intervals alone."""


_certify_jointly = dispatch(
    lambda spec: certify if spec.range == RangeKind.JOINT else _certify_no_more
)
_narrow_jointly = dispatch(
    lambda spec: narrow if spec.range == RangeKind.JOINT else _certify_no_more
)


@part()
def _guess_no_chances(spec: Spec, state: State) -> None:
    """Compute no chances: the best guess uses the estimates."""


_guess_chances = dispatch(lambda spec: guess_chances if spec.learns else _guess_no_chances)
_FEW = 12
"""Up to this many changed intervals, moving single values is faster than sorting."""


@shared_part("rule", "interval")
def _choose_arms(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """What the rule chooses."""
    return int(choose(spec, state, rng))


@inlined("rule", "interval")
def begin_round(spec: Spec, state: State, room: int, rng: np.random.Generator) -> int:
    """Fill `state.chosen[:count]` and `state.amount[:count]`; at most `room` pulls in all.

    For every rule, the first round brings each arm to the initial number of pulls. An empty
    round means that there is no room for a pull, or that no arm can be pulled: all undecided
    arms depend on known means.
    """
    count = 0
    if state.counters[ROUNDS] == 0:
        for i in range(spec.n_arms):
            if state.pulls[i] < spec.initial:
                state.chosen[count] = i
                state.amount[count] = spec.initial - state.pulls[i]
                count += 1
    if count == 0:
        count = _choose_arms(spec, state, rng)
        for j in range(count):
            if not 0 <= state.chosen[j] < spec.n_arms:
                raise IndexError("a rule chose an arm that does not exist")
            # Rewards from before the run must not lengthen rounds.
            pulls = min(state.pulls[state.chosen[j]], state.counters[PULLS])
            grown = int(spec.growth * pulls)
            state.amount[j] = max(spec.batch, grown)
    for j in range(count):
        if state.amount[j] >= room:
            state.amount[j] = room
            count = j + 1 if room > 0 else j
            break
        room -= state.amount[j]
    return count


@part()
def _note_nothing(spec: Spec, state: State, arm: int, reward: float) -> None:
    """The threshold comes from the arms' intervals."""


note_reward = dispatch(lambda spec: note_drawn if spec.range == RangeKind.DRAWN else _note_nothing)
"""Count a reward of (spec, state, arm, reward) for the threshold, where arms are drawn for it."""


@kernel("interval")
def observe(spec: Spec, state: State, arm: int, reward: float) -> None:
    """Count one reward of `arm`."""
    note_reward(spec, state, arm, reward)
    count_reward(spec, state, arm, reward)
    touch(state, arm, 1)


@inlined()
def touch(state: State, arm: int, rewards: int) -> None:
    """Record that an arm has `rewards` more rewards and needs a new interval."""
    state.counters[PULLS] += rewards
    if not state.is_touched[arm]:
        state.is_touched[arm] = True
        state.touched[state.counters[TOUCHED]] = arm
        state.counters[TOUCHED] += 1


@inlined("interval")
def end_round(spec: Spec, state: State) -> None:
    """Update intervals, threshold and verdicts after the rewards of a round."""
    _refresh(spec, state)
    state.counters[ROUNDS] += 1


@inlined("interval")
def refresh(spec: Spec, state: State) -> None:
    """Update intervals, threshold and verdicts."""
    _refresh(spec, state)


@inlined()
def judge(spec: Spec, state: State) -> None:
    """Certify arms against the current interval of the threshold."""
    _update_verdicts(spec, state)


@shared_part("interval")
def _refresh(spec: Spec, state: State) -> None:
    few = state.counters[TOUCHED] <= _FEW
    while state.counters[TOUCHED] > 0:
        # An arm leaves the list when its interval is stored; a refused one stays.
        arm = state.touched[state.counters[TOUCHED] - 1]
        lower, upper = arm_interval(spec, state, arm)
        for side in range(len(state.signs)):
            _set_interval(spec, state, side, arm, lower, upper, spec.sorts and few)
        state.is_touched[arm] = False
        state.counters[TOUCHED] -= 1
    _update_thresholds(spec, state, spec.sorts and not few)
    _narrow_jointly(spec, state)
    _update_verdicts(spec, state)
    if state.counters[UNDECIDED] > 0:
        _certify_jointly(spec, state)
    if grow_sample(spec, state):
        _update_thresholds(spec, state, spec.sorts)


@inlined("interval")
def _update_thresholds(spec: Spec, state: State, sort: bool) -> None:
    """Update each side's threshold, with sorted ends if needed."""
    for side in range(len(state.signs)):
        if sort:
            sort_ends(state, side)
        update_threshold(spec, state, side)


@hot_part()
def _set_interval(
    spec: Spec, state: State, side: int, arm: int, lower: float, upper: float, keep_sorted: bool
) -> None:
    """Store an arm's interval, oriented so that the side's outliers are high."""
    if not (lower <= upper and lower < np.inf and upper > -np.inf):
        raise ValueError("an arm's interval is empty or not a number")
    sign = state.signs[side]
    if sign < 0:
        lower, upper = -upper, -lower
    old_lower = state.lower[side, arm]
    old_upper = state.upper[side, arm]
    if spec.intersects:
        joint_lower = max(lower, old_lower)
        joint_upper = min(upper, old_upper)
        # An empty intersection means that an interval has failed; the guarantee is void
        # for this run, so continue with the newest interval alone.
        if joint_lower <= joint_upper:
            lower, upper = joint_lower, joint_upper
    state.lower[side, arm] = lower
    state.upper[side, arm] = upper
    if keep_sorted and state.stage[arm] <= state.sampled[STAGE]:
        count = state.sampled[SIZE]
        replace_value(state.sorted_lower[side][:count], old_lower, lower)
        replace_value(state.sorted_upper[side][:count], old_upper, upper)
    mean = state.origin[arm] + state.sums[arm] / state.pulls[arm]
    state.estimate[side, arm] = sign * mean


@hot_part()
def _update_verdicts(spec: Spec, state: State) -> None:
    """Certify each arm whose interval is disjoint from the threshold's on every side.

    An arm exactly on the threshold, up to rounding, does not stand out, so an interval may touch
    the threshold's from below. With a tolerance they may overlap by that much: for an arm so near
    the threshold either verdict is right, and its estimate decides.
    """
    # The loop has no branches and reads constants before it, so that the compiler can use
    # vector instructions. A single side is both the first and the last.
    first = _reading(spec, state, 0)
    last = _reading(spec, state, len(state.signs) - 1)
    verdict = state.verdict
    keeps = spec.keeps_decisions
    undecided = 0
    for arm in range(spec.n_arms):
        one = _side_verdict(first, arm)
        other = _side_verdict(last, arm)
        now = _OUTLIER if max(one, other) == _OUTLIER else min(one, other)
        before = verdict[arm]
        now = before if keeps & (before != _UNDECIDED) else now
        verdict[arm] = now
        undecided += now == _UNDECIDED
    state.counters[UNDECIDED] = undecided


@inlined()
def _reading(spec: Spec, state: State, side: int) -> _Reading:
    """What a side's verdicts depend on."""
    bounds = state.bounds[side]
    slip = bounds_rounding(bounds, state.factors[side])
    return (
        state.lower[side],
        state.upper[side],
        state.estimate[side],
        bounds[THRESHOLD_LOWER] + spec.tolerance + slip,
        bounds[THRESHOLD_UPPER] - spec.tolerance + slip,
        bounds[THRESHOLD],
    )


@hot_part()
def _side_verdict(reading: _Reading, arm: int) -> int:
    """The verdict on an arm from one side."""
    lower, upper, estimate, bottom, top, middle = reading
    below = upper[arm] <= bottom
    above = (lower[arm] > top) & ((estimate[arm] > middle) | (not below))
    return _OUTLIER if above else (_NORMAL if below else _UNDECIDED)


@kernel("interval", "learns")
def best_guess(spec: Spec, state: State, guess: Flags) -> None:
    """The answer if it had to be given now: verdicts, and estimates for undecided arms.

    It changes nothing that a rule or a verdict depends on.
    """
    _guess_chances(spec, state)
    for arm in range(spec.n_arms):
        if spec.keeps_decisions and state.verdict[arm] != _UNDECIDED:
            guess[arm] = state.verdict[arm] == _OUTLIER
            continue
        if spec.learns:
            guess[arm] = state.chance[GUESSED, arm] > 0.5
            continue
        guess[arm] = False
        for side in range(len(state.signs)):
            estimate = state.estimate[side, arm]
            if spec.refines:
                estimate = shrunken(state, side, arm)
            if estimate > state.bounds[side, THRESHOLD]:
                guess[arm] = True
    if spec.learns:
        # Restore the state, because a study's state must depend on its events alone.
        state.chance[GUESSED] = 0.0
        for side in range(len(state.signs)):
            state.learnt[2 * side + 1] = 0.0
