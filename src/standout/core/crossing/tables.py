"""Batches of rewards, and each arm's evidence at the points of its grid."""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.crossing.gains import add_gain, spread_of, squares_of
from standout.core.crossing.grid import LAST, grid_point
from standout.core.crossing.record import BLOCK, MOST_BATCHES, POINTS, STAGES, WIDE_BLOCK
from standout.core.state import Spec, State
from standout.core.typing import Floats

_BATCH = 1.08
"""Growth of the arm's pulls after which a batch ends."""
_SPAN = 4.0
"""Reach of the dense points on either side, in standard errors at the beginning of a stage."""
_SLIP = 1e-9
"""The rounding error of a place, in steps."""


@part("interval")
def close_batches(spec: Spec, state: State, ends_all: bool) -> None:
    """End the batches that are long enough, or all batches; a stage must have begun."""
    bet = state.crossing
    for a in range(spec.n_arms):
        if state.costs[a] == math.inf:
            continue
        last = bet.batches[a] - 1
        if last < 0:
            is_over = True
        elif ends_all:
            is_over = state.pulls[a] > bet.batch_pulls[a, last]
        else:
            is_over = (
                state.pulls[a] > _BATCH * bet.batch_pulls[a, last]
                and last + 1 < MOST_BATCHES - STAGES
            )
        if is_over:
            bet.batch_pulls[a, last + 1] = state.pulls[a]
            bet.batch_sums[a, last + 1] = state.sums[a]
            if bet.batch_squares.shape[1] > 0:
                bet.batch_squares[a, last + 1] = squares_of(spec, state, a)
            bet.batches[a] = last + 2


@part()
def _squares_at(state: State, arm: int, batch: int) -> float:
    bet = state.crossing
    return bet.batch_squares[arm, batch] if bet.batch_squares.shape[1] > 0 else 0.0


@part("interval")
def bring_up_to_date(spec: Spec, state: State, stage: int) -> None:
    """Update the tables to this stage and to all rewards so far."""
    bet = state.crossing
    for a in range(spec.n_arms):
        first = bet.first[stage, a]
        if state.costs[a] == math.inf or bet.batch_pulls[a, first] <= 0.0:
            continue
        if (
            bet.seen[0, a] == stage + 1
            and bet.seen[1, a] == state.pulls[a]
            and bet.seen[2, a] == state.sums[a]
        ):
            continue
        if bet.included[stage, a] <= first:
            _start_grid(spec, state, stage, a)
        while bet.included[stage, a] < bet.batches[a]:
            k = bet.included[stage, a]
            _count_batch(
                spec, state, stage, a, k - 1,
                bet.batch_pulls[a, k], bet.batch_sums[a, k], _squares_at(state, a, k),
                bet.settled_low[stage, a], bet.settled_high[stage, a],
            )  # fmt: skip
            bet.included[stage, a] = k + 1
        for j in range(POINTS):
            bet.too_low[a, j] = bet.settled_low[stage, a, j]
            bet.too_high[a, j] = bet.settled_high[stage, a, j]
        last = bet.batches[a] - 1
        if state.pulls[a] > bet.batch_pulls[a, last]:
            squares = squares_of(spec, state, a)
            _count_batch(
                spec, state, stage, a, last, float(state.pulls[a]), state.sums[a], squares,
                bet.too_low[a], bet.too_high[a],
            )  # fmt: skip
        _find_minima(bet.too_low[a], bet.least_low[a])
        _find_minima(bet.too_high[a], bet.least_high[a])
        bet.seen[0, a] = stage + 1
        bet.seen[1, a] = state.pulls[a]
        bet.seen[2, a] = state.sums[a]


@part("interval")
def _start_grid(spec: Spec, state: State, stage: int, arm: int) -> None:
    bet = state.crossing
    first = bet.first[stage, arm]
    pulls = bet.batch_pulls[arm, first]
    total = bet.batch_sums[arm, first]
    spread = spread_of(spec, state, arm, pulls, total, _squares_at(state, arm, first))
    reach = _SPAN * spread / math.sqrt(pulls)
    bet.low[stage, arm] = total / pulls - reach
    bet.step[stage, arm] = 2.0 * reach / LAST
    for j in range(POINTS):
        bet.settled_low[stage, arm, j] = 0.0
        bet.settled_high[stage, arm, j] = 0.0
    bet.included[stage, arm] = first + 1


