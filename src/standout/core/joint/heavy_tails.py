"""A bet on the mean of rewards with a bounded standard deviation, from the sums of the interval.

The interval (`standout.core.intervals.heavy`) keeps, for a grid of strengths l, the sum of
psi(l (X_t - c_t)), and the sums of c_t and c_t^2. c_t is a centre that the arm's earlier rewards
determine. For each l there are two bets against a mean of x,

    too low:  exp(sum psi(l (X_t - c_t))) / prod D_t(x),     too high: the same with -l,
    D_t(x) = min over p >= x of  1 + l (p - c_t) + l^2 (sigma^2 + (p - c_t)^2) / 2.

Validity. Let x be the true mean, whose rewards have a standard deviation of at most sigma. For
p >= x the shifted reward X + p - x has a mean of p and the same variance. psi grows and exp(psi(u))
<= 1 + u + u^2 / 2. So, given *all* rewards of *all* arms so far,

    E exp(psi(l (X - c_t))) <= E exp(psi(l (X + p - x - c_t)))
                            <= 1 + l (p - c_t) + l^2 (sigma^2 + (p - c_t)^2) / 2,

for each p >= x, hence for the p that gives the minimum: c_t is known, and so is D_t(x). Each bet is
a supermartingale that starts at 1, whichever arm a rule pulls, and so is their average with fixed
weights. The first reward is only a centre and changes nothing.

What is computed is a lower bound of the average. By Jensen's inequality the product of D_t(x) is at
most the power of their mean, and the mean of minima is at most the minimum of the mean. With the
mean and the variance of the centres, c and V,

    prod D_t(x) <= (1 + u + (u^2 + l^2 (sigma^2 + V)) / 2)^s,      u = max(l (x - c), -1).

This grows with x, so "too low" falls with x, and "too high" grows. Below a guess of the mean only
the bets "too low" are counted, above it only the others, and on it the smaller of the two sums. So
the evidence grows away from the guess.

The weights are those of the normal mixture of `standout.core.intervals.mixture`: l sigma is the
size of a N(0, 1 / rho) variable, rounded to the nearest strengths of the grid, which halve.
"""

from __future__ import annotations

import math

from standout.core.compile import part
from standout.core.intervals.heavy import (
    CENTRE_SQUARES,
    CENTRES,
    GRID,
    grid_strength,
)
from standout.core.typing import Floats

WEIGHTS = (0.15, 0.35, 0.25, 0.15, 0.1)
"""The weights of strengths from 2 / sqrt(rho) to 1 / 8 / sqrt(rho), in units of 1 / sigma."""
LOG_WEIGHTS = tuple(math.log(0.5 * weight) for weight in WEIGHTS)
_NEGLIGIBLE = 6.0
"""Bets this many nats below the largest are left out."""


@part()
def heavy_evidence(
    pulls: int, sign: float, mean: float, moments: Floats, arm: int, alpha: float, sigma: float,
    rho: float,
) -> float:  # fmt: skip
    """A lower bound of the logarithm of the bets that `mean` is too low (sign 1) or too high (-1).

    `mean` is relative to the arm's origin, as the sums are.
    """
    used = pulls - 1
    if used <= 0:
        return 0.0
    centre = moments[arm, CENTRES] / used
    variance = sigma * sigma + max(0.0, moments[arm, CENTRE_SQUARES] / used - centre * centre)
    strength = grid_strength(0, alpha, sigma)
    first = math.floor(0.5 * math.log2(strength * strength * sigma * sigma * rho) - 0.5)
    first = min(max(first, 0), GRID - len(WEIGHTS))
    strength *= 0.5**first
    value = -math.inf
    others = 0.0
    for i in range(len(WEIGHTS)):
        u = max(sign * strength * (mean - centre), -1.0)
        most = 1.0 + u + 0.5 * (u * u + strength * strength * variance)
        bet = LOG_WEIGHTS[i] + sign * moments[arm, first + i] - used * math.log(most)
        if bet > value:
            others = (others + 1.0) * math.exp(value - bet) if value > -math.inf else 0.0
            value = bet
        elif bet > value - _NEGLIGIBLE:
            others += math.exp(bet - value)
        strength *= 0.5
    return value + math.log1p(others)
