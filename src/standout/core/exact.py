"""The range of theta = median + F * MAD over all means inside the arms' intervals.

Algorithm 1 bounds the median and the MAD apart, although both depend on the
same means and cannot reach their ends together. Here the median's value mu is
varied over its interval and the MAD is bounded for that mu.

Lower end. For means with median mu the distance of arm i to mu is at least
max(0, L_i - mu, mu - U_i). The m-th largest of these is

    D(mu) = max(0, max_j min(L_(j) - mu, mu - U^(m-j)))

with L_(j) the j-th largest lower end and U^(i) the i-th smallest upper end: at
least d away are j arms above and m - j below. The j-th term is a tent over mu,
tents move left as j grows, and so D has its local minima where the right side
of tent j meets the left side of tent j - 1. Moving every mean to the point of
its interval next to mu attains D(mu) with median mu: the lower end is exact.

Upper end. The distances are at most max(U_i - mu, mu - L_i), the m-th largest at
most max_j min(U_(j) - mu, mu - L^(m-j)), at most m - 1 of them above mu and n - m
below. Local maxima are the tents' tips. This is attained, and so exact, once no
interval reaches from mu to both sides of the MAD; before that it is only valid.
Where Algorithm 1's upper end is smaller, it is taken instead.

Besides the ends, the kernel notes the levels that bind them and with which
slope: theta's end moves by slope * h when that level moves by h. The rule
`focus` pulls the arms that can move these levels.
"""

from __future__ import annotations

import numpy as np

from standout.core.jit import kernel
from standout.core.select import kth_largest
from standout.core.state import (
    MAD_UPPER,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    State,
)
from standout.core.typing import Floats

LOWER_END, UPPER_END = 0, 1
LEVEL, SLOPE = 0, 1


@kernel
def exact_range(state: State, side: int) -> None:
    """Set the intervals of the median and theta, and the levels that bind theta's."""
    lower = state.sorted_lower[side]
    upper = state.sorted_upper[side]
    bounds = state.bounds[side]
    count = len(lower)
    rank = (count + 1) // 2
    bounds[MEDIAN_LOWER] = lower[count - rank]
    bounds[MEDIAN_UPPER] = upper[count - rank]
    if not (np.isfinite(bounds[MEDIAN_LOWER]) and np.isfinite(bounds[MEDIAN_UPPER])):
        bounds[THRESHOLD_LOWER] = -np.inf
        bounds[THRESHOLD_UPPER] = np.inf
        return
    factor = state.factors[side]
    bounds[THRESHOLD_LOWER] = _lower_end(
        lower, upper, rank, factor, bounds, state.levels[side, LOWER_END]
    )
    highest = _upper_end(lower, upper, rank, factor, bounds, state.levels[side, UPPER_END])
    # A very wide interval counts on both sides of mu there; Algorithm 1 counts it once.
    bounds[MAD_UPPER] = _largest_mad(state, side)
    bounds[THRESHOLD_UPPER] = min(highest, bounds[MEDIAN_UPPER] + factor * bounds[MAD_UPPER])


