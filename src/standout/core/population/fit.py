"""The marginal log likelihood of an arm's rewards in a group.

- In a bell of normal means, an estimate is normal; the bell's variance adds to its own.
- In a beta distribution, the counts of ones and zeros are beta-binomial. Its mean is
  p = sin(centre)^2; its pseudo-rewards are such that the angles have a spread of about `width`.
- On a slope, the estimate is the edge plus an exponential distance plus a normal error. For 0/1
  rewards, the likelihood is approximated by a normal density of the angle.
- In an atom, the estimate has only its own noise.
"""

from __future__ import annotations

import math

from standout.core.compile import hot_part, part
from standout.core.population.population import (
    BOTH,
    GAMMAS,
    LOG_ONE,
    LOG_ZERO,
    OF_ONES,
    OF_ZEROS,
    ONES,
    ZEROS,
    Population,
)

LEAST = 1e-300
"""The smallest probability of a one or a zero."""
FEWEST = 1e-6
"""The smallest pseudo-count of a beta distribution."""
_STIRLING = 7.0
_HALF_LOG_TWO_PI = 0.9189385332046727
_HALF_LOG_PI = 0.5723649429247001
_LOG_TWO = 0.6931471805599453
_SQRT_HALF = 0.7071067811865476


@part()
def log_gamma(x: float) -> float:
    """log Gamma(x) for x > 0, by Stirling's series: to 1e-9."""
    shift = 1.0
    while x < _STIRLING:
        shift *= x
        x += 1.0
    inverse = 1.0 / x
    square = inverse * inverse
    series = inverse * (1 / 12 - square * (1 / 360 - square * (1 / 1260 - square / 1680)))
    found = (x - 0.5) * math.log(x) - x + _HALF_LOG_TWO_PI + series
    return found if shift == 1.0 else found - math.log(shift)


@hot_part()
def pretended(population: Population, slot: int) -> float:
    """The pseudo-rewards (ones and zeros together) of a beta distribution of this width."""
    width = population.width[slot]
    return float(0.25 / (width * width) - 1.0)


@part()
def prepare(population: Population, slot: int) -> None:
    """Compute the terms that the fits of all arms to a group share."""
    if not population.is_binary:
        return
    cached = population.cached
    one = math.sin(population.centre[slot]) ** 2
    cached[LOG_ONE, slot] = math.log(max(one, LEAST))
    cached[LOG_ZERO, slot] = math.log(max(1.0 - one, LEAST))
    if population.width[slot] == 0.0 or population.slope[slot] != 0:
        return
    total = pretended(population, slot)
    ones = max(one * total, FEWEST)
    zeros = max((1.0 - one) * total, FEWEST)
    cached[OF_ONES, slot] = ones
    cached[OF_ZEROS, slot] = zeros
    if population.is_tabled:
        _rise(population, 3 * slot + ONES, ones)
        _rise(population, 3 * slot + ZEROS, zeros)
        _rise(population, 3 * slot + BOTH, ones + zeros)
    else:
        cached[GAMMAS, slot] = log_gamma(ones + zeros) - log_gamma(ones) - log_gamma(zeros)


@part()
def copy_prepared(population: Population, source: int, target: int) -> None:
    """Copy the prepared terms of an identical group."""
    if not population.is_binary:
        return
    for row in range(len(population.cached)):
        population.cached[row, target] = population.cached[row, source]
    if population.is_tabled and population.width[source] > 0.0 and population.slope[source] == 0:
        for row in range(3):
            rising = population.tables[3 * source + row]
            copied = population.tables[3 * target + row]
            for j in range(len(rising)):
                copied[j] = rising[j]


@part()
def _rise(population: Population, row: int, start: float) -> None:
    """log of start (start + 1) (start + 2) ... for every number of factors."""
    table = population.tables[row]
    for j in range(1, len(table)):
        table[j] = table[j - 1] + math.log(start + (j - 1))


@part()
def fit(population: Population, arm: int, slot: int) -> float:
    """The marginal log likelihood of an arm's rewards in a prepared group."""
    width = population.width[slot]
    if population.slope[slot] != 0:
        return _slope_fit(population, arm, slot)
    if population.is_binary:
        return _binary_fit(population, arm, slot)
    variance = max(population.noise[arm] + width * width, population.finest)
    if variance == math.inf:
        return 0.0
    off = population.place[arm] - population.centre[slot]
    return float(-0.5 * (math.log(variance) + off * off / variance))


@part()
def _slope_fit(population: Population, arm: int, slot: int) -> float:
    """An exponential distribution plus a normal error, in the constants of the other fits."""
    variance = square_error(population, arm)
    if variance == math.inf:
        return 0.0
    width = population.width[slot]
    deviation = math.sqrt(variance)
    off = population.slope[slot] * (population.place[arm] - population.centre[slot])
    found = log_erfcx((deviation / width - off / deviation) * _SQRT_HALF)
    found += _HALF_LOG_TWO_PI - _LOG_TWO - math.log(width) - 0.5 * off * off / variance
    if population.is_binary:
        found += population.peak[arm]
    return float(found)


@part()
def square_error(population: Population, arm: int) -> float:
    """The squared error of an arm's place, as a slope takes it."""
    if population.is_binary:
        rewards = population.ones[arm] + population.zeros[arm]
        return 0.25 / rewards if rewards > 0.0 else math.inf
    return float(max(population.noise[arm], population.finest))


@part()
def log_erfcx(x: float) -> float:
    """log(exp(x^2) erfc(x)): to 1e-7."""
    if x < -4.0:
        return x * x + _LOG_TWO
    if x < 10.0:
        return x * x + math.log(math.erfc(x))
    inverse = 0.5 / (x * x)
    series = 1.0 - inverse * (1.0 - 3.0 * inverse * (1.0 - 5.0 * inverse))
    return math.log(series / x) - _HALF_LOG_PI


@part()
def _binary_fit(population: Population, arm: int, slot: int) -> float:
    ones = population.ones[arm]
    zeros = population.zeros[arm]
    cached = population.cached
    if population.width[slot] == 0.0:
        return float(ones * cached[LOG_ONE, slot] + zeros * cached[LOG_ZERO, slot])
    if population.is_tabled:
        tables = population.tables
        first = 3 * slot
        both = tables[first + BOTH, int(ones + zeros)]
        return float(tables[first + ONES, int(ones)] + tables[first + ZEROS, int(zeros)] - both)
    a = cached[OF_ONES, slot]
    b = cached[OF_ZEROS, slot]
    both = log_gamma(a + b + ones + zeros)
    return float(cached[GAMMAS, slot] + log_gamma(a + ones) + log_gamma(b + zeros) - both)


@part()
def total_fit(population: Population, first: int, last: int, slot: int) -> float:
    """The sum over the arms `members[first:last]`."""
    total = 0.0
    for j in range(first, last):
        total += fit(population, population.members[j], slot)
    return total
