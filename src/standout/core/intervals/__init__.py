"""Intervals for one arm's mean, valid at all times with probability 1 - delta/n.

One file per family; `arm_interval` and `count_reward` pick by `IntervalKind`.
"""

from __future__ import annotations

import numpy as np

from standout.core.intervals import heavy
from standout.core.intervals.bernoulli import bernoulli_interval
from standout.core.intervals.bernstein import bernstein_radius, bernstein_step
from standout.core.intervals.heavy import heavy_interval, heavy_step
from standout.core.intervals.hoeffding import hoeffding_radius, released_radius, zhuang_radius
from standout.core.intervals.mixture import mixture_radius
from standout.core.intervals.student import student_radius, student_step
from standout.core.jit import kernel
from standout.core.kinds import IntervalKind
from standout.core.state import Spec, State
from standout.core.typing import Floats, Ints

_RELEASED = int(IntervalKind.RELEASED)
_ZHUANG = int(IntervalKind.ZHUANG)
_MIXTURE = int(IntervalKind.MIXTURE)
_BERNOULLI = int(IntervalKind.BERNOULLI)
_BERNSTEIN = int(IntervalKind.BERNSTEIN)
_STUDENT = int(IntervalKind.STUDENT)
_HEAVY = int(IntervalKind.HEAVY)

MOMENTS = {IntervalKind.BERNSTEIN: 1, IntervalKind.STUDENT: 1, IntervalKind.HEAVY: heavy.SIZE}
"""Numbers that a family keeps per arm besides pulls and sum."""


@kernel
def count_reward(
    spec: Spec,
    pulls: Ints,
    origin: Floats,
    sums: Floats,
    moments: Floats,
    arm: int,
    reward: float,
) -> None:
    """Add one reward to the arm's sums, which are relative to its origin.

    The origin is the arm's first reward, or 0 where rewards are 0 and 1. It takes the
    arrays that it changes rather than the whole state: this is the innermost loop, and
    handing on a tuple of thirty arrays costs more than the sums.
    """
    count = pulls[arm]
    total = sums[arm]
    if count == 0:
        origin[arm] = 0.0 if spec.lattice > 0.0 else reward
    off = reward - origin[arm]
    if spec.interval == _BERNSTEIN:
        scale = spec.high - spec.low
        moments[arm, 0] = bernstein_step(
            count,
            (total + count * (origin[arm] - spec.low)) / scale,
            moments[arm, 0],
            (reward - spec.low) / scale,
        )
    elif spec.interval == _STUDENT:
        moments[arm, 0] = student_step(count, total, moments[arm, 0], off)
    elif spec.interval == _HEAVY:
        heavy_step(moments, arm, count, total, off, spec.alpha, spec.sigma)
    pulls[arm] = count + 1
    sums[arm] = total + off


@kernel
def share_sum(spec: Spec, state: State, arm: int) -> float:
    """Sum of the arm's rewards, each scaled from [low, high] to [0, 1]."""
    above_low = state.sums[arm] + state.pulls[arm] * (state.origin[arm] - spec.low)
    # Rounding must not make more successes than pulls.
    return float(min(max(above_low / (spec.high - spec.low), 0.0), state.pulls[arm]))


@kernel
def reward_variance(spec: Spec, state: State, arm: int) -> float:
    """An estimate of the variance of one reward, for guesses only: no guarantee rests on it."""
    pulls = state.pulls[arm]
    kind = spec.interval
    if kind == _STUDENT:
        return float(state.moments[arm, 0] / max(1, pulls - 1))
    if kind == _HEAVY or not np.isfinite(spec.high - spec.low):
        return spec.sigma**2
    scale = spec.high - spec.low
    if kind == _BERNSTEIN:
        return float(scale**2 * (state.moments[arm, 0] + 0.25) / (pulls + 1.0))
    share = (share_sum(spec, state, arm) + 0.5) / (pulls + 1.0)
    return float(scale**2 * share * (1.0 - share))


@kernel
def arm_interval(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    """Ends of the interval of a pulled arm, in the rewards' own orientation."""
    pulls = state.pulls[arm]
    off = state.sums[arm] / pulls
    origin = state.origin[arm]
    kind = spec.interval
    if kind == _BERNOULLI:
        scale = spec.high - spec.low
        successes = share_sum(spec, state, arm)
        lower, upper = bernoulli_interval(pulls, successes, spec.alpha, spec.rho)
        return spec.low + scale * lower, spec.low + scale * upper
    if kind == _HEAVY:
        lower, upper = heavy_interval(pulls, off, state.moments, arm, spec.alpha, spec.sigma)
        return origin + lower, origin + upper
    if kind == _MIXTURE:
        radius = mixture_radius(pulls, spec.alpha, spec.sigma, spec.rho)
    elif kind == _BERNSTEIN:
        scale = spec.high - spec.low
        radius = scale * bernstein_radius(pulls, state.moments[arm, 0], spec.alpha)
    elif kind == _STUDENT:
        radius = student_radius(pulls, state.moments[arm, 0], spec.alpha, spec.rho)
    elif kind == _RELEASED:
        radius = released_radius(pulls, spec.n_arms, spec.delta, spec.sigma)
    elif kind == _ZHUANG:
        radius = zhuang_radius(pulls, spec.n_arms, spec.delta, spec.sigma)
    else:
        radius = hoeffding_radius(pulls, spec.n_arms, spec.delta, spec.sigma)
    lower = origin + (off - radius)
    upper = origin + (off + radius)
    if spec.clips:
        # A mean outside the range of the rewards is impossible.
        lower = min(max(lower, spec.low), spec.high)
        upper = max(min(upper, spec.high), spec.low)
    return lower, upper


__all__ = ["MOMENTS", "arm_interval", "count_reward", "reward_variance", "share_sum"]
