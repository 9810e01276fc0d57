"""ROAILUCB: as published, up to ten arms per side at the boundaries; as released, one of them."""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.kinds import IntervalKind
from standout.core.method import ZHU, Method
from standout.core.rules.base import rule
from standout.core.rules.boundary import boundary_arms, threshold_arms
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State


@rule()
def published(spec: Spec, state: State, rng: np.random.Generator) -> int:
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
    """Append `arm` to the chosen arms unless it is -1 or already there; the new count."""
    if arm < 0:
        return count
    for j in range(count):
        if state.chosen[j] == arm:
            return count
    state.chosen[count] = arm
    return count + 1


@rule()
def released(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """A random candidate, with probability proportional to its count in the multiset."""
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


METHODS = (
    Method(
        name="roai-lucb",
        rule=published,
        summary="pulls the arms at the boundaries of median, MAD and threshold, in rounds",
        reference=f"{ZHU}, Algorithm 3",
        can_subset=True,
    ),
    Method(
        name="roai-lucb-released",
        rule=released,
        interval=IntervalKind.RELEASED,
        summary="ROAILUCB as in the authors' code: one random candidate per step",
        reference=f"{ZHU}, released code",
        can_subset=True,
    ),
)
