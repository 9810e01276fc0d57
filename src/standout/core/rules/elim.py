"""ROAIElim: arms that no longer affect the median, the MAD or a verdict are not pulled again.

As published, each round pulls all arms of three sets: those of the median, of the MAD and of the
threshold. An arm leaves a set for good. The threshold's set is the undecided arms (the method keeps
decisions). As released, each step pulls one arm, and the sets have no memory.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.kinds import IntervalKind, Verdict
from standout.core.method import ZHU, Method
from standout.core.rules.base import rule
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

_UNDECIDED = int(Verdict.UNDECIDED)


@rule()
def published(spec: Spec, state: State, rng: np.random.Generator) -> int:
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
    """Remove arms whose interval does not meet the median's (the MAD's); mark the others."""
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


@rule()
def released(spec: Spec, state: State, rng: np.random.Generator) -> int:
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


METHODS = (
    Method(
        name="roai-elim",
        rule=published,
        summary="pulls every arm until median, MAD and threshold no longer need it",
        reference=f"{ZHU}, Algorithm 2",
        keeps_decisions=True,
        intersects=True,
        can_subset=True,
    ),
    Method(
        name="roai-elim-released",
        rule=released,
        interval=IntervalKind.RELEASED,
        summary="ROAIElim as in the authors' code: one random active arm per step, no memory",
        reference=f"{ZHU}, released code",
        can_subset=True,
    ),
)
