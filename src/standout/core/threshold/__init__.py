"""The threshold's interval from the arms' intervals."""

from __future__ import annotations

import numpy as np

from standout.core.compile import dispatch, inlined, part
from standout.core.kinds import RangeKind
from standout.core.state import THRESHOLD, THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State
from standout.core.threshold.algorithm1 import algorithm1
from standout.core.threshold.best_guess import plug_in
from standout.core.threshold.drawn import drawn_interval
from standout.core.threshold.exact import exact_range
from standout.core.threshold.gaps import part_arms
from standout.core.threshold.mean_std import mean_std_interval


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
    (RangeKind.JOINT, True): exact_range,
    (RangeKind.MEAN_STD, False): mean_std_interval,
    (RangeKind.DRAWN, False): drawn_interval,
    (RangeKind.GAPS, False): part_arms,
}
_update_range = dispatch(lambda spec: _RANGES[spec.range, spec.refines])


@part()
def _middle(spec: Spec, state: State, side: int) -> None:
    """The threshold's estimate of the paper: the middle of its interval."""
    bounds = state.bounds[side]
    if np.isfinite(bounds[THRESHOLD_LOWER]) and np.isfinite(bounds[THRESHOLD_UPPER]):
        bounds[THRESHOLD] = (bounds[THRESHOLD_LOWER] + bounds[THRESHOLD_UPPER]) / 2


_update_estimate = dispatch(lambda spec: plug_in if spec.refines else _middle)


@inlined("interval")
def update_threshold(spec: Spec, state: State, side: int) -> None:
    """Bring the threshold's interval and estimate up to date with the arms'."""
    _update_range(spec, state, side)
    bounds = state.bounds[side]
    if not bounds[THRESHOLD_LOWER] <= bounds[THRESHOLD_UPPER]:
        raise ValueError("the threshold's interval is empty or not a number")
    _update_estimate(spec, state, side)