@part("interval")
def _count_batch(
    spec: Spec, state: State, stage: int, arm: int, batch: int, pulls: float, total: float,
    squares: float, too_low: Floats, too_high: Floats,
) -> None:  # fmt: skip
    """Add the gain of the rewards between the end of a batch and these totals."""
    bet = state.crossing
    before = bet.batch_pulls[arm, batch]
    total_before = bet.batch_sums[arm, batch]
    squares_before = _squares_at(state, arm, batch)
    add_gain(
        spec, state, arm, bet.low[stage, arm], bet.step[stage, arm],
        before, total_before, squares_before,
        pulls - before, total - total_before, squares - squares_before,
        too_low, too_high,
    )  # fmt: skip


@part()
def _find_minima(values: Floats, minima: Floats) -> None:
    """Write the minimum of each short block, then of each wide block."""
    count = POINTS // BLOCK
    for block in range(count):
        least = values[block * BLOCK]
        for j in range(1, BLOCK):
            least = min(least, values[block * BLOCK + j])
        minima[block] = least
    ratio = WIDE_BLOCK // BLOCK
    for block in range(POINTS // WIDE_BLOCK):
        least = minima[block * ratio]
        for j in range(1, ratio):
            least = min(least, minima[block * ratio + j])
        minima[count + block] = least


@part()
def _least(values: Floats, minima: Floats, first: int, last: int) -> float:
    """A lower bound of the values from `first` to `last`; wide ranges use whole blocks."""
    least = np.inf
    if last - first < BLOCK:
        for j in range(first, last + 1):
            least = min(least, values[j])
    elif last - first < WIDE_BLOCK:
        for j in range(first // BLOCK, last // BLOCK + 1):
            least = min(least, minima[j])
    else:
        count = POINTS // BLOCK
        for j in range(count + first // WIDE_BLOCK, count + last // WIDE_BLOCK + 1):
            least = min(least, minima[j])
    return least


@part()
def _clipped(point: float) -> float:
    """The point, clipped to just beyond the grid so that it can be cast to an integer."""
    return min(max(point, -1.0), POINTS + 0.0)


@part()
def least_too_low(state: State, stage: int, arm: int, first: float, last: float) -> float:
    """A lower bound of the evidence against a mean of at most u, for u from `first` to `last`.

    The bet is against the next point above u. Beyond the grid the evidence is 0.
    """
    bet = state.crossing
    step = bet.step[stage, arm]
    if step <= 0.0:
        return 0.0
    low = state.origin[arm] + bet.low[stage, arm]
    begin = math.ceil(_clipped(grid_point((first - low) / step) + _SLIP))
    end = math.ceil(_clipped(grid_point((last - low) / step) + _SLIP))
    begin = max(begin, 0)
    end = max(end, 0)
    if begin > POINTS - 1:
        return 0.0
    least = 0.0 if end > POINTS - 1 else np.inf
    return min(least, _least(bet.too_low[arm], bet.least_low[arm], begin, min(end, POINTS - 1)))


@part()
def least_too_high(state: State, stage: int, arm: int, first: float, last: float) -> float:
    """A lower bound of the evidence against a mean of at least l, for l from `first` to `last`.

    The bet is against the next point below l. Beyond the grid the evidence is 0.
    """
    bet = state.crossing
    step = bet.step[stage, arm]
    if step <= 0.0:
        return 0.0
    low = state.origin[arm] + bet.low[stage, arm]
    begin = math.floor(_clipped(grid_point((first - low) / step) - _SLIP))
    end = math.floor(_clipped(grid_point((last - low) / step) - _SLIP))
    begin = min(begin, POINTS - 1)
    end = min(end, POINTS - 1)
    if end < 0:
        return 0.0
    least = 0.0 if begin < 0 else np.inf
    return min(least, _least(bet.too_high[arm], bet.least_high[arm], max(begin, 0), end))
