"""Exact probabilities by reordering: how often does chance look as extreme as the data?

In a faultless study, all orders of an arm's rewards are equally likely. So a check's p-value is
the share of random orders that look at least as extreme as the observed order, for any rewards:
rare successes, ties, few pulls. The formulas of the checks only say where to look. If a formula
finds an order far from extreme, no order is tried.

Most rewards of an arm are often equal (all but a few are 0). Only the others are dealt to new
places, so a million rewards with few successes are cheap.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from standout.analysis.checks.ranks import Arms
from standout.core.compile import kernel
from standout.core.typing import Flags, Floats, Ints

WORTH_TRYING = 0.02
"""From this p-value of a formula on, no order is tried: it is far from a warning."""
DRAWS, ENOUGH = 6000, 6
"""The largest number of orders tried, and the number of extreme ones that ends the search.

A p-value below 0.001 needs fewer than `ENOUGH` among all `DRAWS`.
"""
FEWEST_DRAWS = 1000
"""The smallest number of orders tried; if none is as extreme, p is below 0.001."""
EFFORT = 120_000_000
"""About the number of orders times the values that change in each: some seconds of work."""
MOST_DEALT = 20_000
"""Rewards dealt to new places per order. Arms beyond, those without rare values, are so
large or so many that their sums are drawn from the normal distribution instead."""
_SEED = 20_200_713
_NEAR = 1 + 1e-9

Statistic = Callable[[Ints], float]
"""The p-value of a formula for the values at these places."""


@kernel()
def deal(
    deck: Ints, first: Ints, number: Ints, count: Ints, slots: Ints, rng: np.random.Generator
) -> None:
    """Draw `count` different places of each arm, all choices and orders equally likely.

    `deck` holds each arm's places, in the order that the last call left.
    """
    at = 0
    for i in range(len(first)):
        for j in range(count[i]):
            k = j + int(rng.random() * (number[i] - j))
            here, there = first[i] + j, first[i] + k
            deck[here], deck[there] = deck[there], deck[here]
            slots[at] = deck[here]
            at += 1


class Reorderings:
    """Random orders of the scores within each arm, the same for the same rewards.

    `usual` is the most frequent score of an arm. `value[j]` is the deviation of the j-th dealt
    reward from the `usual` score of its arm `arm[j]`; `next()` returns the places of all of them.
    `drawn` marks the arms whose sums are drawn from normal distributions with `rng` instead.
    """

    def __init__(self, arms: Arms) -> None:
        self.rng = np.random.default_rng(_SEED)
        self.usual = _commonest(arms)
        unusual = arms.score != self.usual[arms.arm]
        count = np.bincount(arms.arm[unusual], minlength=arms.n_arms)
        self.drawn = _beyond(arms, count)
        chosen = np.flatnonzero(unusual & ~self.drawn[arms.arm])
        self.arm, self.value = arms.arm[chosen], (arms.score - self.usual[arms.arm])[chosen]
        self._count = np.where(self.drawn, 0, count)
        self._number = arms.number.astype(np.int64)
        self._first = np.cumsum(self._number) - self._number
        self._deck = np.arange(len(arms.arm))
        self._slots = np.empty(len(chosen), dtype=np.int64)

    def affordable(self, cells: int) -> int:
        """How many orders to try; it depends only on quantities that no order changes."""
        return min(DRAWS, max(FEWEST_DRAWS, EFFORT // max(1, len(self.value) + cells)))

    def next(self) -> Ints:
        """Deal again: the places of the values among the sorted rewards."""
        deal(self._deck, self._first, self._number, self._count, self._slots, self.rng)
        return self._slots


def reordered_p(
    arms: Arms, p: float, statistic: Callable[[Reorderings], Statistic], cells: int = 0
) -> float:
    """The probability of an order that looks as extreme as a formula's `p`.

    `statistic` makes, for some reorderings, the function that returns the formula's p-value with
    the values at given places. It needs `cells` values of work besides those that are dealt; with
    many of them, fewer orders are tried. `p` itself is returned if it is far from a warning. Valid
    for any number of orders tried (Besag and Clifford 1991): below u with a probability of at most
    u, for every u < WORTH_TRYING.
    """
    if p >= WORTH_TRYING:
        return p
    orders = Reorderings(arms)
    p_of = statistic(orders)
    found, draws = 0, orders.affordable(cells)
    for tried in range(1, draws + 1):
        if p_of(orders.next()) <= p * _NEAR:
            found += 1
            if found == ENOUGH:
                return ENOUGH / tried
    return (found + 1) / (draws + 1)


def _commonest(arms: Arms) -> Floats:
    """The most frequent score of each arm."""
    order = np.lexsort((arms.score, arms.arm))
    arm, score = arms.arm[order], arms.score[order]
    starts = np.flatnonzero(np.append(True, (np.diff(arm) != 0) | (np.diff(score) != 0)))
    sizes = np.diff(np.append(starts, len(order)))
    largest = np.lexsort((sizes, arm[starts]))
    usual = np.zeros(arms.n_arms)
    usual[arm[starts][largest]] = score[starts][largest]  # The last of each arm is kept.
    return usual


def _beyond(arms: Arms, count: Ints) -> Flags:
    """The arms that do not fit; those with the smallest largest score are left out first."""
    largest = np.zeros(arms.n_arms)
    np.maximum.at(largest, arms.arm, np.abs(arms.score))
    order = np.argsort(-largest, kind="stable")
    beyond = np.zeros(arms.n_arms, dtype=np.bool_)
    beyond[order] = np.cumsum(count[order]) > MOST_DEALT
    return beyond
