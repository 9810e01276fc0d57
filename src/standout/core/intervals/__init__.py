"""Intervals for one arm's mean, valid at all times with probability 1 - delta/n.

One file per family; `arm_interval` picks by `IntervalKind`.
"""

from __future__ import annotations

from standout.core.intervals.hoeffding import (
    hoeffding_radius,
    released_radius,
    zhuang_radius,
)
from standout.core.jit import kernel
from standout.core.kinds import IntervalKind
from standout.core.state import Spec, State

_RELEASED = int(IntervalKind.RELEASED)
_ZHUANG = int(IntervalKind.ZHUANG)


@kernel
def arm_interval(spec: Spec, state: State, arm: int) -> tuple[float, float]:
    """Ends of the interval of a pulled arm, in the rewards' own orientation."""
    pulls = state.pulls[arm]
    mean = state.sums[arm] / pulls
    if spec.interval == _RELEASED:
        radius = released_radius(pulls, spec.n_arms, spec.delta, spec.sigma)
    elif spec.interval == _ZHUANG:
        radius = zhuang_radius(pulls, spec.n_arms, spec.delta, spec.sigma)
    else:
        radius = hoeffding_radius(pulls, spec.n_arms, spec.delta, spec.sigma)
    return mean - radius, mean + radius


__all__ = ["arm_interval", "hoeffding_radius", "released_radius", "zhuang_radius"]
