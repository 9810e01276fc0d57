"""The threshold's interval from the arms' intervals."""

from __future__ import annotations

import numpy as np

from standout.core.exact import exact_range
from standout.core.jit import dispatch, inlined, kernel, part
from standout.core.kinds import RangeKind
from standout.core.mean_std import mean_std_interval
from standout.core.plug_in import plug_in
from standout.core.select import kth_largest
from standout.core.state import (
    MAD_LOWER,
    MAD_UPPER,
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from standout.core.typing import Floats, Ints


@kernel()
def median_rank(count: int) -> int:
    """m of n = 2m - 1 or n = 2m: the median is the m-th largest, never an average."""
    return (count + 1) // 2


@kernel()
def median_of(values: Floats, omega: Ints, guess: float, state: State) -> float:
    """The median of `values` over the arms in `omega`."""
    count = len(omega)
    if count == len(values):  # all arms: nothing to gather
        return kth_largest(values, count, median_rank(count), guess, state.work)
    for j in range(count):
        state.scratch[j] = values[omega[j]]
    return kth_largest(state.scratch, count, median_rank(count), guess, state.work)


@kernel()
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


@part()
def _algorithm1(spec: Spec, state: State, side: int) -> None:
    algorithm1(state, side)


@part()
def _levels_and_algorithm1(spec: Spec, state: State, side: int) -> None:
    exact_range(spec, state, side)  # the rule looks at the levels
    algorithm1(state, side)


@part()
def _deviations_and_exact(spec: Spec, state: State, side: int) -> None:
    algorithm1(state, side)  # the rule looks at the deviations
    exact_range(spec, state, side)


_RANGES = {
    (RangeKind.ALGORITHM1, False): _algorithm1,
    (RangeKind.ALGORITHM1, True): _levels_and_algorithm1,
    (RangeKind.EXACT, False): _deviations_and_exact,
    (RangeKind.EXACT, True): exact_range,
    (RangeKind.MEAN_STD, False): mean_std_interval,
}
_update_range = dispatch(lambda spec: _RANGES[spec.range, spec.is_ours])


@part()
def _middle(spec: Spec, state: State, side: int) -> None:
    """The threshold's estimate of the paper: the middle of its interval."""
    bounds = state.bounds[side]
    if np.isfinite(bounds[THRESHOLD_LOWER]) and np.isfinite(bounds[THRESHOLD_UPPER]):
        bounds[THRESHOLD] = (bounds[THRESHOLD_LOWER] + bounds[THRESHOLD_UPPER]) / 2


_update_estimate = dispatch(lambda spec: plug_in if spec.is_ours else _middle)


@inlined("interval")
def update_threshold(spec: Spec, state: State, side: int) -> None:
    """Bring the threshold's interval and estimate up to date with the arms'."""
    _update_range(spec, state, side)
    bounds = state.bounds[side]
    if not bounds[THRESHOLD_LOWER] <= bounds[THRESHOLD_UPPER]:
        raise ValueError("the threshold's interval is empty or not a number")
    _update_estimate(spec, state, side)
