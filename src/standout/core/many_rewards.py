"""Loops over many rewards, around the core's own steps."""

from __future__ import annotations

import numpy as np

from standout.core.compile import kernel
from standout.core.engine import begin_round, end_round, observe
from standout.core.intervals import arm_interval, count_reward
from standout.core.state import PULLS, UNDECIDED, Spec, State
from standout.core.typing import Floats, Ints


@kernel("interval")
def observe_many(spec: Spec, state: State, arms: Ints, rewards: Floats) -> None:
    """Count rewards in this order."""
    for j in range(len(arms)):
        observe(spec, state, arms[j], rewards[j])


@kernel("interval")
def interval_path(
    spec: Spec, state: State, rewards: Floats, at: Ints, lower: Floats, upper: Floats
) -> None:
    """Write the interval of arm 0 of `state` after each number of rewards in `at` (ascending).

    If the method intersects each interval with earlier ones, only the intervals at `at` are
    intersected, so they may be slightly wider than those of the stopping rule.
    """
    low, high = -np.inf, np.inf
    begin = 0
    for place in range(len(at)):
        for j in range(begin, at[place]):
            count_reward(spec, state, 0, rewards[j])
        begin = at[place]
        found_low, found_high = arm_interval(spec, state, 0)
        if spec.intersects and max(found_low, low) <= min(found_high, high):
            found_low, found_high = max(found_low, low), min(found_high, high)
        low, high = found_low, found_high
        lower[place] = low
        upper[place] = high


@kernel("rule", "interval")
def fast_forward(
    spec: Spec,
    state: State,
    pool: Floats,
    starts: Ints,
    sizes: Ints,
    shifts: Floats,
    limit: int,
    max_rounds: int,
    rng: np.random.Generator,
) -> None:
    """Continue with rewards drawn from each arm's pool, until decided or for `max_rounds` rounds.

    Arms get a tenth of their pulls at a time, because a rough number is needed quickly.
    """
    for _ in range(max_rounds):
        if state.counters[UNDECIDED] == 0 or state.counters[PULLS] >= limit:
            return
        count = begin_round(spec, state, limit, rng)
        if count == 0:
            return
        for j in range(count):
            arm = state.chosen[j]
            for _ in range(max(state.amount[j], state.pulls[arm] // 10)):
                reward = shifts[arm]
                if sizes[arm] > 0:
                    reward += pool[starts[arm] + int(rng.random() * sizes[arm])]
                observe(spec, state, arm, reward)
        end_round(spec, state)
