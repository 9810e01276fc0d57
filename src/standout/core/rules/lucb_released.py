"""ROAILUCB as in the released code: one arm per step, drawn from the candidate multiset."""

from __future__ import annotations

import numpy as np

from standout.core.jit import part
from standout.core.rules.boundary import boundary_arms, threshold_arms
from standout.core.state import Spec, State


@part()
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """One of the candidates, each as likely as often as it stands in the multiset."""
    candidates = state.candidates
    count = 0
    for side in range(len(state.signs)):
        found = boundary_arms(state, side, rng)
        for j in range(len(found)):
            if found[j] >= 0:
                candidates[count] = found[j]
                count += 1
        pair = threshold_arms(spec, state, side, rng)
        for j in range(len(pair)):
            if pair[j] >= 0:
                candidates[count] = pair[j]
                count += 1
    state.chosen[0] = candidates[int(rng.random() * count)]
    return 1
