"""The range of theta = median + F * MAD over all means inside the arms' intervals.

Algorithm 1 bounds the median and the MAD separately, although both depend on the same means and
cannot reach their ends together. Here the median's value mu varies over its interval, and the MAD
is bounded for each mu.

Lower end. For means with median mu the distance of arm i to mu is at least
max(0, L_i - mu, mu - U_i). The m-th largest of these is

    D(mu) = max(0, max_j min(L_(j) - mu, mu - U^(m-j)))

with L_(j) the j-th largest lower end and U^(i) the i-th smallest upper end: j arms above mu and
m - j arms below it have a distance of at least D(mu). The j-th term is a tent over mu, and the
tents move left as j grows. So D has its local minima where the right side of tent j meets the left
side of tent j - 1. If each mean moves to the point of its interval that is nearest to mu, D(mu) is
attained with median mu. So the lower end is exact.

Upper end. The distances are at most max(U_i - mu, mu - L_i). At most m - 1 arms lie above mu and
n - m below it. So the m-th largest distance is at most max_j min(U_(j) - mu, mu - L^(m-j)). Its
local maxima are the tips of the tents. The bound is attained, and so exact, once no interval
reaches from mu beyond the MAD on both sides; before that it is only valid. If Algorithm 1's upper
end is smaller, it is used instead.

The kernel also stores the values mu at which the ends are attained, for the rule `focus`.

If a sample of the arms represents all arms, two ranks replace m: `low` for lower bounds and `up`
for upper bounds (`standout.core.threshold.sample`).
"""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.order import kth_largest
from standout.core.state import (
    MAD_UPPER,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    SIZE,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from standout.core.threshold.sample import ranks
from standout.core.typing import Floats

LOWER_END, UPPER_END = 0, 1
_ROUNDING = 1e-9
"""Relative rounding error of a sum."""


@part()
def exact_range(spec: Spec, state: State, side: int) -> None:
    """Set the intervals of the median and theta, and the median's value at theta's ends."""
    count = state.sampled[SIZE]
    lower = state.sorted_lower[side][:count]
    upper = state.sorted_upper[side][:count]
    bounds = state.bounds[side]
    low, up = ranks(spec, state)
    bounds[MEDIAN_LOWER] = lower[count - low] if low <= count else -np.inf
    bounds[MEDIAN_UPPER] = upper[count - up] if up >= 1 else np.inf
    lowest = -np.inf
    highest = np.inf
    if np.isfinite(bounds[MEDIAN_LOWER]) and np.isfinite(bounds[MEDIAN_UPPER]):
        factor = state.factors[side]
        left, right = bounds[MEDIAN_LOWER], bounds[MEDIAN_UPPER]
        lowest, state.binding[side, LOWER_END] = _lower_end(lower, upper, low, factor, left, right)
        highest, state.binding[side, UPPER_END] = _upper_end(
            lower, upper, low, up, factor, left, right
        )
        # A very wide interval counts on both sides of mu there; Algorithm 1 counts it once.
        bounds[MAD_UPPER] = _largest_mad(state, side, up)
        highest = min(highest, bounds[MEDIAN_UPPER] + factor * bounds[MAD_UPPER])
        lowest, highest = _in_order(lowest, highest, bounds)
    if spec.slack > 0.0:
        # A larger sample begins with wide intervals; the results of a smaller one still hold.
        joint_lower = max(lowest, bounds[THRESHOLD_LOWER])
        joint_upper = min(highest, bounds[THRESHOLD_UPPER])
        if joint_lower <= joint_upper:
            lowest, highest = joint_lower, joint_upper
    bounds[THRESHOLD_LOWER] = lowest
    bounds[THRESHOLD_UPPER] = highest


@part()
def _in_order(lowest: float, highest: float, bounds: Floats) -> tuple[float, float]:
    """The ends of theta's interval, in order: rounding may make them cross slightly.

    A larger crossing is impossible unless some interval is empty.
    """
    if lowest <= highest:
        return lowest, highest
    size = max(abs(lowest), abs(highest), abs(bounds[MEDIAN_LOWER]), abs(bounds[MEDIAN_UPPER]))
    if lowest - highest <= _ROUNDING * size:
        return highest, lowest
    raise ValueError("the threshold's interval is empty: nothing can be certified from it")


@part()
def _largest_mad(state: State, side: int, rank: int) -> float:
    """Algorithm 1's upper end of the MAD."""
    omega = state.omega
    count = state.sampled[SIZE]
    left = state.bounds[side, MEDIAN_LOWER]
    right = state.bounds[side, MEDIAN_UPPER]
    for j in range(count):
        i = omega[j]
        state.scratch[j] = max(state.upper[side, i] - left, right - state.lower[side, i])
    guess = state.bounds[side, MAD_UPPER]
    return kth_largest(state.scratch, count, rank, guess, state.work)


@part()
def range_of_means(values: Floats, low: int, up: int, factor: float) -> tuple[float, float]:
    """The range of theta if the sample's means are `values` (ascending).

    Both ranks are ranks in the sample.
    """
    left, right = values[len(values) - low], values[len(values) - up]
    lowest, _ = _lower_end(values, values, low, factor, left, right)
    highest, _ = _upper_end(values, values, low, up, factor, left, right)
    return lowest, highest


@part()
def _lower_end(
    lower: Floats, upper: Floats, rank: int, factor: float, left: float, right: float
) -> tuple[float, float]:
    """min over mu of mu + factor * D(mu), and mu. L_(j) is lower[count - j], U^(i) upper[i - 1]."""
    count = len(lower)
    best_mu = left
    best = _lowest_at(lower, upper, rank, factor, left)
    # The end of D's falling part, if it reaches that far (maybe just to zero).
    value = _lowest_at(lower, upper, rank, factor, right)
    if value < best:
        best = value
        best_mu = right
    # In between: where tent j falls to meet tent j - 1, or to zero.
    for j in range(1, rank + 1):
        above = lower[count - j]
        below = upper[rank - j]
        if above > below:
            mu = (above + below) / 2
            value = _beyond(mu, above, factor)
        else:
            mu = above
            value = above
        if left < mu < right and value < best:
            best = value
            best_mu = mu
    return best, best_mu


@part()
def _lowest_at(lower: Floats, upper: Floats, rank: int, factor: float, mu: float) -> float:
    """mu + factor * D(mu), D(mu) being the smallest possible MAD when the median is mu."""
    count = len(lower)
    deviation = 0.0
    end = mu
    for j in range(rank + 1):
        above = np.inf if j == 0 else lower[count - j] - mu
        below = np.inf if j == rank else mu - upper[rank - j - 1]
        if min(above, below) > deviation:
            deviation = min(above, below)
            end = lower[count - j] if above <= below else mu + below
    return _beyond(mu, end, factor)


@part()
def _beyond(mu: float, end: float, factor: float) -> float:
    """mu + factor * (end - mu), computed in the more accurate order.

    If mu is very large, `end` would be lost in the difference.
    """
    if abs(end - mu) <= 0.5 * abs(mu):
        return mu + factor * (end - mu)
    return factor * end - (factor - 1.0) * mu


@part()
def _upper_end(
    lower: Floats, upper: Floats, low: int, up: int, factor: float, left: float, right: float
) -> tuple[float, float]:
    """max over mu of mu + factor * (largest possible MAD given mu), and mu.

    Infinite if j arms have no upper end and up - j have no lower end, for some j.
    """
    count = len(lower)
    best = -np.inf
    best_mu = right
    # j arms at least d above mu (at most low - 1 can be), up - j below (at most count - up).
    for j in range(max(0, 2 * up - count), min(up, low - 1) + 1):
        above = np.inf if j == 0 else upper[count - j]
        below = -np.inf if j == up else lower[up - j - 1]
        if above == np.inf and below == -np.inf:
            return np.inf, right  # no tip, and so no bound
        tip = (above + below) / 2
        if tip > right:
            mu = right
            value = right + factor * (right - below)
        elif factor < 1.0:
            # The sum still rises beyond the tip.
            mu = right
            value = _beyond(right, above, factor)
        else:
            mu = max(tip, left)
            value = _beyond(mu, above, factor)
        if value > best:
            best = value
            best_mu = mu
    if best == -np.inf:
        return np.inf, right  # no number of arms fits: no bound either
    return best, best_mu
