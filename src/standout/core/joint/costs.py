"""The cost of an arm at a point: the logarithm of its factor of the joint bet, in nats."""

from __future__ import annotations

import math

from standout.core.compile import dispatch, part
from standout.core.intervals import reward_variance, share_sum
from standout.core.intervals.bernoulli import bernoulli_centre, bernoulli_evidence
from standout.core.intervals.betting import betting_evidence
from standout.core.intervals.heavy import heavy_centre
from standout.core.intervals.mixture import mixture_evidence
from standout.core.joint.heavy_tails import heavy_evidence
from standout.core.joint.unknown_scale import unknown_scale_evidence
from standout.core.kinds import IntervalKind
from standout.core.state import SCALE, Spec, State

MOST = 1e6
"""The largest cost, also that of an impossible mean."""
_LARGE = 30.0
_ROUNDING = 1e-5
"""The rounding error of the minimal cost."""

# Rows of State.joint: the minimal cost of an arm and its place, in a side's orientation.
LEAST, CENTRE = 11, 12
# The same in the rewards' own orientation, a place far below and one far above with the cost
# there, and the pulls and sums for which they were found.
FOUND, FOUND_LEAST, LEFT, LEFT_COST, RIGHT, RIGHT_COST = 13, 14, 18, 19, 20, 21
SEEN, SEEN_SUM, SEEN_MOMENT = 22, 23, 24
_BETTING = int(IntervalKind.BETTING)
_ENOUGH = 40.0
"""Nats above the cost that refutes a mean by itself; beyond them the exact cost is irrelevant."""

_SCALES = (1.0, 10.0, 0.1, 0.01, 0.001)
"""The bet is an average over bets with these multiples of the usual rho."""
FIRST_PART = 0.8
"""The weight of the first; the others share the rest equally."""


@part("interval")
def count_scales(spec: Spec) -> int:
    """The number of bets in the average; 1 for bets without a rho and for very many arms."""
    return 1 if spec.interval == _BETTING or not spec.flips else len(_SCALES)


@part("interval")
def log_part(spec: Spec, state: State) -> float:
    """Logarithm of the weight of the scale in use."""
    if count_scales(spec) == 1:
        return 0.0
    part = (1.0 - FIRST_PART) / (len(_SCALES) - 1)
    return math.log(FIRST_PART if state.alternatives[0, SCALE] == 0.0 else part)


@part()
def scaled_rho(spec: Spec, state: State) -> float:
    """The rho of all arms' bets at the scale in use."""
    return float(spec.joint_rho * _SCALES[int(state.alternatives[0, SCALE])])


@part()
def use_scale(state: State, scale: int) -> None:
    """Switch to another scale; `find_least` is needed then."""
    state.alternatives[0, SCALE] = scale
    for a in range(state.joint.shape[1]):
        state.joint[SEEN, a] = -1.0


@part()
def _mixture(spec: Spec, state: State, arm: int, mean: float) -> float:
    off = state.origin[arm] + state.sums[arm] / state.pulls[arm] - mean
    return mixture_evidence(state.pulls[arm], abs(off), spec.sigma, scaled_rho(spec, state), 1)


@part()
def _bernoulli(spec: Spec, state: State, arm: int, mean: float) -> float:
    share = (mean - spec.low) / (spec.high - spec.low)
    successes = share_sum(spec, state, arm)
    return bernoulli_evidence(state.pulls[arm], successes, share, scaled_rho(spec, state), 1)


@part()
def _betting(spec: Spec, state: State, arm: int, mean: float) -> float:
    share = (mean - spec.low) / (spec.high - spec.low)
    total = share_sum(spec, state, arm)
    return betting_evidence(state.pulls[arm], total, state.moments, arm, share)


@part()
def _unknown_scale(spec: Spec, state: State, arm: int, mean: float) -> float:
    off = state.origin[arm] + state.sums[arm] / state.pulls[arm] - mean
    squares = state.moments[arm, 0]
    return unknown_scale_evidence(state.pulls[arm], squares, off, scaled_rho(spec, state))


@part()
def _at_mean(spec: Spec, state: State, arm: int) -> float:
    return float(state.origin[arm] + state.sums[arm] / state.pulls[arm])


@part()
def _robust_mean(spec: Spec, state: State, arm: int) -> float:
    pulls = state.pulls[arm]
    if pulls < 2:
        return _at_mean(spec, state, arm)
    off = heavy_centre(pulls - 1, state.moments, arm, spec.alpha, spec.sigma)
    return float(state.origin[arm] + off)


@part()
def _heavy_tails(spec: Spec, state: State, arm: int, mean: float) -> float:
    off = mean - state.origin[arm]
    guess = state.joint[FOUND, arm]
    value = math.inf
    for sign in (1.0, -1.0):
        if sign * mean <= sign * guess:
            bet = heavy_evidence(
                state.pulls[arm], sign, off, state.moments, arm, spec.alpha, spec.sigma,
                scaled_rho(spec, state),
            )  # fmt: skip
            value = min(value, bet)
    return value


