"""Draws of all means, the threshold of each draw, and each arm's chance to be beyond it.

An arm stands out if and only if it exceeds the threshold that would hold if its own mean were
infinite. (Let the factor be at least 1. Above that threshold, the arm is farther from the median
than the MAD, and moving it farther changes neither. Below, either the same holds and the arm is not
above the threshold, or its distance from the median is at most the MAD, so it is not above the
threshold either.) This threshold does not depend on the arm's mean. So the tail probability of the
mean, given its group, is averaged over draws, which is more accurate than counting draws. Moving an
arm up from below changes a rank by one, so there are two medians per draw and two MADs for each.
"""

from __future__ import annotations

import math

import numpy as np

from standout.core.compile import part
from standout.core.order import quickselect
from standout.core.population.fit import FEWEST, log_erfcx, log_gamma, pretended, square_error
from standout.core.population.population import Population
from standout.core.typing import Floats

CERTAIN = 8.0
"""Standard deviations beyond which the tail of a beta distribution is taken for 0 or 1."""
MOST_TERMS = 300
ENOUGH = 1e-6
TINY = 1e-300


@part()
def draw_means(population: Population, used: int, rng: np.random.Generator) -> None:
    """Draw the mean of each of the first `used` arms, given its group."""
    for arm in range(used):
        slot = population.group[arm]
        if population.is_binary:
            population.means[arm] = _draw_share(population, arm, slot, rng)
        else:
            population.means[arm] = _draw_normal(population, arm, slot, rng)


@part()
def _draw_share(population: Population, arm: int, slot: int, rng: np.random.Generator) -> float:
    if population.noise[arm] == 0.0:
        return float(math.sin(population.place[arm]) ** 2)
    share = math.sin(population.centre[slot]) ** 2
    if population.width[slot] == 0.0:
        return share
    if population.slope[slot] != 0:
        return math.sin(_draw_on_slope(population, arm, slot, rng)) ** 2
    total = pretended(population, slot)
    one = rng.standard_gamma(max(share * total, FEWEST) + population.ones[arm])
    zero = rng.standard_gamma(max((1.0 - share) * total, FEWEST) + population.zeros[arm])
    return float(one / (one + zero)) if one + zero > 0.0 else share


@part()
def _draw_normal(population: Population, arm: int, slot: int, rng: np.random.Generator) -> float:
    if population.noise[arm] == 0.0:
        return float(population.place[arm])
    if population.slope[slot] != 0:
        return _draw_on_slope(population, arm, slot, rng)
    middle, deviation = _normal(population, arm, slot)
    if deviation == 0.0:
        return middle
    drawn = middle + deviation * rng.standard_normal()
    return float(min(max(drawn, population.low), population.high))


@part()
def _on_slope(population: Population, arm: int, slot: int) -> tuple[float, float]:
    """The normal distribution that, above 0, is that of an arm's distance from a slope's edge."""
    variance = square_error(population, arm)
    off = population.slope[slot] * (population.place[arm] - population.centre[slot])
    return off - variance / population.width[slot], math.sqrt(variance)


@part()
def _draw_on_slope(population: Population, arm: int, slot: int, rng: np.random.Generator) -> float:
    """Draw the place of an arm's mean, given that its group is a slope."""
    if square_error(population, arm) == math.inf:
        off = population.width[slot] * rng.standard_exponential()
    else:
        middle, deviation = _on_slope(population, arm, slot)
        off = middle + deviation * _normal_above(-middle / deviation, rng)
    drawn = population.centre[slot] + population.slope[slot] * off
    return float(min(max(drawn, population.low), population.high))


@part()
def _normal_above(bar: float, rng: np.random.Generator) -> float:
    """A standard normal variable that is known to be above a bar (Robert 1995)."""
    if bar < 0.5:
        while True:
            drawn = rng.standard_normal()
            if drawn >= bar:
                return drawn
    rate = 0.5 * (bar + math.sqrt(bar * bar + 4.0))
    while True:
        drawn = bar + rng.standard_exponential() / rate
        if rng.random() <= math.exp(-0.5 * (drawn - rate) ** 2):
            return drawn


@part()
def _slope_tail(population: Population, arm: int, slot: int, bar: float) -> float:
    """P(distance from the edge > bar) of an arm on a slope."""
    if bar <= 0.0:
        return 1.0
    if square_error(population, arm) == math.inf:
        return math.exp(-bar / population.width[slot])
    middle, deviation = _on_slope(population, arm, slot)
    far = (bar - middle) / deviation * math.sqrt(0.5)
    edge = -middle / deviation * math.sqrt(0.5)
    return math.exp(min(log_erfcx(far) - far * far - log_erfcx(edge) + edge * edge, 0.0))


@part()
def _normal(population: Population, arm: int, slot: int) -> tuple[float, float]:
    """The mean and standard deviation of an arm's mean, given its group."""
    centre = population.centre[slot]
    square = population.width[slot] ** 2
    variance = population.noise[arm]
    if variance == np.inf or square == 0.0:
        return centre, population.width[slot]
    part_of_arm = square / (square + variance)
    middle = centre + part_of_arm * (population.place[arm] - centre)
    return middle, math.sqrt(part_of_arm * variance)


