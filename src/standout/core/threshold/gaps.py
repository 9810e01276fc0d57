"""No threshold but gaps: the arms that part from the rest first, as GOLD looks for them.

Each arm has a stretched interval: its estimate +- b times its radius, intersected with all earlier
ones. Arms whose stretched intervals meet are neighbours; chains of neighbours are groups. An arm in
a group of at most h arms has parted, for good. h is the integer part of (1 - rho) n, but at least
1. Once h arms have parted, these are the outliers, and all others are normal.

`b` is that of the authors' program, with a = e^(1/16): (b + 1) / (b - 1) = (1 + epsilon) / a.

The matching definition: a set O of at most h arms are outliers if

- each other arm is in a group of more than h arms whose neighbours are at most g apart, and
- O consists of groups, each more than (1 + epsilon) g from each arm outside the group.

Outliers may be high, low or in between.

Why outliers part no later than any other arm. Assume that each mean lies within the radius of its
estimate at all times. Consider the first round in which an arm outside O parts, and let r be the
radius in this round, which is the same for all arms that had not parted. The arm's group by
stretched intervals is smaller than its true group. So two neighbours of the true group are
separated, and 2 (b - 1) r <= g. Suppose that an arm of O had not parted by this round. Then it
would be in a group of more than h arms, and some arm of its group of O would meet an arm outside
the group. Neither would have parted. For their distance G this gives G <= 2 (b + 1) r <= (1 +
epsilon) g / a < G, a contradiction.
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.kinds import Verdict
from standout.core.order import merge_sort
from standout.core.state import THRESHOLD, Spec, State

EPSILON = 2.5
"""The authors' default."""
_SLACK = math.exp(1.0 / 16.0)
STRETCH = (1.0 + _SLACK + EPSILON) / (1.0 - _SLACK + EPSILON)
_NORMAL = int(Verdict.NORMAL)
_OUTLIER = int(Verdict.OUTLIER)


@part()
def part_arms(spec: Spec, state: State, side: int) -> None:
    """Record in `state.active` which arms have parted; with enough of them, set the verdicts.

    Gaps have no side, so the call for the first side serves both. There is no threshold and no MAD,
    so the stretched intervals are stored in the place of the deviations.
    """
    if side > 0:
        return
    for arm in range(spec.n_arms):
        if state.pulls[arm] == 0:
            return
    _stretch(spec, state)
    _measure_groups(spec.n_arms, state)
    state.bounds[0, THRESHOLD] = math.inf  # no estimate of an arm lies beyond it
    parted = 0
    for arm in range(spec.n_arms):
        if _group_size(state, state.deviation_lower[0, arm]) <= spec.parting:
            state.active[0, 0, arm] = False
        parted += not state.active[0, 0, arm]
    if parted >= spec.parting:
        for arm in range(spec.n_arms):
            state.verdict[arm] = _NORMAL if state.active[0, 0, arm] else _OUTLIER


@part()
def _stretch(spec: Spec, state: State) -> None:
    """Update each arm's stretched interval."""
    for arm in range(spec.n_arms):
        radius = STRETCH * 0.5 * (state.upper[0, arm] - state.lower[0, arm])
        lower = state.estimate[0, arm] - radius
        upper = state.estimate[0, arm] + radius
        joint_lower = max(lower, state.deviation_lower[0, arm])
        joint_upper = min(upper, state.deviation_upper[0, arm])
        if joint_lower <= joint_upper:  # Else some interval has failed already.
            lower, upper = joint_lower, joint_upper
        state.deviation_lower[0, arm] = lower
        state.deviation_upper[0, arm] = upper


@part()
def _measure_groups(n_arms: int, state: State) -> None:
    """Write the sorted lower ends into `scratch`, and the size of each one's group into `centre`.

    A group ends where all its upper ends lie below the next lower end.
    """
    lower = state.scratch
    upper = state.centre
    for arm in range(n_arms):
        lower[arm] = state.deviation_lower[0, arm]
        upper[arm] = state.deviation_upper[0, arm]
    merge_sort(lower, state.work)
    merge_sort(upper, state.work)
    first = 0
    for place in range(n_arms):
        if place == n_arms - 1 or upper[place] < lower[place + 1]:
            size = place + 1 - first
            while first <= place:
                upper[first] = size
                first += 1


@part()
def _group_size(state: State, lower: float) -> float:
    """The size of the group of the arm whose stretched interval begins at `lower`."""
    place = 0
    beyond = len(state.scratch)
    while beyond - place > 1:
        middle = (place + beyond) // 2
        if state.scratch[middle] <= lower:
            place = middle
        else:
            beyond = middle
    return float(state.centre[place])