EVIDENCE = {
    IntervalKind.MIXTURE: _mixture,
    IntervalKind.BERNOULLI: _bernoulli,
    IntervalKind.BETTING: _betting,
    IntervalKind.STUDENT: _unknown_scale,
    IntervalKind.HEAVY: _heavy_tails,
}
"""The evidence of each kind of interval in the joint bet, for any mean. At the true mean it is a
supermartingale given all rewards of all arms, or a lower bound of one.

For student and heavy it differs from the interval's bet, see `standout.core.joint.unknown_scale`
and `standout.core.joint.heavy_tails`.
"""
_evidence = dispatch(lambda spec: EVIDENCE[spec.interval])
"""log M of (spec, state, arm, mean), or a lower bound; it grows away from its minimum."""


@part()
def _near_mean(spec: Spec, state: State, arm: int) -> float:
    successes = share_sum(spec, state, arm)
    share = bernoulli_centre(state.pulls[arm], successes, scaled_rho(spec, state), 1)
    return float(spec.low + (spec.high - spec.low) * share)


_CENTRES = {IntervalKind.BERNOULLI: _near_mean, IntervalKind.HEAVY: _robust_mean}
_centre = dispatch(lambda spec: _CENTRES.get(spec.interval, _at_mean))
"""The mean that minimises the evidence of (spec, state, arm)."""


@part()
def _far_enough(spec: Spec) -> float:
    """The cost (nats) that refutes a place even if the bets of all other arms lost everything."""
    return _ENOUGH + math.log(1.0 / spec.joint_delta) - spec.n_arms * math.log1p(-spec.share)


@part("interval")
def cost_at(spec: Spec, state: State, side: int, arm: int, place: float) -> float:
    """log(1 - q + q M) of an arm at a place in the side's orientation, cut at `_far_enough`.

    Call `find_least` first.
    """
    if state.pulls[arm] == 0:
        return 0.0
    if state.costs[arm] == math.inf:  # Its mean is known.
        return 0.0 if place == state.estimate[side, arm] else MOST
    mean = state.signs[side] * place
    if mean < state.joint[LEFT, arm]:
        return float(state.joint[LEFT_COST, arm])
    if mean > state.joint[RIGHT, arm]:
        return float(state.joint[RIGHT_COST, arm])
    return _cost(spec, state, arm, mean)


@part("interval")
def _cost(spec: Spec, state: State, arm: int, mean: float) -> float:
    evidence: float = _evidence(spec, state, arm, mean)
    if not evidence > -math.inf:  # No evidence, or NaN: no mean is refuted.
        return math.log1p(-spec.share)
    if evidence > _LARGE:
        return min(MOST, math.log(spec.share) + evidence)
    return math.log1p(spec.share * math.expm1(evidence))


@part("interval")
def find_least(spec: Spec, state: State, side: int) -> None:
    """Write each arm's minimal cost and its place into rows LEAST and CENTRE."""
    rows = state.joint
    for a in range(spec.n_arms):
        if state.pulls[a] == 0 or state.costs[a] == math.inf:
            rows[CENTRE, a] = state.estimate[side, a]
            rows[LEAST, a] = 0.0
            continue
        moment = state.moments[a, 0] if state.moments.shape[1] > 0 else 0.0
        if (
            rows[SEEN, a] != state.pulls[a]
            or rows[SEEN_SUM, a] != state.sums[a]
            or rows[SEEN_MOMENT, a] != moment
        ):
            rows[SEEN, a] = state.pulls[a]
            rows[SEEN_SUM, a] = state.sums[a]
            rows[SEEN_MOMENT, a] = moment
            _find_places(spec, state, a)
        rows[CENTRE, a] = state.signs[side] * rows[FOUND, a]
        rows[LEAST, a] = rows[FOUND_LEAST, a]
        if not (math.isfinite(state.estimate[side, a]) and math.isfinite(rows[LEAST, a])):
            raise ValueError("an arm's mean or its evidence is not a number")


@part("interval")
def _find_places(spec: Spec, state: State, arm: int) -> None:
    """Find the place of an arm's minimal cost, and one place on each side with a very large cost.

    The cost grows with the distance from its minimum, so beyond a place it is at least the cost of
    that place.
    """
    rows = state.joint
    centre = _centre(spec, state, arm)
    rows[FOUND, arm] = centre
    rows[FOUND_LEAST, arm] = _cost(spec, state, arm, centre) - _ROUNDING
    enough = _far_enough(spec)
    away = math.sqrt(3.0 * enough * reward_variance(spec, state, arm) / state.pulls[arm])
    rows[LEFT, arm] = -math.inf
    rows[RIGHT, arm] = math.inf
    left = centre - away
    if left > spec.low:
        rows[LEFT_COST, arm] = _cost(spec, state, arm, left)
        if rows[LEFT_COST, arm] >= enough:
            rows[LEFT, arm] = left
    right = centre + away
    if right < spec.high:
        rows[RIGHT_COST, arm] = _cost(spec, state, arm, right)
        if rows[RIGHT_COST, arm] >= enough:
            rows[RIGHT, arm] = right


@part("interval")
def falling(spec: Spec, state: State, side: int, arm: int, place: float) -> float:
    """The minimal cost of a mean at `place` or below."""
    least = float(state.joint[LEAST, arm])
    if place >= state.joint[CENTRE, arm]:
        return least
    return max(least, cost_at(spec, state, side, arm, place))


@part("interval")
def rising(spec: Spec, state: State, side: int, arm: int, place: float) -> float:
    """The minimal cost of a mean at `place` or above."""
    least = float(state.joint[LEAST, arm])
    if place <= state.joint[CENTRE, arm]:
        return least
    return max(least, cost_at(spec, state, side, arm, place))
