"""When the sample of `standout.core.threshold.sample` grows.

The sampling error is theta's range over the sample if the estimates were the means. The sample
grows when this error is at least half of the threshold's uncertainty. With more pulls of the
sample's arms the threshold's interval shrinks to this range. So a sample that is too small to end a
run always grows, in the end to all arms. Then only the rewards are random, and the usual argument
shows that the run ends.
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import dispatch, part
from standout.core.kinds import Verdict
from standout.core.order import merge_sort
from standout.core.state import (
    SIZE,
    STAGE,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    UNDECIDED,
    Spec,
    State,
)
from standout.core.threshold.exact import range_of_means
from standout.core.threshold.sample import ranks

_UNDECIDED = int(Verdict.UNDECIDED)


@part()
def _wants_more(spec: Spec, state: State) -> bool:
    """Whether the sample's own error dominates the uncertainty that keeps the run from ending."""
    if spec.slack == 0.0 or state.sampled[SIZE] == spec.n_arms:
        return False
    if state.counters[UNDECIDED] == 0:
        return False
    low, up = ranks(spec, state)
    if low > state.sampled[SIZE] or up < 1:
        return _is_measured(state)
    for side in range(len(state.signs)):
        width = state.bounds[side, THRESHOLD_UPPER] - state.bounds[side, THRESHOLD_LOWER]
        if not np.isfinite(width) or 2.0 * _error(spec, state, side) < width:
            continue
        own = 0.0
        for i in range(spec.n_arms):
            if state.verdict[i] == _UNDECIDED:
                own += state.upper[side, i] - state.lower[side, i]
        if own <= state.counters[UNDECIDED] * width:
            return True
    return False


@part()
def _is_measured(state: State) -> bool:
    """Whether every arm of the sample has a finite interval."""
    for j in range(state.sampled[SIZE]):
        i = state.omega[j]
        if not np.isfinite(state.upper[0, i] - state.lower[0, i]):
            return False
    return True


@part()
def _error(spec: Spec, state: State, side: int) -> float:
    """The sampling error of theta: its range if the estimates were the means."""
    count = state.sampled[SIZE]
    low, up = ranks(spec, state)
    values = state.scratch[:count]
    for j in range(count):
        values[j] = state.estimate[side, state.omega[j]]
        if not np.isfinite(values[j]):
            return np.inf
    merge_sort(values, state.work)
    lowest, highest = range_of_means(values, low, up, state.factors[side])
    return float(highest - lowest)


@part()
def _grow(spec: Spec, state: State) -> None:
    """Add the arms of the next stage to the sample."""
    state.sampled[STAGE] += 1
    count = 0
    for i in range(spec.n_arms):
        if state.stage[i] <= state.sampled[STAGE]:
            state.omega[count] = i
            count += 1
    state.sampled[SIZE] = count


@part()
def _grow_if_wanted(spec: Spec, state: State) -> bool:
    if not _wants_more(spec, state):
        return False
    _grow(spec, state)
    return True


@part()
def _never_grow(spec: Spec, state: State) -> bool:
    return False


grow_sample = dispatch(lambda spec: _grow_if_wanted if spec.samples else _never_grow)
"""Add arms to the sample of (spec, state) if needed; return whether any were added."""
