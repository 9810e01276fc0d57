"""The arms at the boundaries of median, MAD and threshold (the LUCB sets of the paper)."""

from __future__ import annotations

import numpy as np

from standout.core.jit import kernel
from standout.core.select import kth_largest, next_larger
from standout.core.state import GUESS_AD, GUESS_MEAN, THRESHOLD, Spec, State
from standout.core.threshold import median_rank
from standout.core.typing import Floats, Ints


@kernel
def critical_pair(
    values: Floats,
    lower: Floats,
    upper: Floats,
    omega: Ints,
    rank: int,
    cut: float,
    rng: np.random.Generator,
) -> tuple[int, int]:
    """Smallest lower end among the `rank` largest values, largest upper end among the rest.

    `cut` is the `rank`-th largest of `values` over `omega`. Ties, of the values
    at the cut and of the ends, break at random; without ties no random number
    is drawn.
    """
    count = len(omega)
    above = 0
    tied = 0
    for j in range(count):
        value = values[omega[j]]
        above += value > cut
        tied += value == cut
    wanted = rank - above

    inside = -1
    outside = -1
    lowest = np.inf
    highest = -np.inf
    inside_ties = 1
    outside_ties = 1
    for j in range(count):
        i = omega[j]
        value = values[i]
        is_inside = value > cut
        if value == cut:
            if wanted == tied:
                is_inside = True
            elif wanted > 0:
                is_inside = rng.random() * tied < wanted
            tied -= 1
            wanted -= is_inside
        if is_inside:
            if lower[i] < lowest or inside < 0:
                lowest = lower[i]
                inside = i
                inside_ties = 1
            elif lower[i] == lowest:
                inside_ties += 1
                if rng.random() * inside_ties < 1.0:
                    inside = i
        elif upper[i] > highest or outside < 0:
            highest = upper[i]
            outside = i
            outside_ties = 1
        elif upper[i] == highest:
            outside_ties += 1
            if rng.random() * outside_ties < 1.0:
                outside = i
    return inside, outside


@kernel
def boundary_arms(
    state: State, side: int, rng: np.random.Generator
) -> tuple[int, int, int, int, int, int, int, int]:
    """The critical pairs at ranks m - 1 and m of the means, then of the deviations."""
    omega = state.omega
    count = len(omega)
    rank = median_rank(count)
    values = state.scratch
    guesses = state.guesses[side]

    estimate = state.estimate[side]
    lower = state.lower[side]
    upper = state.upper[side]
    for j in range(count):
        values[j] = estimate[omega[j]]
    cut = kth_largest(values, count, rank, guesses[GUESS_MEAN], state.work)
    guesses[GUESS_MEAN] = cut
    cut_before = next_larger(values, count, rank, cut)
    a, b = critical_pair(estimate, lower, upper, omega, rank - 1, cut_before, rng)
    c, d = critical_pair(estimate, lower, upper, omega, rank, cut, rng)

    lower = state.deviation_lower[side]
    upper = state.deviation_upper[side]
    centre = state.centre
    for j in range(count):
        i = omega[j]
        centre[i] = (lower[i] + upper[i]) / 2
        values[j] = centre[i]
    cut = kth_largest(values, count, rank, guesses[GUESS_AD], state.work)
    guesses[GUESS_AD] = cut
    cut_before = next_larger(values, count, rank, cut)
    e, f = critical_pair(centre, lower, upper, omega, rank - 1, cut_before, rng)
    g, h = critical_pair(centre, lower, upper, omega, rank, cut, rng)
    return a, b, c, d, e, f, g, h


@kernel
def threshold_arms(
    spec: Spec, state: State, side: int, rng: np.random.Generator
) -> tuple[int, int]:
    """Smallest lower end among the arms above theta's estimate, largest upper end below.

    -1 where there is no such arm. All arms count here, also those outside omega.
    """
    estimate = state.estimate[side]
    lower = state.lower[side]
    upper = state.upper[side]
    cut = state.bounds[side, THRESHOLD]
    inside = -1
    outside = -1
    inside_ties = 1
    outside_ties = 1
    for i in range(spec.n_arms):
        if estimate[i] > cut:
            if inside < 0 or lower[i] < lower[inside]:
                inside = i
                inside_ties = 1
            elif lower[i] == lower[inside]:
                inside_ties += 1
                if rng.random() * inside_ties < 1.0:
                    inside = i
        elif outside < 0 or upper[i] > upper[outside]:
            outside = i
            outside_ties = 1
        elif upper[i] == upper[outside]:
            outside_ties += 1
            if rng.random() * outside_ties < 1.0:
                outside = i
    return inside, outside
