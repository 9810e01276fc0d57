"""RR (Zhuang et al. 2017): the arms in turn."""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.state import CURSOR, Spec, State


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The next arm in the cycle."""
    state.counters[CURSOR] = (state.counters[CURSOR] + 1) % spec.n_arms
    state.chosen[0] = state.counters[CURSOR]
    return 1
