"""Rules that pull all arms about equally: random, and the round robins of Zhuang et al. 2017."""

from __future__ import annotations

import numpy as np

from standout.core.kinds import IntervalKind, RangeKind, Verdict
from standout.core.method import ZHU, ZHUANG, Method
from standout.core.rules.base import rule
from standout.core.state import CURSOR, Spec, State
from standout.core.threshold.mean_std import quota_step

_UNDECIDED = int(Verdict.UNDECIDED)


@rule()
def random(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """One arm, drawn uniformly."""
    state.chosen[0] = int(rng.random() * spec.n_arms)
    return 1


@rule()
def round_robin(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The next arm in the cycle."""
    state.counters[CURSOR] = (state.counters[CURSOR] + 1) % spec.n_arms
    state.chosen[0] = state.counters[CURSOR]
    return 1


@rule()
def weighted_round_robin(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """Stay on an undecided arm below its quota, else visit the next arm."""
    arm = state.counters[CURSOR]
    if arm < 0 or state.verdict[arm] != _UNDECIDED or state.pulls[arm] >= state.quota[arm]:
        arm = (arm + 1) % spec.n_arms
        state.counters[CURSOR] = arm
        state.quota[arm] += quota_step(spec.n_arms, spec.k, spec.delta)
    state.chosen[0] = arm
    return 1


METHODS = (
    Method(
        name="random",
        rule=random,
        summary="uniform sampling with the same threshold and stopping rule; the baseline",
        reference=f"{ZHU}, § 7",
    ),
    Method(
        name="rr",
        rule=round_robin,
        interval=IntervalKind.ZHUANG,
        range=RangeKind.MEAN_STD,
        summary="round robin with the mean + k std threshold (not robust)",
        reference=ZHUANG,
        needs_bounded_rewards=True,
    ),
    Method(
        name="wrr",
        rule=weighted_round_robin,
        interval=IntervalKind.ZHUANG,
        range=RangeKind.MEAN_STD,
        summary="round robin, undecided arms up to rho times per visit; mean + k std",
        reference=ZHUANG,
        needs_bounded_rewards=True,
    ),
)
