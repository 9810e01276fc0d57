"""focus: pull what shrinks the overlap that keeps the run from ending, most per pull.

A run ends when no arm's interval meets theta's. An undecided arm below theta's
estimate waits for its own upper end to fall or for theta's lower end to rise;
one above, for the mirror image. Only ends that some arm waits for matter.

Theta's end depends on the interval ends of a few arms: the levels that bind it
(see `standout.core.exact`), with known slopes. The arms that can move a level
are those whose interval contains it. An arm's score is

    slope * width / (pulls * cost),

about twice the amount by which one more pull of it moves the overlap (the width
shrinks like 1/sqrt(pulls)); an undecided arm itself has slope 1. The arms with
(nearly) the largest score are pulled.

Why it ends: suppose it does not. Some arm stays undecided for ever, and so one
of theta's ends is waited for over and over. Every arm that is a candidate again
and again is pulled again and again, since the scores of arms that are pulled
tend to 0 while that of an arm left alone does not; its width tends to 0.
Candidates contain every arm that straddles an end of the median's interval, so
these ends tend to the median; then every arm that straddles median + d or
median - d, where d is the MAD that binds, so d tends to the MAD and theta's end
to theta; and the undecided arm, whose interval shrinks to its mean. If that
mean is not theta, the two intervals part. A small slope for every level of this
argument, also those that do not bind at the moment, keeps it whole.
"""

from __future__ import annotations

import numpy as np

from standout.core.exact import LEVEL, LOWER_END, SLOPE, UPPER_END
from standout.core.jit import kernel
from standout.core.kinds import Verdict
from standout.core.state import (
    MEDIAN_LOWER,
    MEDIAN_UPPER,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)
from standout.core.typing import Floats

_UNDECIDED = int(Verdict.UNDECIDED)
REACH = 0.5
"""An end of the median's interval counts while it is this part of the width from binding."""
NEAR = 0.5
"""Weight of an end of the median's interval that does not bind yet."""
SMALLEST_SLOPE = 0.01
"""In units of 1 + factor: what every level gets, so that no arm is starved."""


@kernel
def choose(spec: Spec, state: State, rng: np.random.Generator) -> int:
    """The arms with (nearly) the best score; arms without a finite interval come first."""
    scores = state.scratch
    count = 0
    for i in range(spec.n_arms):
        scores[i] = 0.0
        if not np.isfinite(state.upper[0, i] - state.lower[0, i]):
            state.chosen[count] = i
            count += 1
    if count > 0:
        return count
    for side in range(len(state.signs)):
        _score_side(spec, state, side, scores)
    best = 0.0
    for i in range(spec.n_arms):
        best = max(best, scores[i])
    for i in range(spec.n_arms):
        if scores[i] >= spec.nearly_best * best:
            state.chosen[count] = i
            count += 1
    return count


@kernel
def _score_side(spec: Spec, state: State, side: int, scores: Floats) -> None:
    """Raise the scores of the undecided arms of a side and of what they wait for."""
    lower = state.lower[side]
    upper = state.upper[side]
    estimate = state.estimate[side]
    centre = state.bounds[side, THRESHOLD]
    floor = state.bounds[side, THRESHOLD_LOWER] + spec.tolerance
    ceiling = state.bounds[side, THRESHOLD_UPPER] - spec.tolerance
    waits_for_lower = False
    waits_for_upper = False
    for i in range(spec.n_arms):
        if state.verdict[i] != _UNDECIDED or lower[i] > ceiling or upper[i] < floor:
            continue
        if estimate[i] > centre:
            waits_for_upper = True
        else:
            waits_for_lower = True
        width = upper[i] - lower[i]
        scores[i] = max(scores[i], width / (state.pulls[i] * state.costs[i]))
    if waits_for_lower:
        _score_end(state, side, LOWER_END, scores)
    if waits_for_upper:
        _score_end(state, side, UPPER_END, scores)


@kernel
def _score_end(state: State, side: int, end: int, scores: Floats) -> None:
    """Raise the scores of the arms that can move one end of theta's interval."""
    lower = state.lower[side]
    upper = state.upper[side]
    omega = state.omega
    levels = state.levels[side, end]
    first = levels[0, LEVEL]
    second = levels[1, LEVEL]
    mu = levels[2, LEVEL]
    left = state.bounds[side, MEDIAN_LOWER]
    right = state.bounds[side, MEDIAN_UPPER]
    factor = state.factors[side]
    smallest = SMALLEST_SLOPE * (1.0 + factor)

    # Where the median sits at an end of its interval, that end binds; where it is close
    # to one, moving that end past it is the quickest way on.
    reach = REACH * (right - left) + 1e-300
    near_left = NEAR * max(0.0, 1.0 - (mu - left) / reach)
    near_right = NEAR * max(0.0, 1.0 - (right - mu) / reach)
    outer = 1.0 + factor
    inner = max(0.0, factor - 1.0)
    slope_left = max(smallest, (outer if end == LOWER_END else inner) * near_left)
    slope_right = max(smallest, (outer if end == UPPER_END else inner) * near_right)
    slope_first = max(smallest, levels[0, SLOPE])
    slope_second = max(smallest, levels[1, SLOPE])
    for j in range(len(omega)):
        i = omega[j]
        slope = 0.0
        if lower[i] <= first <= upper[i]:
            slope = slope_first
        if lower[i] <= second <= upper[i]:
            slope = max(slope, slope_second)
        if lower[i] <= left <= upper[i]:
            slope = max(slope, slope_left)
        if lower[i] <= right <= upper[i]:
            slope = max(slope, slope_right)
        if lower[i] <= 2.0 * mu - first <= upper[i] or lower[i] <= 2.0 * mu - second <= upper[i]:
            slope = max(slope, smallest)
        if slope > 0.0:
            gain = (upper[i] - lower[i]) / (state.pulls[i] * state.costs[i])
            scores[i] = max(scores[i], slope * gain)
