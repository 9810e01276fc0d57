"""Do an arm's rewards depend on their order: on time, on delay, on the previous reward?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.analysis.checks.distributions import normal_tail
from standout.analysis.checks.permutations import Reorderings, Statistic, reordered_p
from standout.analysis.checks.ranks import ALIKE, ALPHA, LEEWAY, Arms, sums_by, two_sided
from standout.core.typing import Flags, Floats, Ints

_NONE: Ints = np.zeros(0, dtype=np.int64)


@dataclass(frozen=True, eq=False)
class Trend:
    """Whether rewards depend on another quantity, such as time, within arms."""

    p: float
    """An upper bound on the probability of such data by chance."""
    z: float
    """All arms together, in standard errors."""
    change: float
    """The change of the reward over the range of the other quantity."""
    error: float
    arms: Ints
    """Positions of the arms that show it on their own."""


@dataclass(frozen=True, eq=False)
class _Weights:
    """Weights of the scores: `varied` for all arms together, `steps` for each arm alone.

    Both have mean 0 in each arm. There `steps` has a sum of squares of 1, and `spread` is that of
    `varied`. `steps` is None if arms are not tested alone.
    """

    varied: Floats
    spread: Floats
    steps: Floats | None

    @property
    def total(self) -> float:
        return math.sqrt(float(self.spread.sum()))

    def p(self, z: float, single: Floats | None) -> float:
        """The formula: all arms together, or one alone (Bonferroni)."""
        p = float(two_sided(abs(z)))
        if single is None:
            return p
        alone = len(single) * float(two_sided(float(np.abs(single).max())))
        return min(1.0, 2 * min(p, alone))


def trend_of(arms: Arms, other: Floats, *, alone: bool = False, ignored: float = 0.0) -> Trend:
    """Do rewards rise or fall with `other` (one value per sorted reward), arm by arm?

    The scores' sum of products with `other` has variance `sum of squares of other` under
    reordering. With `alone`, each arm is also tested alone, in its own order. A correlation of at
    most `ignored` does not count.
    """
    weights = _weights(arms, other, alone)
    if weights.total == 0:
        return Trend(1.0, 0.0, 0.0, math.inf, _NONE)
    z = float((weights.varied * arms.score).sum()) / weights.total
    room = LEEWAY * float(np.sqrt(weights.spread).sum()) / weights.total
    room += ignored * math.sqrt(len(arms.arm))
    beyond, single, found = max(0.0, abs(z) - room), None, _NONE
    if weights.steps is not None:
        single = np.maximum(0.0, np.abs(arms.sums(weights.steps * arms.score)) - LEEWAY)
        found = arms.kept[np.flatnonzero(2 * arms.n_arms * two_sided(single) <= ALPHA)]
    formula = weights.p(beyond, single)
    p = reordered_p(arms, formula, lambda orders: _trend_in(orders, arms, weights))
    change, error = _slope(arms, weights.varied, float(np.ptp(other)))
    return Trend(p, z, change, error, found)


def _weights(arms: Arms, other: Floats, alone: bool) -> _Weights:
    varied = arms.centred(other)
    steps = None
    if alone:
        steps = arms.centred(arms.own_order())
        steps /= np.sqrt(arms.sums(steps**2))[arms.arm]
    return _Weights(varied, arms.sums(varied**2), steps)


def _trend_in(orders: Reorderings, arms: Arms, weights: _Weights) -> Statistic:
    """The trend of other orders."""
    drawn = np.flatnonzero(orders.drawn)
    root, both = np.sqrt(weights.spread[drawn]), np.zeros(len(drawn))
    if weights.steps is not None:
        both = arms.sums(weights.varied * weights.steps)[drawn]
    rest = np.sqrt(np.maximum(0.0, root**2 - both**2))

    def p_of(slots: Ints) -> float:
        total = float((orders.value * weights.varied[slots]).sum())
        one, two = orders.rng.normal(size=(2, len(drawn)))
        total += float((both * one + rest * two).sum())
        if weights.steps is None:
            return weights.p(total / weights.total, None)
        single = sums_by(orders.arm, orders.value * weights.steps[slots], arms.n_arms)
        single[drawn] = one
        return weights.p(total / weights.total, single)

    return p_of


def _slope(arms: Arms, varied: Floats, span: float) -> tuple[float, float]:
    """Least squares over all arms, each with its own mean: change over the span, and its error."""
    off = arms.centred(arms.reward)
    squares = float((varied**2).sum())
    slope = float((varied * off).sum()) / squares
    variance = arms.sums(off**2) / (arms.number - 1)
    error = math.sqrt(float((arms.sums(varied**2) * variance).sum())) / squares
    return slope * span, error * span


def neighbours(arms: Arms) -> tuple[float, float]:
    """The likeness of consecutive rewards of an arm: p-value and correlation.

    The sum of products of neighbours has a known mean and variance over all reorderings of an arm's
    rewards. Only likeness beyond `ALIKE` counts.
    """
    n = arms.number.astype(np.float64)
    same = arms.arm[1:] == arms.arm[:-1]
    products = np.where(same, arms.score[1:] * arms.score[:-1], 0.0)
    mean = arms.sums(arms.score**2) / n
    pairs = float((n - 1).sum())
    correlation = (float(products.sum()) + float(mean.sum())) / pairs
    variance = neighbour_variance(arms)
    p = float(normal_tail((correlation - ALIKE) * pairs / math.sqrt(float(variance.sum()))))
    return (
        reordered_p(arms, p, lambda orders: _neighbours_in(orders, arms, same, variance)),
        correlation,
    )


def neighbour_variance(arms: Arms) -> Floats:
    """Variance of each arm's sum of products of neighbours over all its reorderings."""
    n = arms.number.astype(np.float64)
    two, four = arms.sums(arms.score**2), arms.sums(arms.score**4)
    pairs = (two**2 - four) / (n * (n - 1))
    chains = (2 * four - two**2) / (n * (n - 1) * (n - 2))
    apart = (3 * two**2 - 6 * four) / (n * (n - 1) * (n - 2) * (n - 3))
    square = (n - 1) * pairs + 2 * (n - 2) * chains + (n - 2) * (n - 3) * apart
    variance: Floats = square - (two / n) ** 2
    return variance


def _neighbours_in(orders: Reorderings, arms: Arms, same: Flags, variance: Floats) -> Statistic:
    """The likeness of neighbours in other orders.

    A score is its arm's most frequent score plus a deviation that is mostly 0. So the sum of
    products consists of a sum over the deviations that are not 0, a sum over the deviations at an
    arm's ends, and a constant.
    """
    n, usual = arms.number.astype(np.float64), orders.usual
    same_next = np.append(same, False)
    at_end = 2.0 - same_next - np.append(False, same)
    whole = sums_by(orders.arm, orders.value, arms.n_arms)
    fixed = 2 * usual * whole + (n - 1) * usual**2 + arms.sums(arms.score**2) / n
    constant = float(fixed[~orders.drawn].sum())
    scale = math.sqrt(float(variance.sum()))
    spread = math.sqrt(float(variance[orders.drawn].sum()))
    lying = np.zeros(len(arms.arm) + 1)

    def p_of(slots: Ints) -> float:
        lying[slots] = orders.value
        other = lying[slots + 1] * same_next[slots] - usual[orders.arm] * at_end[slots]
        total = constant + float((orders.value * other).sum())
        lying[slots] = 0.0
        return float(normal_tail((total + spread * orders.rng.normal()) / scale))

    return p_of
