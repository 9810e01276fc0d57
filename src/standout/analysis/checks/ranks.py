"""What all tests with known false-alarm rates share: ranks within arms, and their bounds.

The guarantee needs an arm's rewards to be independent draws with one mean. The choice of arms and
their number of pulls may depend on the rewards. Then an arm stops being pulled at a moment that
its own last rewards chose, so its first and last rewards differ a little even in a faultless
study. Tests that compare early with late rewards leave `LEEWAY` for this; docs/report.md says how
much it is.

All tests here use ranks within each arm, so no shape of the rewards is assumed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from standout.analysis.checks.distributions import chi_square_tail, normal_tail
from standout.core.typing import Flags, Floats, Ints

ALPHA = 0.001
"""Each test warns about a faultless study with at most this probability."""
LEEWAY = 0.2
"""Standard errors per arm by which adaptive sampling alone may separate early and late."""
MORE_SPREAD = 1.1
"""A variance larger by this factor does too little harm for a warning."""
ALIKE = 0.02
"""A correlation up to this does too little harm for a warning, even if it is certain."""
FEWEST = 5
"""The smallest number of rewards of a tested arm."""
FEWEST_IN_ALL = 50


@dataclass(frozen=True, eq=False)
class Arms:
    """Rewards sorted by arm, in order within each; only arms with enough rewards.

    `score` is the rank of a reward within its arm, scaled to mean 0 and variance 1 (with n - 1).
    `place` is the reward's position in the whole log.
    """

    arm: Ints
    place: Ints
    reward: Floats
    score: Floats
    number: Ints
    """The number of rewards of each arm; arms are numbered again from 0."""
    kept: Ints
    """The arm's position in the study."""

    @property
    def n_arms(self) -> int:
        """The number of tested arms."""
        return len(self.number)

    @property
    def is_enough(self) -> bool:
        """Whether there are enough rewards for a test."""
        return len(self.arm) >= FEWEST_IN_ALL

    def sums(self, values: Floats) -> Floats:
        """The sum of `values` (one per sorted reward) over the rewards of each arm."""
        return sums_by(self.arm, values, self.n_arms)

    def centred(self, values: Floats) -> Floats:
        """Values without their arm's mean."""
        return values - (self.sums(values) / self.number)[self.arm]

    def own_order(self) -> Floats:
        """0, 1, 2, ... within each arm."""
        first = np.cumsum(self.number) - self.number
        return (np.arange(len(self.arm)) - first[self.arm]).astype(np.float64)


def sort_rewards(arm: Ints, reward: Floats, n_arms: int) -> Arms:
    """Prepare the rewards of a log, given in the order of recording."""
    number = np.bincount(arm, minlength=n_arms)
    top, bottom = np.full(n_arms, -np.inf), np.full(n_arms, np.inf)
    np.maximum.at(top, arm, reward)
    np.minimum.at(bottom, arm, reward)
    # Equal rewards of an arm say nothing about how they vary.
    kept = np.flatnonzero((number >= FEWEST) & (top > bottom))
    new_number = np.full(n_arms, -1, dtype=np.int64)
    new_number[kept] = np.arange(len(kept))
    place = np.flatnonzero(new_number[arm] >= 0)
    place = place[np.argsort(new_number[arm[place]], kind="stable")]
    renamed, sorted_reward, sizes = new_number[arm[place]], reward[place], number[kept]
    arms = Arms(renamed, place, sorted_reward, np.zeros(len(place)), sizes, kept)
    ranks = arms.centred(middle_ranks(renamed, sorted_reward))
    spread = np.sqrt(arms.sums(ranks**2) / np.maximum(sizes - 1, 1))
    return Arms(renamed, place, sorted_reward, ranks / spread[renamed], sizes, kept)


def sums_by(group: Ints, values: Floats, n_groups: int) -> Floats:
    """Sums of the values of each group."""
    found: Floats = np.bincount(group, values, n_groups).astype(np.float64, copy=False)
    return found


def middle_ranks(arm: Ints, value: Floats) -> Floats:
    """Ranks arm by arm; equal values of an arm get the mean of their ranks."""
    order = np.lexsort((value, arm))
    first = np.ones(len(order), dtype=np.bool_)
    first[1:] = (np.diff(value[order]) != 0) | (np.diff(arm[order]) != 0)
    starts = np.flatnonzero(first)
    sizes = np.diff(np.append(starts, len(order)))
    ranks = np.empty(len(order))
    ranks[order] = np.repeat(starts + (sizes - 1) / 2, sizes)
    return ranks


def two_sided(z: Floats | float) -> Floats:
    """Probability of a standard normal value at least `z` from 0; 1 for negative `z`."""
    found: Floats = np.minimum(1.0, 2 * normal_tail(np.maximum(0.0, z)))
    return found


def more_than_mean(total: float, mean: float, variance: float) -> float:
    """Chance that a sum of squares exceeds `total`: the chi-square of that mean and variance."""
    if mean <= 0 or variance <= 0:
        return 1.0
    freedom = 2 * mean**2 / variance
    return chi_square_tail(total * freedom / mean, freedom)


def overtaken(arm: Ints, ticket: Ints) -> int:
    """Rewards counted before one of the same arm that was handed out earlier."""
    asked = ticket > 0
    order = np.argsort(arm[asked], kind="stable")
    arms, tickets = arm[asked][order], ticket[asked][order]
    late: Flags = (np.diff(arms) == 0) & (np.diff(tickets) < 0)
    return int(late.sum())
