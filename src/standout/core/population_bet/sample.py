"""Rewards of arms, split at random into a pilot, from which bets are planned, and the rest.

Only sums are stored. The distribution of a random part of the rewards, given the sums, is known:

- the ones of a part are drawn without replacement (hypergeometric);
- the mean of a part of normal rewards is normal around the mean of all;
- if the scale is unknown, the squared deviations are divided like squares of independent normals.

So pilot and rest are as independent as if the first rewards had been the pilot.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from standout.core.population_bet.law import Law, NormalMean, Ones
from standout.core.typing import Floats, Ints

PILOT = 0.2
"""Share of each arm's rewards that makes the pilot."""
ALIKE = 1.05
"""Arms whose numbers of rewards differ by at most this factor are cut to the same number."""


@dataclass(frozen=True, eq=False)
class Sums:
    """The statistics of each arm: number of rewards, mean, and sum of squares around the mean.

    `sigma` is the scale of normal rewards, NaN for 0/1 rewards, infinite if it is unknown. Only
    unknown scales need `squares`.
    """

    counts: Ints
    means: Floats
    squares: Floats
    sigma: float


@dataclass(frozen=True, eq=False)
class Group:
    """Arms with the same law, and their readings of the rest.

    `laws` has several entries if the scale is only known to lie between the first and the last.
    """

    arms: Ints
    readings: Floats
    laws: tuple[Law, ...]
    slack: float = 0.0
    """How far log E[r] at a scale between two of the laws can exceed its value at both"""

    @property
    def law(self) -> Law:
        """The most likely law."""
        return self.laws[len(self.laws) // 2]


@dataclass(frozen=True, eq=False)
class Pilot:
    """Each arm's pilot: number of rewards, mean, and standard error (NaN for 0/1 rewards)."""

    counts: Floats
    means: Floats
    spreads: Floats

    def logs(self, means: Floats) -> Floats:
        """Log likelihood of each arm's pilot (rows) at these means, up to a constant per arm."""
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
    """The pilot, the groups of the rest, and the number of arms without rewards in the rest."""

    pilot: Pilot
    rest: list[Group]
    unseen: int


def split(sums: Sums, rng: np.random.Generator, scale_risk: float) -> Split:
    """Split each arm's rewards into pilot and rest.

    `scale_risk` is the accepted probability that any unknown scale lies outside its arm's laws.
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
    """The law of the arm with the median standard error."""
    order = sorted(groups, key=lambda group: group.law.error())
    reached = np.cumsum([len(group.arms) for group in order])
    return order[int(np.searchsorted(reached, reached[-1] / 2))].law


def _trimmed(counts: Ints) -> Ints:
    """The numbers of rewards, lowered slightly so that many arms share a number."""
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
"""Largest number of scales examined for an arm of unknown scale."""


def _unknown_scale(sums: Sums, rest: Ints, rng: np.random.Generator, risk: float) -> Split:
    """One group per arm, with the scales that its squared deviations do not rule out.

    The squares within pilot and rest are independent of both means, so conditioning on them keeps
    the bets valid.
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
