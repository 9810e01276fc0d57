"""ROAIElim as published: each round pulls every arm that is not yet eliminated.

An arm leaves the median's, the MAD's or the threshold's set for good. The
threshold's set is the undecided arms (the method keeps decisions).
"""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.kinds import Verdict
from standout.core.state import MAD_LOWER, MAD_UPPER, MEDIAN_LOWER, MEDIAN_UPPER, Spec, State
from standout.core.typing import Flags

_UNDECIDED = int(Verdict.UNDECIDED)


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """A_med, A_MAD and A_theta, the first two intersected with their own past."""
    wanted = state.is_wanted
    for i in range(spec.n_arms):
        wanted[i] = state.verdict[i] == _UNDECIDED
    for side in range(len(state.signs)):
        _shrink(state, side, wanted)
    count = 0
    for i in range(spec.n_arms):
        if wanted[i]:
            state.chosen[count] = i
            count += 1
    return count


@part()
def _shrink(state: State, side: int, wanted: Flags) -> None:
    """Take out the arms whose interval lies apart from the median's (the MAD's); mark the rest."""
    bounds = state.bounds[side]
    lower = state.lower[side]
    upper = state.upper[side]
    deviation_lower = state.deviation_lower[side]
    deviation_upper = state.deviation_upper[side]
    at_median = state.active[side, 0]
    at_mad = state.active[side, 1]
    for i in range(len(wanted)):
        if lower[i] > bounds[MEDIAN_UPPER] or upper[i] < bounds[MEDIAN_LOWER]:
            at_median[i] = False
        if deviation_lower[i] > bounds[MAD_UPPER] or deviation_upper[i] < bounds[MAD_LOWER]:
            at_mad[i] = False
        if at_median[i] or at_mad[i]:
            wanted[i] = True
