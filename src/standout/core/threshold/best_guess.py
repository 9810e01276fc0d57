"""The best guess of theta and of the means, for answers before the certificate.

They are estimates and no part of the guarantee.
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.intervals import reward_variance
from standout.core.order import kth_largest
from standout.core.state import (
    GUESS_AD,
    GUESS_MEAN,
    GUESS_NOISE,
    MEDIAN,
    SIZE,
    THRESHOLD,
    THRESHOLD_LOWER,
    THRESHOLD_UPPER,
    Spec,
    State,
)

SHRINKAGE = 1.0
"""Pseudo-rewards at the median that are added to each arm's rewards."""
CORRECTION = 0.5
"""Share of the noise that is removed from the MAD. Removing all of it would be unbiased, but theta
would often be far too low, which causes more errors than a theta that is too high."""
SMALLEST_MAD = 0.5
"""The corrected MAD is at least this part of the plain one."""
_NORMAL_MAD = 0.4549
"""Square of the MAD of a standard normal variable."""
_GOLDEN = 0.6180339887498949


@part("interval")
def plug_in(spec: Spec, state: State, side: int) -> None:
    """Set theta's estimate: median + factor * MAD of the estimates, corrected for noise.

    Sampling noise makes the MAD of the estimates larger than that of the means. Rewards of 0 and 1
    give estimates on a lattice, where the MAD jumps; each estimate is moved within its own step,
    which smooths the jumps. Arms without a reward do not count.
    """
    omega = state.omega
    values = state.scratch
    centre = state.centre
    estimate = state.estimate[side]
    guesses = state.guesses[side]
    bounds = state.bounds[side]
    count = 0
    for j in range(state.sampled[SIZE]):
        i = omega[j]
        if state.pulls[i] > 0:
            share = j * _GOLDEN % 1.0
            centre[count] = estimate[i] + spec.lattice * (share - 0.5) / state.pulls[i]
            count += 1
    if count == 0:
        return
    rank = (count + 1) // 2
    median = kth_largest(centre, count, rank, guesses[GUESS_MEAN], state.work)
    for j in range(count):
        values[j] = abs(centre[j] - median)
    mad = kth_largest(values, count, rank, guesses[GUESS_AD], state.work)
    guesses[GUESS_MEAN] = median
    guesses[GUESS_AD] = mad
    count = 0
    for j in range(state.sampled[SIZE]):
        i = omega[j]
        if state.pulls[i] > 0:
            values[count] = reward_variance(spec, state, i) / state.pulls[i]
            count += 1
    noise = kth_largest(values, count, rank, guesses[GUESS_NOISE], state.work)
    guesses[GUESS_NOISE] = noise
    square = mad * mad - CORRECTION * _NORMAL_MAD * noise
    mad = math.sqrt(max(square, (SMALLEST_MAD * mad) ** 2))
    bounds[MEDIAN] = median
    theta = median + state.factors[side] * mad
    bounds[THRESHOLD] = min(max(theta, bounds[THRESHOLD_LOWER]), bounds[THRESHOLD_UPPER])


@part()
def shrunken(state: State, side: int, arm: int) -> float:
    """An arm's estimate, drawn slightly towards the median."""
    pulls = state.pulls[arm]
    total = pulls * state.estimate[side, arm] + SHRINKAGE * state.bounds[side, MEDIAN]
    return float(total / (pulls + SHRINKAGE))
