"""Do the rewards scatter as the noise family says?

The tests for a known scale are proved for every choice of pulls and every stopping time. For any
means, the sum of squares around an arm's own average is at most that around its mean. The latter
is a sum of terms with a known bound, regardless of how the next arm is chosen. So adaptive
sampling needs no correction.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.analysis.checks.distributions import (
    shifted_chi_square_tail,
    student_quantiles,
    student_tail,
)
from standout.analysis.checks.ranks import ALPHA, Arms
from standout.core.typing import Floats, Ints

CLOSE = 1.02
"""The assumed scale may be too small by this factor without a warning."""
BETS = (0.02, 0.2)
"""Shares put at stake against `standard deviation at most sigma`."""
SLOPES = 0.5 * (1 - np.geomspace(0.998, 0.02, 24))
"""Exponents for the squares of sub-Gaussian rewards; their limit is 1/2."""
BINS = 10
NEAR = 3.0
"""Standard deviations within which a value is inconspicuous; one in 400 or more is beyond."""
TOO_SMALL = 0.02
"""Shares of the bins may be off by about this part without a warning."""


@dataclass(frozen=True, eq=False)
class Spread:
    """How rewards scatter, compared with the assumption."""

    p: float
    ratio: float
    """Observed over assumed variance, all arms together; NaN if no scale is assumed."""
    arms: Ints
    """Positions of the arms that scatter too much on their own."""
    far: int
    """Rewards farther out than the family allows."""


def gaussian_spread(arms: Arms, sigma: float) -> Spread:
    """Gaussian or sub-Gaussian rewards: variance at most sigma squared, and no far ones.

    E exp(s (X - mean)^2 / sigma^2) <= (1 - 2s)^(-1/2): the product over all
    rewards, at each of the `SLOPES`, is large with a probability that Ville's
    inequality bounds.
    """
    off = arms.centred(arms.reward) / (CLOSE * sigma)
    squares = arms.sums(off**2)
    together = _sub_gaussian(squares.sum(), float(arms.number.sum()))
    each = _sub_gaussian(squares, arms.number.astype(np.float64))
    p_each = arms.n_arms * float(each.min())
    far = _far(arms, off)
    p = min(1.0, 3 * min(float(together), p_each, ALPHA / 3 if far else 1.0))
    ratio = CLOSE**2 * float(squares.sum() / (arms.number - 1).sum())
    return Spread(p, ratio, arms.kept[3 * arms.n_arms * each <= ALPHA], far)


def _sub_gaussian(squares: Floats | float, number: Floats | float) -> Floats:
    """An upper bound on the probability of such a sum of squares at any time."""
    wealth = [s * np.asarray(squares) + np.asarray(number) / 2 * math.log1p(-2 * s) for s in SLOPES]
    bound: Floats = np.minimum(1.0, len(SLOPES) * np.exp(-np.maximum.reduce(wealth)))
    return bound


def _far(arms: Arms, off: Floats) -> int:
    """Rewards that no sub-Gaussian arm produces, at level ALPHA / 3 over any number of pulls.

    Half of the level is for the reward's distance from the mean, half for the average's. Time t
    gets the share 1 / (t (t + 1)) of it.
    """
    total = len(off)
    reach = math.sqrt(2 * math.log(12 * total * (total + 1) / ALPHA))
    return int(np.count_nonzero(np.abs(off) > reach * (1 + 1 / np.sqrt(arms.number[arms.arm]))))


def heavy_spread(arms: Arms, sigma: float) -> Spread:
    """Any rewards with a standard deviation of at most sigma.

    A gambler who bets on squares above sigma^2 has an expected capital of at most 1 at any time,
    for the true means. The means that minimise the capital stand for the true ones.
    """
    wealth = np.stack([_least_wealth(arms, CLOSE * sigma, bet) for bet in BETS])
    together = float(np.logaddexp.reduce(wealth.sum(axis=1))) - math.log(len(BETS))
    single = np.logaddexp.reduce(wealth, axis=0) - math.log(len(BETS))
    each = np.exp(-np.maximum(single, 0.0))
    p = min(1.0, 2 * min(math.exp(-max(together, 0.0)), arms.n_arms * float(each.min())))
    off = arms.centred(arms.reward) / sigma
    ratio = float((off**2).sum() / (arms.number - 1).sum())
    return Spread(p, ratio, arms.kept[2 * arms.n_arms * each <= ALPHA], 0)


def _least_wealth(arms: Arms, sigma: float, bet: float, steps: int = 8) -> Floats:
    """Logarithm of the capital per arm, at the mean that minimises it.

    Averages with weights 1 / (1 - bet + bet z^2) never raise it.
    """
    mean = _medians(arms)
    for _ in range(steps):
        z = (arms.reward - mean[arms.arm]) / sigma
        weight = 1 / (1 - bet + bet * z**2)
        mean = arms.sums(weight * arms.reward) / arms.sums(weight)
    z = (arms.reward - mean[arms.arm]) / sigma
    return arms.sums(np.log1p(bet * (z**2 - 1)))


def _medians(arms: Arms) -> Floats:
    order = np.lexsort((arms.reward, arms.arm))
    first = np.cumsum(arms.number) - arms.number
    middle: Floats = arms.reward[order[first + arms.number // 2]]
    return middle


def gaussian_shape(arms: Arms) -> Spread:
    """Gaussian rewards, each arm with its own unknown scale.

    The distance of a reward from the others of its arm, in their standard deviations, follows
    Student's t exactly. The tenths of that distribution should be hit equally often, and no value
    should be extreme.
    """
    # The smallest s^2 of the others, by rounding.
    n = arms.number[arms.arm].astype(np.float64)
    off = arms.centred(arms.reward)
    squares = arms.sums(off**2)[arms.arm]
    rest = np.maximum(squares - off**2 * n / (n - 1), 1e-12 * squares)
    student = off * np.sqrt((n - 2) * n / ((n - 1) * rest))
    hits = _hits(arms, student)
    expected = len(off) / BINS
    distance = float(((hits - expected) ** 2 / expected).sum())
    p_shape = shifted_chi_square_tail(distance, BINS - 1, len(off) * TOO_SMALL**2)
    extreme = _extreme(arms, np.abs(student)) * len(off)
    far = int(np.count_nonzero(2 * extreme <= ALPHA))
    p = min(1.0, 2 * min(p_shape, float(extreme.min())))
    return Spread(p, math.nan, np.zeros(0, dtype=np.int64), far)


def _hits(arms: Arms, student: Floats) -> Ints:
    """How many values lie in each tenth of their arm's distribution."""
    sizes, kind = np.unique(arms.number, return_inverse=True)
    above = student_quantiles(np.arange(BINS // 2 - 1, 0, -1) / BINS, sizes - 2)
    edges = np.concatenate([-above[:, ::-1], np.zeros((len(sizes), 1)), above], axis=1)
    own = kind[arms.arm]
    tenth = np.zeros(len(student), dtype=np.int64)
    for k in range(BINS - 1):
        tenth += student >= edges[own, k]
    return np.bincount(tenth, minlength=BINS)


def _extreme(arms: Arms, distance: Floats) -> Floats:
    """Two-sided tail probabilities of the values that could be extreme.

    These are each arm's farthest value, and all values beyond `NEAR`.
    """
    farthest = np.zeros(arms.n_arms)
    np.maximum.at(farthest, arms.arm, distance)
    looked_at = np.flatnonzero(distance >= np.minimum(farthest[arms.arm], NEAR))
    freedom = arms.number[arms.arm[looked_at]].astype(np.float64) - 2
    return 2 * student_tail(distance[looked_at], freedom)
