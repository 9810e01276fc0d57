"""WRR (Zhuang et al. 2017): the arms in turn, undecided ones several times per visit."""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.kinds import Verdict
from standout.core.mean_std import quota_step
from standout.core.state import CURSOR, Spec, State

_UNDECIDED = int(Verdict.UNDECIDED)


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """Stay on an undecided arm below its quota, else visit the next arm."""
    arm = state.counters[CURSOR]
    if arm < 0 or state.verdict[arm] != _UNDECIDED or state.pulls[arm] >= state.quota[arm]:
        arm = (arm + 1) % spec.n_arms
        state.counters[CURSOR] = arm
        state.quota[arm] += quota_step(spec.n_arms, spec.k, spec.delta)
    state.chosen[0] = arm
    return 1
