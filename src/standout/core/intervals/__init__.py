"""Intervals for one arm's mean, valid at all times with probability 1 - delta/n.

One file per family; `arm_interval` and `count_reward` use the family of the spec.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import dispatch, part
from standout.core.intervals import betting, heavy
from standout.core.intervals.bernoulli import bernoulli_interval
from standout.core.intervals.bernstein import bernstein_radius, bernstein_step
from standout.core.intervals.betting import betting_interval, betting_step
from standout.core.intervals.heavy import heavy_interval, heavy_step
from standout.core.intervals.hoeffding import hoeffding_radius, released_radius, zhuang_radius
from standout.core.intervals.mixture import mixture_radius
from standout.core.intervals.student import student_radius, student_step
from standout.core.kinds import IntervalKind
from standout.core.state import Spec, State

MOMENTS = {
    IntervalKind.BERNSTEIN: 1,
    IntervalKind.STUDENT: 1,
    IntervalKind.HEAVY: heavy.SIZE,
    IntervalKind.BETTING: betting.SIZE,
}
"""Numbers that a family stores per arm, in addition to pulls and sum."""


@part("interval")
def count_reward(spec: Spec, state: State, arm: int, reward: float) -> None:
    """Add one reward to the arm's sums, which are relative to its origin.

    The origin is the arm's first reward, or 0 where rewards are 0 and 1.
    """
    if state.pulls[arm] == 0:
        state.origin[arm] = 0.0 if spec.lattice > 0.0 else reward
    _count_moments(spec, state, arm, reward)
    state.pulls[arm] += 1
    state.sums[arm] += reward - state.origin[arm]


@part()
def _count_nothing(spec: Spec, state: State, arm: int, reward: float) -> None:
    """Most families need only pulls and sum."""


@part()
def _count_bernstein(spec: Spec, state: State, arm: int, reward: float) -> None:
    scale = spec.high - spec.low
    count = state.pulls[arm]
    state.moments[arm, 0] = bernstein_step(
        count,
        (state.sums[arm] + count * (state.origin[arm] - spec.low)) / scale,
        state.moments[arm, 0],
        (reward - spec.low) / scale,
    )


@part()
def _count_betting(spec: Spec, state: State, arm: int, reward: float) -> None:
    share = (reward - spec.low) / (spec.high - spec.low)
    betting_step(
        state.moments,
        arm,
        state.pulls[arm],
        share_sum(spec, state, arm),
        min(max(share, 0.0), 1.0),
    )


@part()
def _count_student(spec: Spec, state: State, arm: int, reward: float) -> None:
    state.moments[arm, 0] = student_step(
        state.pulls[arm], state.sums[arm], state.moments[arm, 0], reward - state.origin[arm]
    )


@part()
def _count_heavy(spec: Spec, state: State, arm: int, reward: float) -> None:
    off = reward - state.origin[arm]
    heavy_step(state.moments, arm, state.pulls[arm], state.sums[arm], off, spec.alpha, spec.sigma)


_COUNTS = {
    IntervalKind.BERNSTEIN: _count_bernstein,
    IntervalKind.STUDENT: _count_student,
    IntervalKind.HEAVY: _count_heavy,
    IntervalKind.BETTING: _count_betting,
}
_count_moments = dispatch(lambda spec: _COUNTS.get(spec.interval, _count_nothing))


@part()
def share_sum(spec: Spec, state: State, arm: int) -> float:
    """Sum of the arm's rewards, each scaled from [low, high] to [0, 1]."""
    above_low = state.sums[arm] + state.pulls[arm] * (state.origin[arm] - spec.low)
    # Rounding must not give more successes than pulls.
    return float(min(max(above_low / (spec.high - spec.low), 0.0), state.pulls[arm]))


@part()
def _variance_of_shares(spec: Spec, state: State, arm: int) -> float:
    if not np.isfinite(spec.high - spec.low):
        return spec.sigma**2
    share = (share_sum(spec, state, arm) + 0.5) / (state.pulls[arm] + 1.0)
    return float((spec.high - spec.low) ** 2 * share * (1.0 - share))


@part()
def _known_variance(spec: Spec, state: State, arm: int) -> float:
    return spec.sigma**2


