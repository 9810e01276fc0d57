"""The arms at the boundaries of median, MAD and threshold (the LUCB sets of the paper)."""

from __future__ import annotations

import numpy as np

from standout.core.compile import part
from standout.core.state import GUESS_AD, GUESS_MEAN, THRESHOLD, Spec, State
from standout.core.threshold.algorithm1 import median_of, median_rank
from standout.core.typing import Floats, Ints


@part()
def _lower_of(
    best: int, least: float, ties: int, arm: int, value: float, rng: np.random.Generator
) -> tuple[int, float, int]:
    """The arm with the smaller value; ties (`ties` so far) break at random with equal chances."""
    if best < 0 or value < least:
        return arm, value, 1
    if value == least:
        ties += 1
        if rng.random() * ties < 1.0:
            best = arm
    return best, least, ties


@part()
def critical_pairs(
    values: Floats,
    lower: Floats,
    upper: Floats,
    omega: Ints,
    rank: int,
    cut: float,
    rng: np.random.Generator,
) -> tuple[int, int, int, int]:
    """The smallest lower end among the largest values, and the largest upper end among the rest.

    They are returned first for the `rank` - 1 largest, then for the `rank` largest values. `cut` is
    the `rank`-th largest of `values` over `omega`. Ties of values at the cut and of ends break at
    random; without ties no random number is drawn.
    """
    # Above and below the cut both ranks agree.
    above = 0
    tied = 0
    inside = -1
    outside = -1
    lowest = np.inf
    highest = np.inf
    inside_ties = 0
    outside_ties = 0
    for j in range(len(omega)):
        i = omega[j]
        value = values[i]
        above += value > cut
        tied += value == cut
        # Select without a branch: the processor cannot predict the side of a value.
        low = lower[i] if value > cut else np.inf
        high = -upper[i] if value < cut else np.inf
        if low <= lowest and low < np.inf:
            inside, lowest, inside_ties = _lower_of(inside, lowest, inside_ties, i, low, rng)
        if high <= highest and high < np.inf:
            outside, highest, outside_ties = _lower_of(outside, highest, outside_ties, i, high, rng)
    # Of the arms at the cut one more is inside for `rank` than for `rank` - 1.
    wanted = rank - above
    a, a_lowest, a_ties = inside, lowest, inside_ties
    b, b_highest, b_ties = outside, highest, outside_ties
    c, c_lowest, c_ties = inside, lowest, inside_ties
    d, d_highest, d_ties = outside, highest, outside_ties
    fewer = wanted - 1
    for j in range(len(omega)):
        i = omega[j]
        if values[i] != cut:
            continue
        if _is_picked(fewer, tied, rng):
            fewer -= 1
            a, a_lowest, a_ties = _lower_of(a, a_lowest, a_ties, i, lower[i], rng)
        else:
            b, b_highest, b_ties = _lower_of(b, b_highest, b_ties, i, -upper[i], rng)
        if _is_picked(wanted, tied, rng):
            wanted -= 1
            c, c_lowest, c_ties = _lower_of(c, c_lowest, c_ties, i, lower[i], rng)
        else:
            d, d_highest, d_ties = _lower_of(d, d_highest, d_ties, i, -upper[i], rng)
        tied -= 1
    return a, b, c, d


@part()
def _is_picked(wanted: int, left: int, rng: np.random.Generator) -> bool:
    """Whether the next of `left` equal arms is one of the `wanted` that count as inside."""
    if wanted == 0 or wanted == left:
        return wanted > 0
    return bool(rng.random() * left < wanted)


@part()
def boundary_arms(
    state: State, side: int, rng: np.random.Generator
) -> tuple[int, int, int, int, int, int, int, int]:
    """The critical pairs at ranks m - 1 and m of the means, then of the deviations."""
    omega = state.omega
    count = len(omega)
    rank = median_rank(count)
    guesses = state.guesses[side]

    estimate = state.estimate[side]
    lower = state.lower[side]
    upper = state.upper[side]
    cut = median_of(estimate, omega, guesses[GUESS_MEAN], state)
    guesses[GUESS_MEAN] = cut
    a, b, c, d = critical_pairs(estimate, lower, upper, omega, rank, cut, rng)

    lower = state.deviation_lower[side]
    upper = state.deviation_upper[side]
    centre = state.centre
    for j in range(count):
        i = omega[j]
        centre[i] = (lower[i] + upper[i]) / 2
        if not np.isfinite(centre[i]):  # An infinite interval has no middle: use the estimate.
            centre[i] = abs(estimate[i] - cut)
    cut = median_of(centre, omega, guesses[GUESS_AD], state)
    guesses[GUESS_AD] = cut
    e, f, g, h = critical_pairs(centre, lower, upper, omega, rank, cut, rng)
    return a, b, c, d, e, f, g, h


@part()
def threshold_arms(
    spec: Spec, state: State, side: int, rng: np.random.Generator
) -> tuple[int, int]:
    """The smallest lower end among arms above theta's estimate, the largest upper end below it.

    -1 if there is no such arm. All arms count, also those outside omega.
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