@kernel
def _largest_mad(state: State, side: int) -> float:
    """Algorithm 1's upper end of the MAD."""
    omega = state.omega
    count = len(omega)
    left = state.bounds[side, MEDIAN_LOWER]
    right = state.bounds[side, MEDIAN_UPPER]
    for j in range(count):
        i = omega[j]
        state.scratch[j] = max(state.upper[side, i] - left, right - state.lower[side, i])
    guess = state.bounds[side, MAD_UPPER]
    return kth_largest(state.scratch, count, (count + 1) // 2, guess, state.work)


@kernel
def _bind(
    levels: Floats, mu: float, first: float, slope: float, second: float, slope_second: float
) -> None:
    """Note the two levels that bind an end, their slopes, and the median's value there."""
    levels[2, LEVEL] = mu
    levels[0, LEVEL] = first
    levels[0, SLOPE] = slope
    levels[1, LEVEL] = second
    levels[1, SLOPE] = slope_second


@kernel
def _lower_end(
    lower: Floats, upper: Floats, rank: int, factor: float, bounds: Floats, levels: Floats
) -> float:
    """min over mu of mu + factor * D(mu). L_(j) is lower[count - j], U^(i) is upper[i - 1]."""
    count = len(lower)
    left = bounds[MEDIAN_LOWER]
    right = bounds[MEDIAN_UPPER]

    # At mu = left, where D's rising parts have their smallest value.
    rising = -np.inf
    falling = -np.inf
    rising_level = 0.0
    falling_level = 0.0
    at_right = -np.inf
    right_level = 0.0
    for j in range(rank + 1):
        above = np.inf if j == 0 else lower[count - j]
        below = -np.inf if j == rank else upper[rank - j - 1]
        if left - below <= above - left:
            if left - below > rising:
                rising = left - below
                rising_level = below
        elif above - left > falling:
            falling = above - left
            falling_level = above
        if above - right < right - below and above - right > at_right:
            at_right = above - right
            right_level = above
    deviation = max(0.0, rising, falling)
    best = left + factor * deviation
    if deviation == 0.0:
        _bind(levels, left, left, 1.0, left, 0.0)
    elif rising >= falling:
        _bind(levels, left, left, 1.0 + factor, rising_level, factor)
    else:
        _bind(levels, left, falling_level, factor, left, 0.0)
    # At mu = right, the end of D's falling part if it reaches that far (maybe just to zero).
    if at_right >= 0.0:
        value = right + factor * _deviation_below(lower, upper, rank, right)
        if value < best:
            best = value
            _bind(levels, right, right_level, factor, right, max(0.0, factor - 1.0))
    # In between: where tent j falls to meet tent j - 1, or to zero.
    for j in range(1, rank + 1):
        above = lower[count - j]
        below = upper[rank - j]
        if above > below:
            mu = (above + below) / 2
            value = mu + factor * (above - below) / 2
            if left < mu < right and value < best:
                best = value
                _bind(levels, mu, above, (1.0 + factor) / 2, below, abs(factor - 1.0) / 2)
        elif left < above < right and above < best:
            best = above
            _bind(levels, above, above, 1.0, above, 0.0)
    return float(best)


@kernel
def _deviation_below(lower: Floats, upper: Floats, rank: int, mu: float) -> float:
    """D(mu): the smallest possible MAD when the median is mu."""
    count = len(lower)
    deviation = 0.0
    for j in range(rank + 1):
        above = np.inf if j == 0 else lower[count - j] - mu
        below = np.inf if j == rank else mu - upper[rank - j - 1]
        deviation = max(deviation, min(above, below))
    return deviation


@kernel
def _upper_end(
    lower: Floats, upper: Floats, rank: int, factor: float, bounds: Floats, levels: Floats
) -> float:
    """max over mu of mu + factor * (largest possible MAD given mu)."""
    count = len(lower)
    left = bounds[MEDIAN_LOWER]
    right = bounds[MEDIAN_UPPER]
    best = -np.inf
    # j arms at least d above mu (at most rank - 1 can be), rank - j below (at most count - rank).
    for j in range(max(0, 2 * rank - count), rank):
        above = np.inf if j == 0 else upper[count - j]
        below = lower[rank - j - 1]
        tip = (above + below) / 2
        if tip > right:
            value = right + factor * (right - below)
            if value > best:
                best = value
                _bind(levels, right, right, 1.0 + factor, below, factor)
        elif factor < 1.0:
            # The sum still rises beyond the tip.
            value = right + factor * (above - right)
            if value > best:
                best = value
                _bind(levels, right, above, factor, right, 1.0 - factor)
        elif tip < left:
            value = left + factor * (above - left)
            if value > best:
                best = value
                _bind(levels, left, above, factor, left, factor - 1.0)
        else:
            value = tip + factor * (above - tip)
            if value > best:
                best = value
                _bind(levels, tip, above, (1.0 + factor) / 2, below, abs(factor - 1.0) / 2)
    return best