@part()
def _student_variance(spec: Spec, state: State, arm: int) -> float:
    return float(state.moments[arm, 0] / max(1, state.pulls[arm] - 1))


@part()
def _bernstein_variance(spec: Spec, state: State, arm: int) -> float:
    scale = spec.high - spec.low
    return float(scale**2 * (state.moments[arm, 0] + 0.25) / (state.pulls[arm] + 1.0))


_VARIANCES = {
    IntervalKind.BERNSTEIN: _bernstein_variance,
    IntervalKind.STUDENT: _student_variance,
    IntervalKind.HEAVY: _known_variance,
    IntervalKind.BETTING: _bernstein_variance,
}
reward_variance = dispatch(lambda spec: _VARIANCES.get(spec.interval, _variance_of_shares))
"""An estimate of the variance of one reward of (spec, state, arm), for guesses only."""


@part()
def _around_mean(spec: Spec, state: State, arm: int, radius: float) -> tuple[float, float]:
    """The interval of this half-width around the arm's mean."""
    off = state.sums[arm] / state.pulls[arm]
    lower = state.origin[arm] + (off - radius)
    upper = state.origin[arm] + (off + radius)
    # The paper's intervals are not clipped. Ours are, because a mean outside the range of the
    # rewards is impossible.
    if spec.refines:
        lower = min(max(lower, spec.low), spec.high)
        upper = max(min(upper, spec.high), spec.low)
    return lower, upper


@part()
def _hoeffding(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    radius = hoeffding_radius(state.pulls[arm], spec.n_arms, spec.delta, spec.sigma)
    return _around_mean(spec, state, arm, radius)


@part()
def _released(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    radius = released_radius(state.pulls[arm], spec.n_arms, spec.delta, spec.sigma)
    return _around_mean(spec, state, arm, radius)


@part()
def _zhuang(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    radius = zhuang_radius(state.pulls[arm], spec.n_arms, spec.delta, spec.sigma)
    return _around_mean(spec, state, arm, radius)


@part()
def _mixture(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    radius = mixture_radius(state.pulls[arm], spec.alpha, spec.sigma, spec.rho, spec.scales)
    return _around_mean(spec, state, arm, radius)


@part()
def _bernstein(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    radius = bernstein_radius(state.pulls[arm], state.moments[arm, 0], spec.alpha)
    return _around_mean(spec, state, arm, (spec.high - spec.low) * radius)


@part()
def _betting(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    scale = spec.high - spec.low
    total = share_sum(spec, state, arm)
    lower, upper = betting_interval(state.pulls[arm], total, state.moments, arm, spec.alpha)
    return spec.low + scale * lower, spec.low + scale * upper


@part()
def _student(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    radius = student_radius(
        state.pulls[arm], state.moments[arm, 0], spec.alpha, spec.rho, spec.scales
    )
    return _around_mean(spec, state, arm, radius)


@part()
def _bernoulli(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    scale = spec.high - spec.low
    successes = share_sum(spec, state, arm)
    lower, upper = bernoulli_interval(
        state.pulls[arm], successes, spec.alpha, spec.rho, spec.scales
    )
    return spec.low + scale * lower, spec.low + scale * upper


@part()
def _heavy(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    pulls = state.pulls[arm]
    off = state.sums[arm] / pulls
    lower, upper = heavy_interval(pulls, off, state.moments, arm, spec.alpha, spec.sigma)
    return state.origin[arm] + lower, state.origin[arm] + upper


_INTERVALS = {
    IntervalKind.HOEFFDING: _hoeffding,
    IntervalKind.RELEASED: _released,
    IntervalKind.ZHUANG: _zhuang,
    IntervalKind.MIXTURE: _mixture,
    IntervalKind.BERNOULLI: _bernoulli,
    IntervalKind.BERNSTEIN: _bernstein,
    IntervalKind.STUDENT: _student,
    IntervalKind.HEAVY: _heavy,
    IntervalKind.BETTING: _betting,
}
arm_interval = dispatch(lambda spec: _INTERVALS[spec.interval])
"""Ends of the interval of a pulled arm of (spec, state, arm), in the rewards' own orientation."""


__all__ = ["MOMENTS", "arm_interval", "count_reward", "reward_variance", "share_sum"]