@part()
def draw_noise(population: Population, used: int, rng: np.random.Generator) -> None:
    """Draw the variance of each estimate of unknown scale, given the arm's mean."""
    for arm in range(used):
        freedom = population.tail[arm]
        variance = population.variance[arm]
        if freedom < np.inf and 0.0 < variance < np.inf:
            off = population.place[arm] - population.means[arm]
            rate = 0.5 * (freedom + off * off / variance)
            population.noise[arm] = variance * rate / rng.standard_gamma(0.5 * (freedom + 1.0))


@part()
def judge(population: Population, factor: float, sign: float, tails: Floats) -> float:
    """Add each arm's chance to lie beyond its threshold to `tails`; return the draw's threshold.

    All means must have been drawn; `sign` is -1 for low outliers.
    """
    means = population.means
    work = population.work
    n = len(means)
    rank = (n + 1) // 2
    for i in range(n):
        work[i] = sign * means[i]
    median = quickselect(work, n, rank)
    above = _next_larger(work, rank)
    for i in range(n):
        work[i] = abs(sign * means[i] - median)
    mad = quickselect(work, n, rank)
    larger = _next_larger(work, rank)
    for i in range(n):
        work[i] = abs(sign * means[i] - above)
    moved_mad = quickselect(work, n, rank)
    moved_larger = _next_larger(work, rank)
    theta = median + factor * mad
    for i in range(n):
        mean = sign * means[i]
        if factor < 1.0:
            tails[i] += mean > theta
            continue
        if mean > median:
            own = theta if mean - median > mad else median + factor * larger
        else:
            own = above + factor * (moved_mad if abs(mean - above) > moved_mad else moved_larger)
        tails[i] += tail(population, i, sign, own)
    return sign * theta


@part()
def _next_larger(work: Floats, rank: int) -> float:
    """The (rank - 1)-th largest, once the `rank`-th is selected; infinite before the first."""
    found = np.inf
    for j in range(rank - 1):
        found = min(found, work[j])
    return float(found)


@part()
def tail(population: Population, arm: int, sign: float, bar: float) -> float:
    """P(sign * mean > bar) of an arm, given its group."""
    slot = population.group[arm]
    if population.noise[arm] == 0.0 or population.width[slot] == 0.0:
        return 1.0 if sign * population.means[arm] > bar else 0.0
    if population.slope[slot] != 0:
        place = sign * bar
        if population.is_binary:
            place = math.asin(math.sqrt(min(max(place, 0.0), 1.0)))
        if not population.low < place < population.high:
            return 1.0 if (place <= population.low) == (sign > 0.0) else 0.0
        slope = population.slope[slot]
        beyond = _slope_tail(population, arm, slot, slope * (place - population.centre[slot]))
        return beyond if slope * sign > 0.0 else 1.0 - beyond
    if population.is_binary:
        share = math.sin(population.centre[slot]) ** 2
        total = pretended(population, slot)
        ones = max(share * total, FEWEST) + population.ones[arm]
        zeros = max((1.0 - share) * total, FEWEST) + population.zeros[arm]
        above = beta_tail(ones, zeros, sign * bar)
        return above if sign > 0.0 else 1.0 - above
    middle, deviation = _normal(population, arm, slot)
    if not sign * population.low <= bar <= sign * population.high and sign > 0.0:
        return 0.0 if bar > population.high else 1.0
    return 0.5 * math.erfc((bar - sign * middle) / deviation * math.sqrt(0.5))


@part()
def beta_tail(ones: float, zeros: float, bar: float) -> float:
    """P(X > bar) of a beta distribution, by Lentz's continued fraction, accurate to about 1e-7."""
    if bar <= 0.0:
        return 1.0
    if bar >= 1.0:
        return 0.0
    middle = ones / (ones + zeros)
    deviation = math.sqrt(middle * (1.0 - middle) / (ones + zeros + 1.0))
    if abs(bar - middle) > CERTAIN * deviation and min(ones, zeros) > 1.0:
        return 0.0 if bar > middle else 1.0
    scale = log_gamma(ones + zeros) - log_gamma(ones) - log_gamma(zeros)
    front = math.exp(scale + ones * math.log(bar) + zeros * math.log1p(-bar))
    if bar < (ones + 1.0) / (ones + zeros + 2.0):
        return max(1.0 - front * _fraction(ones, zeros, bar) / ones, 0.0)
    return min(front * _fraction(zeros, ones, 1.0 - bar) / zeros, 1.0)


@part()
def _fraction(a: float, b: float, x: float) -> float:
    """The continued fraction of the incomplete beta function."""
    c = 1.0
    d = 1.0 / _not_zero(1.0 - (a + b) * x / (a + 1.0))
    found = d
    for m in range(1, MOST_TERMS):
        even = m * (b - m) * x / ((a + 2 * m - 1.0) * (a + 2 * m))
        d = 1.0 / _not_zero(1.0 + even * d)
        c = _not_zero(1.0 + even / c)
        found *= d * c
        odd = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1.0))
        d = 1.0 / _not_zero(1.0 + odd * d)
        c = _not_zero(1.0 + odd / c)
        found *= d * c
        if abs(d * c - 1.0) < ENOUGH:
            break
    return found


@part()
def _not_zero(value: float) -> float:
    return value if abs(value) > TINY else TINY
