"""ROAIElim as in the released code: one arm per step from sets without memory."""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.state import (
    MAD_LOWER,
    MAD_UPPER,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from standout.core.typing import Flags


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """An arm drawn uniformly from those that meet the median, the MAD or the threshold now."""
    wanted = state.is_wanted
    wanted[:] = False
    for side in range(len(state.signs)):
        _mark_active(state, side, wanted)
    count = 0
    for i in range(spec.n_arms):
        if wanted[i]:
            state.chosen[count] = i
            count += 1
    state.chosen[0] = state.chosen[int(rng.random() * count)]
    return 1


@part()
def _mark_active(state: State, side: int, wanted: Flags) -> None:
    bounds = state.bounds[side]
    lower = state.lower[side]
    upper = state.upper[side]
    for i in range(len(wanted)):
        if lower[i] <= bounds[THRESHOLD_UPPER] and upper[i] >= bounds[THRESHOLD_LOWER]:
            wanted[i] = True
    deviation_lower = state.deviation_lower[side]
    deviation_upper = state.deviation_upper[side]
    omega = state.omega
    for j in range(len(omega)):
        i = omega[j]
        at_median = lower[i] <= bounds[MEDIAN_UPPER] and upper[i] >= bounds[MEDIAN_LOWER]
        at_mad = deviation_lower[i] <= bounds[MAD_UPPER] and deviation_upper[i] >= bounds[MAD_LOWER]
        if at_median or at_mad:
            wanted[i] = True
