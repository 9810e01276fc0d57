"""ROAILUCB as published: each round pulls up to ten arms per side at the boundaries."""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.rules.boundary import boundary_arms, threshold_arms
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The union of the boundary arms of median, MAD and theta (while they meet I_theta)."""
    count = 0
    for side in range(len(state.signs)):
        found = boundary_arms(state, side, rng)
        for j in range(len(found)):
            count = _add(state, count, found[j])
        pair = threshold_arms(spec, state, side, rng)
        for j in range(len(pair)):
            arm = pair[j]
            if (
                arm >= 0
                and state.lower[side, arm] <= state.bounds[side, THRESHOLD_UPPER]
                and state.upper[side, arm] >= state.bounds[side, THRESHOLD_LOWER]
            ):
                count = _add(state, count, arm)
    return count


@part()
def _add(state: State, count: int, arm: int) -> int:
    """Append `arm`, if it is one, to the chosen ones unless it is there; the new count."""
    if arm < 0:
        return count
    for j in range(count):
        if state.chosen[j] == arm:
            return count
    state.chosen[count] = arm
    return count + 1
