"""The tolerance that would end a run now, proved from the current intervals."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

from standout.core.kinds import Verdict
from standout.core.state import THRESHOLD_LOWER, THRESHOLD_UPPER, Spec, State
from standout.core.threshold.rounding import bounds_rounding
from standout.core.typing import Flags, Floats

_FIGURES = 2
"""Significant digits of a proposed tolerance, to avoid 0.0170381."""


def least_tolerance(state: State) -> float:
    """The smallest tolerance at which the intervals decide every arm, rounded up to two digits.

    An arm is decided when its interval overlaps the threshold's by at most the tolerance. So an arm
    needs the smaller of its overlaps from above and from below (with two sides: it stands out on
    one, or is normal on both), and the result is the largest over all arms. It is infinite while an
    interval that it needs is unbounded, and 0 if every arm is decided. The verdicts are right for
    that tolerance, as for any, even if it is chosen after looking.
    """
    left = state.verdict == Verdict.UNDECIDED
    if not left.any():
        return 0.0
    needed = float(_needed(state)[left].max())
    if not math.isfinite(needed):
        return math.inf
    tolerance = rounded_up(max(needed, 0.0))
    # Sums of floating-point numbers may fall short by their last digit.
    while not _decided(state, tolerance)[left].all():
        tolerance = rounded_up(tolerance * (1 + 1e-9) + math.ulp(tolerance))
    return tolerance


def _needed(state: State) -> Floats:
    """The smallest tolerance that decides each arm."""
    lower_ends = state.bounds[:, THRESHOLD_LOWER, None]
    upper_ends = state.bounds[:, THRESHOLD_UPPER, None]
    outlier = (upper_ends - state.lower).min(axis=0)
    normal = (state.upper - lower_ends).max(axis=0)
    return np.asarray(np.minimum(outlier, normal))


def _decided(state: State, tolerance: float) -> Flags:
    """Which arms a tolerance decides, by the stopping rule."""
    sides = zip(state.bounds, state.factors, strict=True)
    slip = np.array([bounds_rounding(bounds, factor) for bounds, factor in sides])[:, None]
    above = state.lower > state.bounds[:, THRESHOLD_UPPER, None] - tolerance + slip
    below = state.upper <= state.bounds[:, THRESHOLD_LOWER, None] + tolerance + slip
    return np.asarray(above.any(axis=0) | below.all(axis=0))


def rounded_up(number: float) -> float:
    """The next larger number with two significant digits.

    >>> rounded_up(0.01234), rounded_up(0.5), rounded_up(0.0)
    (0.013, 0.5, 0.0)
    """
    if number <= 0:
        return 0.0
    digits = _FIGURES - 1 - math.floor(math.log10(number))
    for figure in (digits, digits - 1):
        found = round(number, figure)
        if found < number:
            found = round(number + 10.0**-figure / 2, figure)
        if found >= number:
            return found
    return number


def with_tolerance(spec: Spec, tolerance: float) -> Spec:
    """The same run with another tolerance."""
    return replace(spec, tolerance=tolerance)
