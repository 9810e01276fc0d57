"""Algorithm 1 of the paper: the threshold's interval by interval arithmetic."""

from __future__ import annotations

from standout.core.compile import part
from standout.core.order import kth_largest
from standout.core.state import (
    MAD_LOWER,
    MAD_UPPER,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    State,
)
from standout.core.typing import Floats, Ints


@part()
def median_rank(count: int) -> int:
    """m of n = 2m - 1 or n = 2m: the median is the m-th largest, never an average."""
    return (count + 1) // 2


@part()
def median_of(values: Floats, omega: Ints, guess: float, state: State) -> float:
    """The median of `values` over the arms in `omega`."""
    count = len(omega)
    if count == len(values):  # all arms: nothing to gather
        return kth_largest(values, count, median_rank(count), guess, state.work)
    for j in range(count):
        state.scratch[j] = values[omega[j]]
    return kth_largest(state.scratch, count, median_rank(count), guess, state.work)


@part()
def algorithm1(state: State, side: int) -> None:
    """Algorithm 1 of the paper: intervals of the median, the deviations, the MAD, theta."""
    lower = state.lower[side]
    upper = state.upper[side]
    deviation_lower = state.deviation_lower[side]
    deviation_upper = state.deviation_upper[side]
    bounds = state.bounds[side]
    omega = state.omega

    median_lower = median_of(lower, omega, bounds[MEDIAN_LOWER], state)
    median_upper = median_of(upper, omega, bounds[MEDIAN_UPPER], state)
    for j in range(len(omega)):
        i = omega[j]
        deviation_lower[i] = max(lower[i] - median_upper, median_lower - upper[i])
        deviation_upper[i] = max(upper[i] - median_lower, median_upper - lower[i])
    mad_lower = median_of(deviation_lower, omega, bounds[MAD_LOWER], state)
    mad_upper = median_of(deviation_upper, omega, bounds[MAD_UPPER], state)

    bounds[MEDIAN_LOWER] = median_lower
    bounds[MEDIAN_UPPER] = median_upper
    bounds[MAD_LOWER] = mad_lower
    bounds[MAD_UPPER] = mad_upper
    bounds[THRESHOLD_LOWER] = median_lower + state.factors[side] * mad_lower
    bounds[THRESHOLD_UPPER] = median_upper + state.factors[side] * mad_upper
