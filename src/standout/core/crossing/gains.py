"""The gain of a batch: the evidence that it adds against each point of an arm's grid.

Before the batch the arm has N rewards, with estimate y. For a point p below y the bet is that p is
too low; for a point above y it is that p is too high. The bet is the likelihood ratio of this mean
against p:

    p + z / (z + KAPPA) (y - p),      z = N (y - p)^2 / variance.

The mean is known before the batch. So the bet is a supermartingale at each mean of at most p (at
least p):

- Gaussian (and sub-Gaussian) noise: exp(b (l e - l^2 / 2)), e = (batch mean - p) / sigma.
- Rewards in [0, 1]: (q / p)^s ((1 - q) / (1 - p))^(b - s) for s successes of b, where q is the mean
  above. It is at most linear in each reward, so only the mean matters.
- Rewards in [0, 1] of small variance: the stake is l per unit of x - p, and
  log(1 + l (x - p)) >= l (x - p) - psi l^2 (x - p)^2, where psi = (-log(1 - c) - c) / c^2, c = l p.
"""

from __future__ import annotations

import math

from standout.core.compile import dispatch, part
from standout.core.crossing.grid import grid_place
from standout.core.crossing.record import POINTS
from standout.core.kinds import IntervalKind
from standout.core.state import Spec, State
from standout.core.typing import Floats

KAPPA = 6.0
"""Shrinkage: at a distance of 2.4 standard errors the bet's mean is half way to the estimate."""
_NEAR = 1e-9
"""The smallest distance of a probability from 0 and 1."""
_MOST_STAKE = 0.5
"""The largest share of the capital that one bounded reward can lose."""


@part()
def squares_of(spec: Spec, state: State, arm: int) -> float:
    """The sum of squares of an arm's rewards, scaled to [0, 1]; 0 if it is not stored."""
    count = state.moments.shape[1]
    return float(state.moments[arm, count - 1]) if count > 1 else 0.0


@part()
def _gaussian(
    spec: Spec, state: State, arm: int, low: float, step: float, pulls: float, total: float,
    squares: float, count: float, gained: float, gained_squares: float,
    too_low: Floats, too_high: Floats,
) -> None:  # fmt: skip
    mean = total / pulls
    scale = 1.0 / spec.sigma
    weight = pulls * scale * scale
    for j in range(POINTS):
        p = low + grid_place(j) * step
        off = mean - p
        z = weight * off * off
        stake = off * scale * z / (z + KAPPA)
        value = stake * (scale * (gained - count * p) - 0.5 * count * stake)
        if off > 0.0:
            too_low[j] += value
        else:
            too_high[j] += value


@part()
def _bernoulli(
    spec: Spec, state: State, arm: int, low: float, step: float, pulls: float, total: float,
    squares: float, count: float, gained: float, gained_squares: float,
    too_low: Floats, too_high: Floats,
) -> None:  # fmt: skip
    scale = 1.0 / (spec.high - spec.low)
    origin = state.origin[arm] - spec.low
    mean = (min(max((total + pulls * origin) * scale, 0.0), pulls) + 0.5) / (pulls + 1.0)
    ones = min(max((gained + count * origin) * scale, 0.0), count)
    variance = mean * (1.0 - mean)
    for j in range(POINTS):
        p = (origin + low + grid_place(j) * step) * scale
        if p >= 1.0 - _NEAR if mean > p else p <= _NEAR:
            continue
        p = min(max(p, _NEAR), 1.0 - _NEAR)
        off = mean - p
        z = pulls * off * off / max(variance, p * (1.0 - p))
        other = p + z / (z + KAPPA) * off
        value = ones * math.log(other / p) + (count - ones) * math.log((1.0 - other) / (1.0 - p))
        if off > 0.0:
            too_low[j] += value
        else:
            too_high[j] += value


@part()
def _bounded(
    spec: Spec, state: State, arm: int, low: float, step: float, pulls: float, total: float,
    squares: float, count: float, gained: float, gained_squares: float,
    too_low: Floats, too_high: Floats,
) -> None:  # fmt: skip
    scale = 1.0 / (spec.high - spec.low)
    origin = state.origin[arm] - spec.low
    total = min(max((total + pulls * origin) * scale, 0.0), pulls)
    ones = min(max((gained + count * origin) * scale, 0.0), count)
    mean = (total + 0.5) / (pulls + 1.0)
    variance = max(0.0, squares - total * total / pulls) / (pulls + 1.0) + 0.25 / (pulls + 1.0)
    for j in range(POINTS):
        p = (origin + low + grid_place(j) * step) * scale
        if p >= 1.0 if mean > p else p <= 0.0:
            continue
        p = min(max(p, 0.0), 1.0)
        if mean > p:
            too_low[j] += _stake(mean - p, p, pulls, variance, count, ones, gained_squares)
        else:
            # The same bet on 1 - x.
            others = count - 2.0 * ones + gained_squares
            too_high[j] += _stake(p - mean, 1.0 - p, pulls, variance, count, count - ones, others)


@part()
def _stake(
    off: float, p: float, pulls: float, variance: float, count: float, ones: float, squares: float
) -> float:
    """The gain of a batch for the bet on a mean of p + off against p."""
    z = pulls * off * off / variance
    stake = off / (variance + off * off) * z / (z + KAPPA)
    if stake * p > _MOST_STAKE:
        stake = _MOST_STAKE / p
    c = stake * p
    psi = 0.5 + c if c < 1e-3 else (-math.log1p(-c) - c) / (c * c)
    around = max(0.0, squares - 2.0 * p * ones + count * p * p)
    return stake * (ones - count * p) - psi * stake * stake * around


@part()
def _spread_gaussian(
    spec: Spec, state: State, arm: int, pulls: float, total: float, q: float
) -> float:
    return float(spec.sigma)


@part()
def _spread_bernoulli(
    spec: Spec, state: State, arm: int, pulls: float, total: float, q: float
) -> float:
    width = spec.high - spec.low
    ones = (total + pulls * (state.origin[arm] - spec.low)) / width
    mean = (min(max(ones, 0.0), pulls) + 0.5) / (pulls + 1.0)
    return float(width * math.sqrt(mean * (1.0 - mean)))


@part()
def _spread_bounded(
    spec: Spec, state: State, arm: int, pulls: float, total: float, q: float
) -> float:
    width = spec.high - spec.low
    ones = (total + pulls * (state.origin[arm] - spec.low)) / width
    return float(width * math.sqrt((max(0.0, q - ones * ones / pulls) + 0.25) / (pulls + 1.0)))


@part()
def _no_gain(
    spec: Spec, state: State, arm: int, low: float, step: float, pulls: float, total: float,
    squares: float, count: float, gained: float, gained_squares: float,
    too_low: Floats, too_high: Floats,
) -> None:  # fmt: skip
    pass


@part()
def _no_spread(spec: Spec, state: State, arm: int, pulls: float, total: float, q: float) -> float:
    return 1.0


GAINS = {
    IntervalKind.MIXTURE: (_gaussian, _spread_gaussian),
    IntervalKind.BERNOULLI: (_bernoulli, _spread_bernoulli),
    IntervalKind.BETTING: (_bounded, _spread_bounded),
}
add_gain = dispatch(lambda spec: GAINS.get(spec.interval, (_no_gain, _no_spread))[0])
"""Add the gain of a batch to an arm's two rows of evidence."""
spread_of = dispatch(lambda spec: GAINS.get(spec.interval, (_no_gain, _no_spread))[1])
"""The standard deviation of a reward, from (pulls, sum, squares), which sets the arm's grid."""
