"""Readings of arms, split at random into a pilot, from which bets are made, and the rest.

Only sums are used, of which it is known how a random part of the rewards behind them is
distributed: ones are drawn without replacement; of normal rewards the mean of a part is normal
around the mean of all, and where their scale is not known, the squared deviations from the mean are
shared out like squares of independent normal numbers. So pilot and rest are as
independent as if the first rewards had been the pilot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.core.population_bet.law import Law, NormalMean, Ones
from standout.core.typing import Floats, Ints

PILOT = 0.2
"""Part of each arm's rewards that the bets are planned from."""
ALIKE = 1.05
"""Arms whose numbers of rewards differ by no more than this factor are cut to the same number."""


@dataclass(frozen=True, eq=False)
class Sums:
    """What is kept of each arm: rewards, their mean, and the sum of squares around it.

    `sigma` is the scale of normal rewards, NaN for rewards 0 and 1, infinite where it is not
    known; only then `squares` are needed.
    """

    counts: Ints
    means: Floats
    squares: Floats
    sigma: float


@dataclass(frozen=True, eq=False)
class Group:
    """Arms whose readings have the same law, and the readings that count.

    `laws` are several where the scale is known only to lie between that of the first and the last.
    """

    arms: Ints
    readings: Floats
    laws: tuple[Law, ...]
    slack: float = 0.0
    """By how much log E[r] can exceed its largest value of these laws, between two of them"""

    @property
    def law(self) -> Law:
        """The likeliest."""
        return self.laws[len(self.laws) // 2]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Each arm's pilot: how many rewards, their mean, its standard error (NaN of ones)."""

    counts: Floats
    means: Floats
    spreads: Floats

    def logs(self, means: Floats) -> Floats:
        """Log likelihood of each arm's pilot (rows) at these means, up to a constant of the arm."""
        seen = self.counts > 0
        count, mean = self.counts[seen, None], self.means[seen, None]
        if np.isnan(self.spreads).any():
            inside = np.clip(means, 1e-12, 1.0 - 1e-12)
            found = count * (mean * np.log(inside) + (1.0 - mean) * np.log1p(-inside))
        else:
            found = -0.5 * ((means - mean) / self.spreads[seen, None]) ** 2
        found -= found.max(axis=1, keepdims=True)
        return found


@dataclass(frozen=True, eq=False)
class Split:
    """The pilot, readings that count, and how many arms have none that count."""

    pilot: Pilot
    rest: list[Group]
    unseen: int


def split(sums: Sums, rng: np.random.Generator, scale_risk: float) -> Split:
    """Cut every arm's rewards in two.

    `scale_risk` is the probability with which some arm's scale may lie outside its laws', where
    scales are not known.
    """
    counts = sums.counts
    if math.isinf(sums.sigma):
        usable = (counts >= 4) & (sums.squares > 0)
        rest = np.where(usable, counts - np.maximum(1, np.round(PILOT * counts)), 0)
        return _unknown_scale(sums, rest.astype(np.int64), rng, scale_risk)
    most = counts - np.minimum(np.maximum(1, np.round(PILOT * counts)), counts // 2)
    rest = _trimmed(most.astype(np.int64))
    if math.isnan(sums.sigma):
        ones = np.round(sums.means * counts).astype(np.int64)
        kept = rng.hypergeometric(ones, counts - ones, rest).astype(np.float64)
        both = kept, ones - kept
    else:
        spread = sums.sigma * np.sqrt(
            np.maximum(1.0 / np.maximum(rest, 1) - 1.0 / np.maximum(counts, 1), 0.0)
        )
        means = sums.means + spread * rng.standard_normal(len(counts))
        first = counts - rest
        other = (counts * sums.means - rest * means) / np.maximum(first, 1)
        both = means, other
    first = counts - rest
    if math.isnan(sums.sigma):
        shares, spreads = both[1] / np.maximum(first, 1), np.full(len(counts), math.nan)
    else:
        shares, spreads = both[1], sums.sigma / np.sqrt(np.maximum(first, 1))
    pilot = Pilot(first.astype(np.float64), shares, spreads)
    return Split(pilot, _by_count(rest, both[0], sums.sigma), int((rest == 0).sum()))


def typical_law(groups: list[Group]) -> Law:
    """That of the arm in the middle, by standard errors."""
    order = sorted(groups, key=lambda group: group.law.error())
    reached = np.cumsum([len(group.arms) for group in order])
    return order[int(np.searchsorted(reached, reached[-1] / 2))].law


def _trimmed(counts: Ints) -> Ints:
    """Numbers of rewards, each lowered a little to one that several arms share."""
    found = counts.copy()
    order = np.argsort(counts, kind="stable")
    first = 0
    for i in range(len(order)):
        if counts[order[i]] > ALIKE * counts[order[first]]:
            first = i
        found[order[i]] = counts[order[first]]
    return found


def _by_count(counts: Ints, readings: Floats, sigma: float) -> list[Group]:
    found = []
    for count in np.unique(counts[counts > 0]).tolist():
        arms = np.flatnonzero(counts == count)
        law: Law = Ones(count) if math.isnan(sigma) else NormalMean(sigma / math.sqrt(count))
        found.append(Group(arms, readings[arms], (law,)))
    return found


MOST_LAWS = 9
"""Scales that an unknown one is looked at, at most."""


def _unknown_scale(sums: Sums, rest: Ints, rng: np.random.Generator, risk: float) -> Split:
    """Each arm its own group, with scales that its squared deviations do not rule out.

    The squares within pilot and rest are independent of both means, so that what is given them
    may be used freely.
    """
    from scipy.special import gammainccinv, gammaincinv

    kept = []
    pilot = Pilot(np.zeros(len(rest)), np.zeros(len(rest)), np.ones(len(rest)))
    for arm in np.flatnonzero(rest > 0).tolist():
        count, size = int(sums.counts[arm]), int(rest[arm])
        first = count - size
        between = rng.standard_normal()
        within = rng.chisquare(count - 2)
        part = between**2 / (between**2 + within)
        gap = math.copysign(math.sqrt(part * sums.squares[arm] * (1 / first + 1 / size)), between)
        squares = (1.0 - part) * float(sums.squares[arm])
        free = 0.5 * (count - 2)
        share = risk / (2 * len(rest))
        low = math.sqrt(squares / (2.0 * float(gammainccinv(free, share))))
        high = math.sqrt(squares / (2.0 * float(gammaincinv(free, share))))
        steps = min(MOST_LAWS, 2 * math.ceil(math.log(high / low) / 0.2) + 1)
        scales = np.geomspace(low, high, steps)
        mean = float(sums.means[arm])
        where = np.array([arm])
        pilot.counts[arm], pilot.means[arm] = first, mean - gap * size / count
        pilot.spreads[arm] = math.sqrt(squares / (count - 2) / first)
        laws = tuple(NormalMean(float(scale) / math.sqrt(size)) for scale in scales)
        slack = (scales[1] / scales[0]) ** 2 - 1.0
        kept.append(Group(where, np.array([mean + gap * first / count]), laws, slack**2 / 16.0))
    return Split(pilot, kept, int((rest == 0).sum()))
